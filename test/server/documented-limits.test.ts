import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { GATEWAY_CONNECTIONS } from "../../src/gateway/server.ts";
import { MOST_CONNECTIONS, openServer, times } from "../../src/server/open-server.ts";
import { root } from "../processes.ts";

const page = readFileSync(join(root, "docs/security.md"), "utf8");
const section = page
  .slice(page.indexOf("## Connections"), page.indexOf("## The inference gateway"))
  .replaceAll(/\s+/g, " ");
const seconds = (ms: number) => `${ms / 1000}`;
const number = (count: number) => count.toLocaleString("en");

it("every server has the times that docs/security.md says", async () => {
  const { server } = await openServer({ host: "127.0.0.1", port: 0 }, (_, response) => void response.end(), undefined);
  onTestFinished(() => void server.close());
  expect([server.headersTimeout, server.requestTimeout]).toEqual([times.headersTimeout, times.requestTimeout]);
  expect(section).toContain(
    `A TLS handshake has ${seconds(times.handshakeTimeout)} seconds, the headers of a request have ${seconds(server.headersTimeout)}, a whole request has ${seconds(server.requestTimeout)}.`,
  );
});

it.each([
  { most: MOST_CONNECTIONS, says: ["% connections, % of one peer", "% without a request, % of one peer"] },
  {
    most: GATEWAY_CONNECTIONS,
    says: ["% connections, at most % of one peer", "At most % have sent no request yet, % of one peer"],
  },
])("the shares of $most connections are in docs/security.md", ({ most, says: [all = "", pending = ""] }) => {
  const stated = (text: string, count: number) => text.replace("%", number(count)).replace("%", number(count / 2));
  expect(section).toContain(stated(all, most));
  expect(section).toContain(stated(pending, most / 2));
});
