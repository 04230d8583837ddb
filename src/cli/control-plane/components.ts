import { files } from "./folder.ts";

/**
 * etcd listens on sockets in the cluster's folder: no port conflicts, and no access for other users. It requires a port
 * in the address, which becomes part of the file name. The path is relative, because socket paths must be short.
 */
const etcdUrl = `unix://${files.etcdSocket}`;
const peerUrl = "unix://peer.sock:0";

export function etcdArguments({ kept }: { kept: boolean }): string[] {
  return [
    "--name=mooring",
    `--data-dir=${files.etcdData}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=mooring=${peerUrl}`,
    "--log-level=warn",
    ...(kept ? [] : ["--unsafe-no-fsync"]),
  ];
}

/** Paths of the audit policy and of the audit log. */
export interface Audit {
  policy: string;
  log: string;
}

export const LOOPBACK = "127.0.0.1";

export interface Serving {
  /** The listen address. Pods, if any, must be able to reach it. */
  address: string;
  port: number;
  audit?: Audit | undefined;
}

export function apiserverArguments({ address, port, audit }: Serving): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${address}`,
    `--secure-port=${port}`,
    // Required on a machine without a default route. A loopback address is not a valid endpoint.
    `--advertise-address=${address}`,
    address === LOOPBACK ? "--endpoint-reconciler-type=none" : "--kubelet-preferred-address-types=InternalIP",
    `--cert-dir=${files.certificates}`,
    `--token-auth-file=${files.tokens}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--allow-privileged=true",
    "--profiling=false",
    ...(audit ? [`--audit-policy-file=${audit.policy}`, `--audit-log-path=${audit.log}`] : []),
  ];
}

/** Controllers that matter without pods. */
const withoutPods = [
  "clusterrole-aggregation-controller",
  "garbage-collector-controller",
  "namespace-controller",
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "validatingadmissionpolicy-status-controller",
];

export function controllerManagerArguments({ address }: Pick<Serving, "address">): string[] {
  // No node joins a control plane on a loopback address.
  const controllers = address === LOOPBACK ? withoutPods : ["*"];
  return [
    `--kubeconfig=${files.controllerManagerKubeconfig}`,
    `--controllers=${controllers.join(",")}`,
    "--use-service-account-credentials",
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.servingCertificate}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--profiling=false",
    // The default limits protect a busy API server. Here they would only delay the deletion of namespaces.
    "--kube-api-qps=200",
    "--kube-api-burst=400",
    // A quota that is older than the CRD that it counts is computed only then; the default is five minutes.
    "--resource-quota-sync-period=30s",
  ];
}
