"""Produces records with keys to a topic, reads them back in a group, and prints what it saw as one line of JSON."""

import json
import sys

from confluent_kafka import Consumer, Producer

given = json.load(sys.stdin)
connection = {
    "bootstrap.servers": given["brokers"],
    "security.protocol": "SSL",
    "ssl.ca.pem": given["certificateAuthority"],
    "ssl.certificate.pem": given["certificate"],
    "ssl.key.pem": given["privateKey"],
    "ssl.endpoint.identification.algorithm": "none",
}

producer = Producer(connection)
for number in range(given["records"]):
    producer.produce(given["topic"], key=f"key-{number % given['keys']}", value=str(number))
    producer.poll(0)
undelivered = producer.flush(60)

consumer = Consumer(connection | {"group.id": "librdkafka", "auto.offset.reset": "earliest"})
consumer.subscribe([given["topic"]])
last = {}
partitions = {}
seen = 0
ordered = True
while seen < given["records"]:
    for message in consumer.consume(1000, timeout=1):
        if message.error():
            raise SystemExit(str(message.error()))
        key, number = message.key().decode(), int(message.value())
        ordered = ordered and last.get(key, -1) < number
        ordered = ordered and partitions.setdefault(key, message.partition()) == message.partition()
        last[key] = number
        seen += 1
consumer.close()

used = len(set(partitions.values()))
print(json.dumps({"undelivered": undelivered, "seen": seen, "ordered": ordered, "partitions": used}))
