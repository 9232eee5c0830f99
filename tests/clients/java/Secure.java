import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes one record and reads it back, with the client settings given: {@code Secure BOOTSTRAP TOPIC KEY=VALUE...}. Prints one
 * line: {@code OK}, or {@code ERROR class: message; class: message} with the causes.
 */
public final class Secure {
  public static void main(String[] args) {
    Properties common = new Properties();
    common.putAll(Map.of("bootstrap.servers", args[0], "request.timeout.ms", "8000", "default.api.timeout.ms", "15000"));
    for (int i = 2; i < args.length; ++i) {
      int at = args[i].indexOf('=');
      common.put(args[i].substring(0, at), args[i].substring(at + 1));
    }
    String value = "value-" + System.nanoTime();
    try {
      write(common, args[1], value);
      read(common, args[1], value);
      System.out.println("OK");
    } catch (Throwable error) {
      StringBuilder line = new StringBuilder("ERROR");
      for (Throwable cause = error; cause != null; cause = cause.getCause())
        line.append(' ').append(cause.getClass().getSimpleName()).append(": ").append(cause.getMessage()).append(';');
      System.out.println(line.toString().replace('\n', ' '));
    }
    System.exit(0);
  }

  private static void write(Properties common, String topic, String value) throws Throwable {
    Properties settings = new Properties();
    settings.putAll(common);
    settings.putAll(Map.of("max.block.ms", "15000", "delivery.timeout.ms", "15000"));
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.send(new ProducerRecord<>(topic, 0, null, value)).get();
    } catch (ExecutionException e) {
      throw e.getCause();
    }
  }

  private static void read(Properties common, String topic, String value) {
    try (var consumer = new KafkaConsumer<>(common, new StringDeserializer(), new StringDeserializer())) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      for (long end = System.nanoTime() + 15_000_000_000L; System.nanoTime() < end; )
        for (var record : consumer.poll(Duration.ofMillis(500))) if (record.value().equals(value)) return;
    }
    throw new IllegalStateException("what was written did not come back");
  }
}
