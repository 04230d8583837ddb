/** One process of a cluster: broker and controller at once. */
export interface Node {
  id: number;
  /** Where clients connect, by mutual TLS. */
  client: number;
  /** Where brokers and the simulator itself connect. */
  internal: number;
  controller: number;
}

export const portsPerNode = 3;
const host = "127.0.0.1";

/** The nodes of a cluster, three ports each. */
export function nodesOn(ports: readonly number[]): Node[] {
  return Array.from({ length: ports.length / portsPerNode }, (_, index) => {
    const [client = 0, internal = 0, controller = 0] = ports.slice(index * portsPerNode);
    return { id: index + 1, client, internal, controller };
  });
}

export const clientAddress = ({ client }: Node) => `${host}:${client}`;
export const internalAddress = ({ internal }: Node) => `${host}:${internal}`;

export interface Files {
  data: string;
  /** PEM: the broker's key and its certificate. */
  keystore: string;
  /** The authority of the clients, as PEM. */
  truststore: string;
}

/** The configuration of one node. Only the clients' listener has TLS; the others are internal. */
export function settingsOf(node: Node, nodes: readonly Node[], files: Files): string {
  const brokers = nodes.length;
  const coordinators = {
    "offsets.topic.num.partitions": 4,
    "offsets.topic.replication.factor": brokers,
    "transaction.state.log.num.partitions": 4,
    "transaction.state.log.replication.factor": brokers,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 4,
    "share.coordinator.state.topic.replication.factor": brokers,
    "share.coordinator.state.topic.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
  };
  // A broker for trying things out, beside others on a small machine.
  const modest = {
    "num.network.threads": 2,
    "num.io.threads": 4,
    "log.cleaner.dedupe.buffer.size": 4 * 1024 * 1024,
    // How long a killed broker counts as alive and cannot register again.
    "broker.session.timeout.ms": 3000,
    "broker.heartbeat.interval.ms": 500,
  };
  const settings: Record<string, string | number | boolean> = {
    "process.roles": "broker,controller",
    "node.id": node.id,
    "controller.quorum.voters": nodes.map(({ id, controller }) => `${id}@${host}:${controller}`).join(),
    listeners: `CLIENT://${clientAddress(node)},INTERNAL://${internalAddress(node)},CONTROLLER://${host}:${node.controller}`,
    "advertised.listeners": `CLIENT://${clientAddress(node)},INTERNAL://${internalAddress(node)}`,
    "listener.security.protocol.map": "CLIENT:SSL,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
    "controller.listener.names": "CONTROLLER",
    "ssl.client.auth": "required",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": files.keystore,
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": files.truststore,
    "log.dirs": files.data,
    "num.partitions": 1,
    "default.replication.factor": 1,
    "auto.create.topics.enable": false,
    ...coordinators,
    ...modest,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
