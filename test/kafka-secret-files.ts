/** What the Secret of a KafkaUser holds, sorted: all that a client of any kind asks for. */
export const kafkaSecretFiles = [
  "bootstrap.servers",
  "ca.crt",
  "client.properties",
  "keystore.p12",
  "librdkafka.properties",
  "store.password",
  "tls.crt",
  "tls.key",
  "truststore.p12",
];
