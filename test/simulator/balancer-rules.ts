/** A rule of a Network Load Balancer as small as the platform takes it. */
export const networkRule = (more: object = {}) => ({
  name: "rule",
  algorithm: "ROUND_ROBIN",
  protocol: "TCP",
  listenerIp: "10.1.0.5",
  listenerPort: 80,
  targets: [{ ip: "10.2.0.7", port: 8080 }],
  ...more,
});

/** The same of an Application Load Balancer. */
export const applicationRule = (more: object = {}) => ({
  name: "rule",
  protocol: "HTTP",
  listenerIp: "10.1.0.5",
  listenerPort: 80,
  ...more,
});
