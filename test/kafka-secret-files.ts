/** The keys of a KafkaUser's Secret, sorted. */
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
