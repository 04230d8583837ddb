import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "node:tls";
import { ListBucketsCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { provideBinaries } from "../../src/cli/control-plane/binaries.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { clientFor } from "../clients/s3/client.ts";
import { mooring, root, run, start } from "../processes.ts";
import { type Command, isRefusal, missing, onlyReads } from "./blocks.ts";
import { pages } from "./pages.ts";
import { openShell } from "./shell.ts";

const demoReady = z.object({
  kubeconfig: z.string(),
  endpoints: z.looseObject({ api: z.string(), objectStorage: z.string() }),
  token: z.string(),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
  certificates: z.object({ ca: z.string() }),
});

const folder = temporaryFolder("docs");
let ready: z.output<typeof demoReady>;
const env: NodeJS.ProcessEnv = { ...process.env };
/** The last output of `mooring demo env` before all objects were Ready. */
let early = "";
beforeAll(async () => {
  const assets = await provideBinaries(["kubectl"], {});
  const demo = start(mooring, ["demo", "--json", "--speed", "20", "--with", "observability,streaming"]);
  let isReady = false;
  const printed = demo.line().finally(() => {
    isReady = true;
  });
  for (let asked = ""; !isReady; asked = (await run(mooring, ["demo", "env"])).stdout) {
    early = asked;
    await Promise.race([printed, delay(3000)]);
  }
  ready = demoReady.parse(JSON.parse(await printed));
  const { kubeconfig, endpoints, token } = ready;
  env.PATH = [join(root, "bin"), assets, env.PATH].join(delimiter);
  Object.assign(env, { KUBECONFIG: kubeconfig, API: endpoints.api, TOKEN: token });
  env.MOORING_ENDPOINTS = JSON.stringify(endpoints);
}, 300_000);
afterAll(() => folder.remove());

async function follow(shell: ReturnType<typeof openShell>, command: Command): Promise<void> {
  const { line, text, shown } = command;
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { code, printed } = await shell.run(text);
    const where = `line ${line}: ${text}\n${printed}`;
    const absent = missing(shown, printed);
    const well = (code === 0) !== isRefusal(command);
    if (well && absent.length === 0) return;
    // Read-only commands are repeated, because Events come a moment later.
    if (!onlyReads(text) || Date.now() > deadline) {
      expect(well, `${where}\nexit code ${code}`).toBe(true);
      expect(absent, where).toEqual([]);
    }
    await delay(500);
  }
}

it("another terminal has its environment before all objects of the demo are Ready", () => {
  expect(early).toContain(`export KUBECONFIG='${ready.kubeconfig}'`);
});

describe("the line of the demo has what guides take from the simulator's", () => {
  it("keys that open the object storage", async () => {
    const client = clientFor(ready.endpoints.objectStorage, ready.s3);
    const { Buckets } = await client.send(new ListBucketsCommand()).finally(() => client.destroy());
    expect(Buckets?.map(({ Name }) => Name)).toContain("flow-logs");
  });

  it("the authority that signs the certificates of pipelines", async () => {
    using shell = openShell(folder.path, env);
    const { printed } = await shell.run(
      "kubectl -n demo get secret web-logs-logpipeline -o jsonpath='{.data.tcpAddress}' | base64 -d",
    );
    const [host = "", port] = printed.trim().split(":");
    const { authorized, authorizationError } = await signedBy(ready.certificates.ca, host, Number(port));
    expect({ authorized, authorizationError }).toEqual({ authorized: true, authorizationError: null });
  });
});

/** Connects and disconnects, trusting only this authority. */
async function signedBy(ca: string, host: string, port: number) {
  const socket = connect({ host, port, ca, rejectUnauthorized: false, checkServerIdentity: () => undefined });
  try {
    await once(socket, "secureConnect");
    return { authorized: socket.authorized, authorizationError: socket.authorizationError };
  } finally {
    socket.destroy();
  }
}

describe("every command of", () => {
  it.each(pages.filter(({ page }) => page.commands.length > 0))(
    "$path works and prints what is shown",
    { timeout: 300_000 },
    async ({ path, page }) => {
      const cwd = join(folder.path, path.replaceAll("/", "-"));
      mkdirSync(cwd);
      for (const name of ["bin", "crds", "deploy"]) symlinkSync(join(root, name), join(cwd, name));
      for (const { name, text } of page.files) writeFileSync(join(cwd, name), text);
      writeFileSync(join(cwd, "token"), ready.token);
      using shell = openShell(cwd, env);
      for (const command of page.commands) await follow(shell, command);
    },
  );
});
