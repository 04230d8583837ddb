import {
  KubernetesApi,
  type KubernetesAutoScaling,
  KubernetesNodePoolPropertiesForPostAvailabilityZoneEnum,
  KubernetesNodePoolPropertiesForPostStorageTypeEnum,
  type KubernetesNodePoolPropertiesForPut,
} from "@ionos-cloud/sdk-nodejs";
import { expect, it } from "vitest";
import { newDatacenter } from "./ground.ts";
import { expectRefusal, idOf, known, sdkForFile } from "./sdk.ts";

const sdk = await sdkForFile();
const api = new KubernetesApi(sdk.configuration);
const datacenterId = await newDatacenter(sdk);

const newCluster = (name: string) => api.k8sPost({ kubernetesCluster: { properties: { name } } });

const pool = (name: string, nodeCount: number) => ({
  properties: {
    name,
    datacenterId,
    nodeCount,
    coresCount: 2,
    ramSize: 4096,
    availabilityZone: KubernetesNodePoolPropertiesForPostAvailabilityZoneEnum.Auto,
    storageType: KubernetesNodePoolPropertiesForPostStorageTypeEnum.Ssd,
    storageSize: 20,
  },
});

const nodesOf = async (k8sClusterId: string, nodepoolId: string) =>
  known((await api.k8sNodepoolsNodesGet({ k8sClusterId, nodepoolId, depth: 1 })).data.items);

it("the life of a cluster", () =>
  sdk.live({
    create: newCluster,
    find: (k8sClusterId) => api.k8sFindByClusterId({ k8sClusterId }),
    put: (k8sClusterId, name) => api.k8sPut({ k8sClusterId, kubernetesCluster: { properties: { name } } }),
    remove: (k8sClusterId) => api.k8sDelete({ k8sClusterId }),
  }));

it("a cluster is ACTIVE with the default version and has a kubeconfig", async () => {
  const k8sClusterId = await sdk.made(newCluster("apps"));
  const { metadata, properties } = (await api.k8sFindByClusterId({ k8sClusterId })).data;
  expect(metadata).toMatchObject({ state: "ACTIVE" });
  expect(properties.k8sVersion).toBe((await api.k8sVersionsDefaultGet()).data);
  expect((await api.k8sVersionsGet()).data).toContain(properties.k8sVersion);
  expect((await api.k8sKubeconfigGet({ k8sClusterId })).data).toMatchObject({ kind: "Config" });
});

it("the life of a node pool", async () => {
  const k8sClusterId = await sdk.made(newCluster("pools"));
  const kubernetesNodePool = pool("workers", 1);
  const nodepoolId = await sdk.made(api.k8sNodepoolsPost({ k8sClusterId, kubernetesNodePool }));
  const at = { k8sClusterId, nodepoolId };
  expect((await api.k8sNodepoolsFindById(at)).data).toMatchObject({
    metadata: { state: "ACTIVE" },
    ...kubernetesNodePool,
  });
  await expectRefusal(api.k8sDelete({ k8sClusterId }), 422, "delete it first");
  await sdk.done(api.k8sNodepoolsPut({ ...at, kubernetesNodePool: { properties: { nodeCount: 3 } } }));
  expect(await nodesOf(k8sClusterId, nodepoolId)).toHaveLength(3);
  await sdk.done(api.k8sNodepoolsDelete(at));
  await expectRefusal(api.k8sNodepoolsFindById(at), 404);
  await sdk.done(api.k8sDelete({ k8sClusterId }));
});

it("a node pool keeps what a PUT leaves out, and an empty autoScaling is none", async () => {
  const k8sClusterId = await sdk.made(newCluster("kept"));
  const given = {
    ...{ labels: { tier: "web" }, annotations: { owner: "a" }, lans: [{ id: 1, dhcp: true }] },
    taints: [{ key: "only", value: "web", effect: "NoSchedule" as const }],
    autoScaling: { minNodeCount: 1, maxNodeCount: 3 },
  };
  const kubernetesNodePool = { properties: { ...pool("kept", 2).properties, ...given } };
  const nodepoolId = await sdk.made(api.k8sNodepoolsPost({ k8sClusterId, kubernetesNodePool }));
  const at = { k8sClusterId, nodepoolId };
  // The types say that nodeCount is required; other clients leave it out.
  const put = (properties: Partial<KubernetesNodePoolPropertiesForPut> & { taints?: object[] }) =>
    sdk.done(
      api.k8sNodepoolsPut({
        ...at,
        kubernetesNodePool: { properties: properties as KubernetesNodePoolPropertiesForPut },
      }),
    );
  const read = async () => (await api.k8sNodepoolsFindById(at)).data.properties;
  await put({ nodeCount: 3 });
  expect(await read()).toMatchObject({ ...given, nodeCount: 3 });
  await put({ labels: { tier: "database" } });
  expect(await read()).toMatchObject({ ...given, labels: { tier: "database" }, nodeCount: 3 });
  await put({ nodeCount: 3, autoScaling: {} as KubernetesAutoScaling });
  expect((await read()).autoScaling ?? undefined).toBeUndefined();
  await put({ nodeCount: 4, labels: {}, taints: [] });
  expect(await read()).toMatchObject({ annotations: given.annotations, labels: {}, taints: [], nodeCount: 4 });
});

it("a node pool is made with an empty autoScaling, which is none, and with half of one not at all", async () => {
  const k8sClusterId = await sdk.made(newCluster("empty"));
  const made = (autoScaling: Partial<KubernetesAutoScaling>) =>
    api.k8sNodepoolsPost({
      k8sClusterId,
      kubernetesNodePool: {
        properties: { ...pool("workers", 1).properties, autoScaling: autoScaling as KubernetesAutoScaling },
      },
    });
  const nodepoolId = await sdk.made(made({}));
  const { data } = await api.k8sNodepoolsFindById({ k8sClusterId, nodepoolId });
  expect(data.properties.autoScaling ?? undefined).toBeUndefined();
  await expectRefusal(made({ minNodeCount: 1 }), 422, "autoScaling.maxNodeCount");
});

it("a node is replaced and deleted", async () => {
  const k8sClusterId = await sdk.made(newCluster("nodes"));
  const kubernetesNodePool = pool("workers", 2);
  const nodepoolId = await sdk.made(api.k8sNodepoolsPost({ k8sClusterId, kubernetesNodePool }));
  const [first] = await nodesOf(k8sClusterId, nodepoolId);
  expect(first).toMatchObject({ metadata: { state: "READY" }, properties: { k8sVersion: expect.any(String) } });
  const at = { k8sClusterId, nodepoolId, nodeId: idOf(known(first)) };
  await sdk.done(api.k8sNodepoolsNodesReplacePost(at));
  await sdk.done(api.k8sNodepoolsNodesDelete(at));
  const { data } = await api.k8sNodepoolsFindById({ k8sClusterId, nodepoolId });
  expect(data.properties.nodeCount).toBe(1);
});
