import { type EventModes, FluentClient, FluentSocketEvent } from "@fluent-org/logger";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { logPipeline } from "../../src/kinds/observability/log-pipeline.ts";
import { receivedBy } from "../simulator/forward-sender.ts";
import { serviceFor, stream } from "../simulator/pipelines.ts";
import { platformForFile } from "../simulator/platform.ts";

const platform = await platformForFile();
const logging = serviceFor(platform, "logging");

let pipeline: Awaited<ReturnType<typeof logging.made>>;
/** The content of the Secret of a LogPipeline. */
let secret: Record<string, unknown>;
let address: URL;
beforeEach(async () => {
  const logs = [stream({ tag: "app", source: "generic" })];
  pipeline = await logging.made({ logs });
  const { body } = await logging.call("GET", pipeline.path);
  secret = {
    ...logPipeline.resource
      ?.desire({ logs })
      .publication({ name: "web" })
      ?.data(body, pipeline.key, () => ""),
  };
  address = new URL(`tls://${secret.tcpAddress}`);
});

/** The public client with TLS, a shared key and acknowledgements. */
function clientWith({ sharedKey = String(secret.key), eventMode = "Message" as EventModes, trust = true }) {
  const client = new FluentClient("app", {
    eventMode,
    milliseconds: true,
    // The default of half a second is too short for a busy machine.
    ack: { ackTimeout: 30_000 },
    socket: {
      host: address.hostname,
      port: Number(address.port),
      tls: trust ? { ca: platform.ready.certificates.ca } : {},
      disableReconnect: true,
    },
    security: { clientHostname: "test-client", sharedKey },
  });
  onTestFinished(() => client.shutdown().catch(() => {}));
  return client;
}

const records = [
  { message: "started", level: "info", attempt: 1 },
  { message: "ümläute 🚢", nested: { list: [1, 2.5, true, null] } },
  { message: "stopped", empty: {} },
];

describe("the public forward client", () => {
  it.each(["Message", "Forward", "PackedForward", "CompressedPackedForward"] as const)(
    "ships lines in the mode %s, and they are read back equal",
    async (eventMode) => {
      const client = clientWith({ eventMode });
      await client.connect();
      const at = new Date("2026-01-31T12:00:00.250Z");
      await Promise.all([...records.map((record) => client.emit(record, at)), client.flush()]);
      const { items } = await receivedBy(platform, pipeline.id);
      expect(items).toEqual(records.map((record) => ({ tag: "app", at: at.toISOString(), record })));
    },
  );

  it("is refused with a wrong key", async () => {
    const client = clientWith({ sharedKey: "wrong" });
    const refused = new Promise<Error>((resolve) => client.socketOn(FluentSocketEvent.ERROR, resolve));
    await client.connect();
    expect((await refused).message).toContain("shared_key mismatch");
    expect(await receivedBy(platform, pipeline.id)).toMatchObject({ lines: 0 });
  });

  it("does not talk to a listener whose certificate it cannot trust", async () => {
    const client = clientWith({ trust: false });
    client.socketOn(FluentSocketEvent.ERROR, () => {});
    await expect(client.connect()).rejects.toThrow(/certificate/);
  });
});
