import { describe, expect, it } from "vitest";
import { accessToken } from "../../../src/kinds/identity/access-token.ts";
import { createTransport } from "../../../src/platform/calls/transport.ts";
import { products } from "../../../src/platform/products/products.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { platformForFile } from "../../simulator/platform.ts";
import { inputs, mapped, nothing } from "../mapped.ts";

const mapping = mapped(accessToken);
const named = inputs({ parents: {} });
const { auth } = products;

describe("an access token on the platform", async () => {
  const platform = await platformForFile();
  const transport = createTransport({ clock: systemClock });
  const connection = transport.connect("shop/main", { token: platform.ready.token });
  const { api } = platform.ready.endpoints;
  const source = auth.collection(connection, api, mapping.place.collection({}), mapping.place.depth);
  const url = auth.url(api, mapping.place.collection({}));
  const make = async (spec: object) => {
    const call = auth.creation?.call(url, mapping.desire(spec).body(named));
    if (!call) throw new Error("tokens are made in their own way");
    return auth.creation?.made((await connection.send({ ...call, product: "auth" })).body);
  };
  const idOf = (made: unknown) => String(Reflect.get(Object(made), "id"));
  const seen = async (id: string) =>
    (await source.list(AbortSignal.timeout(5000), "people")).find((one) => one.id === id);

  it.each(["1h", "4h", "1d", "7d", "30d", "60d", "90d", "180d", "365d"])("lives for %s", async (lifetime) => {
    const made = await make({ lifetime });
    const item = await seen(idOf(made));
    expect(mapping.desire({ lifetime }).compare(item?.raw, named)).toEqual({ drift: [] });
    expect(mapping.comparison.facts(item?.raw, nothing)).toMatchObject({ lifetime });
    expect(mapping.identity.echo?.(item?.raw)).toEqual(
      mapping.identity.echo?.(mapping.desire({ lifetime }).body(named)),
    );
  });

  it("lives for a week unless spec says otherwise, which is then no drift", async () => {
    const item = await seen(idOf(await make({})));
    expect(mapping.comparison.facts(item?.raw, nothing)).toMatchObject({ lifetime: "7d" });
    expect(mapping.desire({}).compare(item?.raw, named)).toEqual({ drift: [] });
    const drift = [{ field: "lifetime", wanted: "30d", found: "7d" }];
    expect(mapping.desire({ lifetime: "30d" }).compare(item?.raw, named)).toEqual({ drift });
  });

  it("is known by the kid of its value, which is in the answer to its creation and nowhere else", async () => {
    const made = await make({ lifetime: "1h" });
    const key = mapping.secret?.key;
    const value = key?.created(made) ?? "";
    const answer = await platform.core("GET", "/contracts", undefined, { authorization: `Bearer ${value}` });
    expect(answer.status).toBe(200);
    expect(mapping.desire({}).publication(named)).toMatchObject({ name: "web-accesstoken" });
    expect(
      mapping
        .desire({})
        .publication(named)
        ?.data(made, value, () => ""),
    ).toEqual({ token: value });
    const item = await seen(idOf(made));
    expect(key?.created(item?.raw)).toBeUndefined();
    expect(JSON.stringify(item)).not.toContain(value.split(".")[2]);
    const life = key && "life" in key ? key.life(made) : undefined;
    expect(Date.parse(life?.expiresAt ?? "") - Date.parse(life?.issuedAt ?? "")).toBe(3_600_000);
    await transport.close();
  });
});

it("a text of another form than the platform's tokens is no token", () => {
  for (const answer of [undefined, {}, { token: "" }, { token: "a.b.c" }, { token: "only-a-word" }]) {
    expect(auth.creation?.made(answer)).toBeUndefined();
  }
});
