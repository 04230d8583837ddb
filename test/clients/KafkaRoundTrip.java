import java.io.FileInputStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends one record to a topic and reads it back, with nothing but a properties file. Prints what it read. */
class KafkaRoundTrip {
  public static void main(String[] arguments) throws Exception {
    var topic = arguments[1];
    var settings = new Properties();
    try (var file = new FileInputStream(arguments[0])) {
      settings.load(file);
    }
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.send(new ProducerRecord<>(topic, "java", "hello")).get();
    }
    settings.put("group.id", "java");
    settings.put("auto.offset.reset", "earliest");
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(topic));
      while (true) {
        for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofSeconds(1))) {
          System.out.println(each.key() + "=" + each.value());
          return;
        }
      }
    }
  }
}
