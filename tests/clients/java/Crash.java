import java.io.*;
import java.nio.file.*;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Crash produce|consume HOST:PORT FILE ARGUMENT...: Kafka's producer and consumer for tests/crash, which go on while the broker
 * is killed, and note each record in a file. ../../crash/README.md describes the arguments and the file.
 */
public final class Crash {
    static final int TICK_MS = 20;
    static final int MOST_OPEN = 300;  // records without an answer

    /** The file: whole lines, written by several threads. */
    static final class Notes {
        private final BufferedWriter out;

        Notes(String path) throws IOException {
            out = Files.newBufferedWriter(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }

        synchronized void line(Object... words) {
            StringJoiner text = new StringJoiner(" ", "", "\n");
            for (Object word : words) text.add(String.valueOf(word));
            try {
                out.write(text.toString());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        synchronized void flush() {
            try {
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** What record number seq of a producer holds. */
    static String value(String name, long seq) {
        return name + " " + seq + " " + "x".repeat(seq % 500 == 499 ? 20_000 : (int) (seq * 7919 % 200));
    }

    /** Becomes true once standard input ends. */
    static AtomicBoolean inputEnds() {
        AtomicBoolean ended = new AtomicBoolean();
        Thread watch = new Thread(() -> {
            try {
                System.in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // as good as an end
            }
            ended.set(true);
        });
        watch.setDaemon(true);
        watch.start();
        return ended;
    }

    static Properties props(String boot, Object... kv) {
        Properties p = new Properties();
        p.put("bootstrap.servers", boot);
        p.put("reconnect.backoff.ms", "20");
        p.put("reconnect.backoff.max.ms", "200");
        p.put("retry.backoff.ms", "20");
        p.put("retry.backoff.max.ms", "200");
        for (int i = 0; i < kv.length; i += 2) p.put(kv[i], String.valueOf(kv[i + 1]));
        return p;
    }

    /** produce TOPIC PARTITIONS NAME RATE CODEC: until standard input ends. */
    static void produce(String boot, Notes out, String topic, int partitions, String name, int rate, String codec) throws Exception {
        AtomicBoolean ended = inputEnds();
        long seq = 0;
        AtomicInteger open = new AtomicInteger();
        try (var producer = new KafkaProducer<>(props(boot, "acks", "all", "enable.idempotence", true, "linger.ms", 5,
                "compression.type", codec, "max.block.ms", 600_000, "delivery.timeout.ms", 600_000), new StringSerializer(),
                new StringSerializer())) {
            long due = System.nanoTime();
            while (!ended.get()) {
                for (int i = 0; i < rate * TICK_MS / 1000 && open.get() < MOST_OPEN; i++) {
                    open.incrementAndGet();
                    long number = seq++;
                    int partition = (int) (number % partitions);
                    producer.send(new ProducerRecord<>(topic, partition, (String) null, value(name, number)), (metadata, e) -> {
                        open.decrementAndGet();
                        if (e != null) out.line("fail", number, partition, e);
                        else out.line("ack", number, metadata.partition(), metadata.offset());
                    });
                }
                out.flush();
                due = Math.max(due + TICK_MS * 1_000_000L, System.nanoTime());
                long left = due - System.nanoTime();
                if (left > 0) Thread.sleep(left / 1_000_000);
            }
            producer.flush();
        }
        out.line("end", seq);
        out.flush();
    }

    static long micros() { return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()); }

    /** consume TOPIC GROUP ASSIGNOR: until standard input ends; then it leaves the group. */
    static void consume(String boot, Notes out, String topic, String group, String assignor) throws Exception {
        AtomicBoolean ended = inputEnds();
        String strategy = switch (assignor) {
            case "range" -> RangeAssignor.class.getName();
            case "cooperative-sticky" -> CooperativeStickyAssignor.class.getName();
            default -> throw new IllegalArgumentException("no assignor " + assignor);
        };
        try (var consumer = new KafkaConsumer<>(props(boot, "group.id", group, "partition.assignment.strategy", strategy,
                "enable.auto.commit", false, "auto.offset.reset", "earliest", "session.timeout.ms", 6000, "heartbeat.interval.ms", 300,
                "max.poll.interval.ms", 10_000, "max.poll.records", 200, "fetch.max.wait.ms", 100), new StringDeserializer(),
                new StringDeserializer())) {
            consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
                private void note(String word, Collection<TopicPartition> parts) {
                    for (TopicPartition p : parts) out.line(word, p.partition(), micros());
                    out.flush();
                }
                @Override public void onPartitionsAssigned(Collection<TopicPartition> parts) { note("assigned", parts); }
                @Override public void onPartitionsRevoked(Collection<TopicPartition> parts) { note("revoked", parts); }
                @Override public void onPartitionsLost(Collection<TopicPartition> parts) { note("lost", parts); }
            });
            while (!ended.get()) {
                var records = consumer.poll(Duration.ofMillis(200));
                Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
                for (var r : records) {
                    String[] words = r.value().split(" ", 3);
                    out.line("read", r.partition(), r.offset(), words[0], words[1]);
                    next.put(new TopicPartition(topic, r.partition()), new OffsetAndMetadata(r.offset() + 1));
                }
                out.flush();
                if (next.isEmpty()) continue;
                try {
                    consumer.commitSync(next, Duration.ofSeconds(5));
                    long now = micros();
                    next.forEach((p, o) -> out.line("committed", p.partition(), o.offset(), now));
                } catch (KafkaException e) {
                    // Not committed: whoever has the partition next reads it again.
                }
                out.flush();
            }
        }
        out.line("end");
        out.flush();
    }

    public static void main(String[] args) throws Exception {
        Notes out = new Notes(args[2]);
        switch (args[0]) {
            case "produce" -> produce(args[1], out, args[3], Integer.parseInt(args[4]), args[5], Integer.parseInt(args[6]), args[7]);
            case "consume" -> consume(args[1], out, args[3], args[4], args[5]);
            default -> throw new IllegalArgumentException("no command " + args[0]);
        }
    }
}
