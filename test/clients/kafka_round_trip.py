"""Sends one record to a topic and reads it back, with nothing but a properties file. Prints what it read."""

import sys

from confluent_kafka import Consumer, Producer

path, topic = sys.argv[1:]
with open(path) as file:
    settings = dict(line.strip().split("=", 1) for line in file if "=" in line and not line.startswith("#"))

producer = Producer(settings)
producer.produce(topic, key="librdkafka", value="hello")
producer.flush(60)

consumer = Consumer(settings | {"group.id": "librdkafka", "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
while (message := consumer.poll(1)) is None or message.error():
    pass
print(f"{message.key().decode()}={message.value().decode()}")
consumer.close()
