import { describe, expect, it } from "vitest";
import { z } from "zod";
import { serviceFor } from "../pipelines.ts";
import { platformForFile } from "../platform.ts";
import { all, everything, summaryOf } from "./log-pages.ts";

/** A contract of its own on the platform of this file. */
const shared = await platformForFile();
const platformOf = () => shared.contract();

describe("the activity log", () => {
  it("has every read, of one thing or of a list, answered or refused, with what was read", async () => {
    const platform = await platformOf();
    const datacenter = await platform.datacenter();
    const id = datacenter.split("/").at(-1);
    await platform.core("GET", "/datacenters");
    await platform.core("GET", "/datacenters/00000000-0000-4000-8000-000000000000");
    await serviceFor(platform, "logging", "de-fra").call("GET", "/pipelines");
    const reads = (await everything(platform)).filter(({ event }) => event.type === "Read");
    const shown = reads.map(({ action, resource: about, event, user }) => [action, about, event.status, user]);
    const { username } = platform.ready;
    expect(shown).toEqual(
      expect.arrayContaining([
        ["vr.datacenter.read", "datacenter", "DONE", username],
        ["vr.datacenter.read", "datacenter/00000000-0000-4000-8000-000000000000", "FAILED", username],
        ["logging.pipeline.read", "pipeline", "DONE", username],
      ]),
    );
    await platform.call("GET", `/cloudapi/v6${datacenter}`);
    expect((await everything(platform)).at(-1)).toMatchObject({
      action: "vr.datacenter.read",
      resource: `datacenter/${id}`,
      event: { param: { action: "GET", uri: `/cloudapi/v6${datacenter}` } },
    });
  });

  it("does not log who reads the logs", async () => {
    const platform = await platformOf();
    await platform.core("DELETE", "/ipblocks/1");
    await platform.core("GET", "/requests");
    await platform.call("GET", "/activitylog/v1/contracts");
    expect(await everything(platform)).toHaveLength(1);
  });

  it("has logins by password, and those that failed", async () => {
    const platform = await platformOf();
    const { username, password, token } = platform.ready;
    const as = (authorization: string) => platform.call("GET", "/cloudapi/v6/locations", undefined, { authorization });
    const basic = (secret: string) => `Basic ${Buffer.from(`${username}:${secret}`).toString("base64")}`;
    expect((await as(basic(password))).status).toBe(200);
    expect((await as(basic("wrong-canary"))).status).toBe(401);
    const [head, body, signature = ""] = token.split(".");
    expect((await as(`Bearer ${head}.${body}.${signature.split("").toReversed().join("")}`)).status).toBe(401);
    expect((await as("Bearer nonsense")).status).toBe(401);
    const sources = await all(platform);
    expect(summaryOf(sources)).toEqual([
      "Login DONE auth.user.login",
      "Login FAILED auth.user.login",
      "Login FAILED auth.user.login",
    ]);
    for (const source of sources) {
      expect(source).toMatchObject({ user: username, principal: { sourceIP: "127.0.0.1" } });
      expect(source.resource).toMatch(/^user\/./);
    }
    expect(JSON.stringify(sources)).not.toMatch(/wrong-canary/);
  });

  it("names the token that was made", async () => {
    const platform = await platformOf();
    const minted = await platform.call("GET", "/auth/v1/tokens/generate?ttl=3600");
    const [header = ""] = z.object({ token: z.string() }).parse(minted.body).token.split(".");
    const { kid } = z.looseObject({ kid: z.string() }).parse(JSON.parse(Buffer.from(header, "base64url").toString()));
    expect(await all(platform)).toMatchObject([{ action: "auth.token.create", resource: `token/${kid}` }]);
  });

  it("has every question to a model as a read of that model, and never the words", async () => {
    const platform = await platformOf();
    const messages = [{ role: "user", content: "hello" }];
    const { body } = await platform.call("GET", "/inference/v1/models");
    const [model] = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(body).data;
    const ask = (id: string | undefined) =>
      platform.call("POST", "/inference/v1/chat/completions", { model: id, messages });
    expect((await ask(model?.id)).status).toBe(200);
    expect((await ask("none-canary")).status).toBeGreaterThan(399);
    const asked = (await everything(platform)).filter(({ event }) => event.param.action === "POST");
    expect(asked.map(({ action, resource: about, event }) => [action, about, event.status])).toEqual([
      ["inference.model.read", `model/${model?.id}`, "DONE"],
      ["inference.model.read", "model", "FAILED"],
    ]);
    expect(JSON.stringify(asked)).not.toMatch(/hello|canary/);
    expect(await all(platform)).toEqual([]);
  });
});
