import { files } from "./folder.ts";

/**
 * etcd listens on sockets inside the cluster's folder: no port to collide with, nothing for other users to reach. It
 * insists on a port in the address and takes it as part of the file's name; relative, because a socket's path is short.
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

/** Paths: which calls are of interest, and where kube-apiserver writes about them. */
export interface Audit {
  policy: string;
  log: string;
}

export const LOOPBACK = "127.0.0.1";

export interface Serving {
  /** Where it listens. Pods have to reach it there, if there are any. */
  address: string;
  port: number;
  audit?: Audit | undefined;
}

export function apiserverArguments({ address, port, audit }: Serving): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${address}`,
    `--secure-port=${port}`,
    // Without this a machine that has no route to anywhere could not start one. A loopback address is no endpoint.
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

/** Those that matter to objects without pods. */
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
  // Nothing joins a control plane on the loopback address.
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
    // The defaults are for sharing a busy apiserver; here they would only make deletions of namespaces slow.
    "--kube-api-qps=200",
    "--kube-api-burst=400",
  ];
}
