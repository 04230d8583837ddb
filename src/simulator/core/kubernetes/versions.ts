/** The versions of managed Kubernetes on offer, newest first. */
export const kubernetesVersions = ["1.34.2", "1.33.6", "1.32.10", "1.31.14"];
export const defaultKubernetesVersion = "1.33.6";

const minorOf = (version: string) => Number(version.split(".")[1]);

/** Where a cluster or node pool can go from a version: newer, and at most one minor version further. */
export const upgradesOf = (version: string): string[] =>
  kubernetesVersions.filter((each) => minorOf(each) === minorOf(version) + 1);

/** What the node pools of a cluster may run: its own version and those behind it. */
export const nodePoolVersionsOf = (clusterVersion: string): string[] =>
  kubernetesVersions.filter((each) => minorOf(each) <= minorOf(clusterVersion));
