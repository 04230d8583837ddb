import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { z } from "zod";
import { newAuthority, serverCertificate, validFor } from "../../src/simulator/certificates.ts";
import { platformForFile } from "../simulator/platform.ts";

const platform = await platformForFile({ demoData: true });
const folder = import.meta.dirname;
const shape = z.object({
  called: z.array(z.string()),
  every: z.array(z.string()),
  imported: z.array(z.tuple([z.string(), z.string()])),
  newSecret: z.boolean(),
});

it("the platform's public clients of DNS, certificates and access keys do all they can", {
  timeout: 300_000,
}, async () => {
  const python = execFileSync(join(folder, "setup-platform-python"), { encoding: "utf8" }).trim();
  const authority = await newAuthority("Test CA", validFor(Date.now(), 365));
  const own = await serverCertificate(authority, ["own.example"], validFor(Date.now(), 30));
  const { endpoints, token } = platform.ready;
  const canary = "canary-key-secret";
  const given = { endpoints, token, canary, ...own, certificateChain: authority.certificate };
  const run = promisify(execFile)(python, [join(folder, "platform_products.py")]);
  run.child.stdin?.end(JSON.stringify(given));
  const { called, every, imported, newSecret } = shape.parse(JSON.parse((await run).stdout));
  expect(every.length).toBeGreaterThan(45);
  expect(called).toEqual(every);
  expect(imported).toEqual([
    ["www", "192.0.2.2"],
    ["mail", "mx.new.example"],
  ]);
  expect(newSecret).toBe(true);
  expect(JSON.stringify(await platform.steer("GET", "state"))).not.toContain(canary);
});
