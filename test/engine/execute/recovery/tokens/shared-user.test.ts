import { expect, test } from "vitest";
import { claimOf } from "../../../../../src/engine/state/object.ts";
import { readyOf } from "../../../../../src/engine/status/status.ts";
import { fakeTokens } from "../../../support/fake-tokens.ts";
import { clusterAccountOf, handleOf, objectOf } from "../../../support/fixtures.ts";
import { BEGIN, stage } from "../../../support/stage.ts";

const ofNamespace = (namespace: string, count: number) =>
  Array.from({ length: count }, (_, nth) =>
    objectOf("AccessToken", `t${nth}`, {
      spec: { lifetime: "1h", accountRef: { kind: "ClusterAccount", name: "team" } },
      metadata: { name: `t${nth}`, namespace, uid: `uid-${namespace}-${nth}` },
    }),
  );

test("one namespace gets 20 tokens of a user that namespaces share, and the next namespace gets its own", async () => {
  const platform = fakeTokens(() => BEGIN);
  const [greedy, neighbour] = [ofNamespace("greedy", 25), ofNamespace("neighbour", 2)];
  const team = clusterAccountOf("team", { kinds: ["AccessToken"], namespaces: { selector: {} } });
  const { deps, accounts, passes, objects, sync, clock } = stage([team, ...greedy, ...neighbour]);
  accounts.put(handleOf("ClusterAccount/team", { connection: platform.connection, adoption: "None" }));
  deps.nonce = () => `unique-${platform.values.length}`;
  const found = ({ metadata }: { metadata: { namespace?: string | undefined; name: string } }) => {
    const object = objects.find(`AccessToken/${metadata.namespace}/${metadata.name}`)?.object;
    if (!object) throw new Error(`there is no ${metadata.name}`);
    return object;
  };
  for (const { metadata } of [...greedy, ...neighbour, ...greedy, ...neighbour]) {
    sync();
    await passes(`AccessToken/${metadata.namespace}/${metadata.name}`);
    await clock.advance(500);
  }
  expect(greedy.filter((each) => claimOf(found(each)) !== undefined)).toHaveLength(20);
  expect(neighbour.filter((each) => claimOf(found(each)) !== undefined)).toHaveLength(2);
  const [refused] = greedy.slice(20);
  expect(readyOf(found(refused ?? greedy[0] ?? objectOf("AccessToken", "t")))).toMatchObject({
    reason: "QuotaExceeded",
    message: expect.stringMatching(
      /^this namespace has 20 tokens of ClusterAccount team, as many as one namespace may have: use an Account/,
    ),
  });
});
