// Fills a broker with logs of every kind: each codec, headers, nulls, transactions that commit and abort, a group's offsets.
//
//   java -cp 'LIB/*' Fill.java HOST:PORT

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Fill {
    static KafkaProducer<byte[], byte[]> producer(String broker, Map<String, String> more) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker);
        settings.put("linger.ms", "5");
        settings.putAll(more);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static ProducerRecord<byte[], byte[]> record(int i) {
        byte[] key = i % 5 == 0 ? null : ("key-" + i % 7).getBytes();
        byte[] value = i % 11 == 0 ? null : ("value " + i + " ").repeat(1 + i % 20).getBytes();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("theirs", 0, key, value);
        if (i % 3 == 0) record.headers().add("h" + i % 4, i % 2 == 0 ? null : new byte[] {(byte) i});
        return record;
    }

    public static void main(String[] arguments) throws Exception {
        String broker = arguments[0];
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker))) {
            admin.createTopics(List.of(new NewTopic("theirs", 1, (short) 1).configs(Map.of("segment.bytes", "1048576"))))
                .all().get();
        }
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            try (var producer = producer(broker, Map.of("compression.type", codec))) {
                for (int i = 0; i < 3000; i++) producer.send(record(i));
            }
        }
        try (var producer = producer(broker, Map.of("transactional.id", "tx"))) {
            producer.initTransactions();
            for (int i = 0; i < 6; i++) {
                producer.beginTransaction();
                producer.send(record(i)).get();
                if (i % 2 == 0) producer.commitTransaction(); else producer.abortTransaction();
            }
        }
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker);
        settings.put("group.id", "readers");
        settings.put("auto.offset.reset", "earliest");
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of("theirs"));
            while (consumer.poll(Duration.ofMillis(500)).isEmpty()) continue;
            consumer.commitSync();
        }
    }
}
