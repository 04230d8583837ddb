import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const configSchema = z.object({
  auths: z.record(z.string(), z.object({ auth: z.string().optional() })).default({}),
});

/**
 * User and password of a registry in base64, from the environment or from the file that `docker login` and `helm
 * registry login` write.
 */
export function credentialsFor(host: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { REGISTRY_USERNAME, REGISTRY_PASSWORD, DOCKER_CONFIG = join(env.HOME || homedir(), ".docker") } = env;
  if (REGISTRY_USERNAME !== undefined && REGISTRY_PASSWORD !== undefined) {
    return Buffer.from(`${REGISTRY_USERNAME}:${REGISTRY_PASSWORD}`).toString("base64");
  }
  const path = join(DOCKER_CONFIG, "config.json");
  if (!existsSync(path)) return undefined;
  const { auths } = configSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  return auths[host]?.auth;
}
