import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.quota.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.token.delegation.DelegationToken;
import org.apache.kafka.common.serialization.*;

/** Clients BOOTSTRAP [SASL_BOOTSTRAP USER PASSWORD]: the Java clients against one broker. */
public final class Clients {
    static final int N = 100;
    static final Duration T = Duration.ofSeconds(20);
    static String boot;

    static Properties props(Object... kv) {
        Properties p = new Properties();
        p.put("bootstrap.servers", boot);
        for (int i = 0; i < kv.length; i += 2) p.put(kv[i], kv[i + 1]);
        return p;
    }

    static KafkaProducer<String, String> producer(Object... kv) {
        return new KafkaProducer<>(props(kv), new StringSerializer(), new StringSerializer());
    }

    static KafkaConsumer<String, String> consumer(Object... kv) {
        Properties p = props("auto.offset.reset", "earliest", "enable.auto.commit", "false");
        for (int i = 0; i < kv.length; i += 2) p.put(kv[i], kv[i + 1]);
        return new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
    }

    static KafkaShareConsumer<String, String> share(String gid, Object... kv) {
        Properties p = props("group.id", gid);
        for (int i = 0; i < kv.length; i += 2) p.put(kv[i], kv[i + 1]);
        return new KafkaShareConsumer<>(p, new StringDeserializer(), new StringDeserializer());
    }

    static void produce(String topic, int parts, Object... kv) throws Exception {
        try (var p = producer(kv)) {
            var fs = new ArrayList<java.util.concurrent.Future<RecordMetadata>>();
            for (int i = 0; i < N; i++) {
                fs.add(p.send(new ProducerRecord<>(topic, i % parts, "k" + i, "v".repeat(60),
                    List.of(new RecordHeader("h", "v".getBytes())))));
            }
            for (var f : fs) f.get(20, TimeUnit.SECONDS);
        }
    }

    static List<ConsumerRecord<String, String>> read(Consumer<String, String> c, int want, Duration limit) {
        var got = new ArrayList<ConsumerRecord<String, String>>();
        for (long end = System.nanoTime() + limit.toNanos(); got.size() < want && System.nanoTime() < end; ) {
            c.poll(Duration.ofMillis(300)).forEach(got::add);
        }
        return got;
    }

    static void set(Admin admin, ConfigResource.Type type, String name, String key, String value) throws Exception {
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(type, name),
            List.of(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)))).all().get(20, TimeUnit.SECONDS);
    }

    static void group(Admin admin, String topic, String gid, String proto) throws Exception {
        Object[] conf = {"group.id", gid, "group.protocol", proto, "max.poll.records", "10"};
        var pos = new HashMap<TopicPartition, OffsetAndMetadata>();
        try (var a = consumer(conf)) {
            a.subscribe(List.of(topic));
            var first = read(a, N / 2, T);
            Check.need(first.size() == N / 2, first.size() + " records");
            for (var r : first) pos.put(new TopicPartition(topic, r.partition()), new OffsetAndMetadata(r.offset() + 1, "meta"));
            a.commitSync(pos);
        }
        try (var b = consumer(conf)) {
            b.subscribe(List.of(topic));
            int rest = read(b, N / 2, T).size(), extra = read(b, 1, Duration.ofSeconds(1)).size();
            Check.need(rest == N / 2 && extra == 0, rest + "+" + extra + " records after the restart");
            for (var e : pos.entrySet()) {
                var c = b.committed(Set.of(e.getKey())).get(e.getKey());
                Check.need(c.offset() == e.getValue().offset() && c.metadata().equals("meta"), "committed " + c);
            }
            var d = admin.describeConsumerGroups(List.of(gid)).describedGroups().get(gid).get();
            Check.need(d.members().size() == 1 && d.type().toString().equalsIgnoreCase(proto), d);
        }
        Check.need(admin.listGroups().all().get().stream().anyMatch(g -> g.groupId().equals(gid)), "not listed");
        Check.need(admin.listConsumerGroupOffsets(gid).partitionsToOffsetAndMetadata().get().keySet().containsAll(pos.keySet()), "offsets");
    }

    static void rebalance(String topic, String gid, String proto) throws Exception {
        Object[] conf = proto.equals("classic")
            ? new Object[] {"group.id", gid, "partition.assignment.strategy", CooperativeStickyAssignor.class.getName(), "heartbeat.interval.ms", "500"}
            : new Object[] {"group.id", gid, "group.protocol", proto};
        try (var a = consumer(conf); var b = consumer(conf)) {
            a.subscribe(List.of(topic));
            Check.until(T, "first alone", () -> { a.poll(Duration.ofMillis(100)); return a.assignment().size() == 4; });
            b.subscribe(List.of(topic));
            Check.until(T, "two and two", () -> {
                a.poll(Duration.ofMillis(100));
                b.poll(Duration.ofMillis(100));
                return a.assignment().size() == 2 && b.assignment().size() == 2;
            });
            a.unsubscribe();
            Check.until(T, "second alone", () -> { b.poll(Duration.ofMillis(100)); return b.assignment().size() == 4; });
        }
    }

    public static void main(String[] args) throws Exception {
        boot = args[0];
        var c = new Check("java");
        String topic = c.name("t"), gtopic = c.name("g"), ttopic = c.name("x"), stopic = c.name("s");
        Admin admin = Admin.create(props());

        c.run("admin-create", () -> {
            var r = admin.createTopics(List.of(new NewTopic(topic, 3, (short) 1), new NewTopic(gtopic, 4, (short) 1),
                new NewTopic(ttopic, 1, (short) 1), new NewTopic(stopic, 2, (short) 1)));
            r.all().get(20, TimeUnit.SECONDS);
            Check.need(r.numPartitions(topic).get() == 3 && !r.topicId(topic).get().equals(Uuid.ZERO_UUID), "created topic");
        });
        c.run("admin-create-duplicate", () -> {
            try {
                admin.createTopics(List.of(new NewTopic(topic, 3, (short) 1))).all().get();
                Check.need(false, "created twice");
            } catch (ExecutionException e) {
                Check.need(e.getCause() instanceof TopicExistsException, e.getCause());
            }
        });
        c.run("admin-describe", () -> {
            Check.until(T, "3 partitions", () -> admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size() == 3);
            var cl = admin.describeCluster();
            Check.need(!cl.clusterId().get().isEmpty() && !cl.nodes().get().isEmpty(), "cluster");
            admin.describeFeatures().featureMetadata().get();
        });
        c.run("admin-log-dirs", () -> {
            int node = admin.describeCluster().nodes().get().iterator().next().id();
            Check.need(!admin.describeLogDirs(List.of(node)).allDescriptions().get().isEmpty(), "log dirs");
        });
        c.run("admin-quorum", () -> Check.need(admin.describeMetadataQuorum().quorumInfo().get().leaderId() >= 0, "no leader"));
        c.run("admin-configs", () -> {
            set(admin, ConfigResource.Type.TOPIC, topic, "retention.ms", "3600000");
            var r = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            Check.until(T, "retention.ms", () -> admin.describeConfigs(List.of(r)).all().get().get(r).get("retention.ms").value().equals("3600000"));
            var b = new ConfigResource(ConfigResource.Type.BROKER, String.valueOf(admin.describeCluster().nodes().get().iterator().next().id()));
            Check.need(admin.describeConfigs(List.of(b)).all().get().get(b).entries().size() > 50, "broker configs");
        });
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            c.run("produce-" + codec, () -> produce(topic, 3, "compression.type", codec, "enable.idempotence", "false"));
        }
        for (String acks : List.of("0", "1", "all")) {
            c.run("produce-acks-" + acks, () -> produce(topic, 3, "acks", acks, "enable.idempotence", "false"));
        }
        c.run("produce-idempotent", () -> produce(gtopic, 4));
        c.run("produce-too-large", () -> {
            try (var p = producer("max.request.size", "8000000", "buffer.memory", "20000000")) {
                p.send(new ProducerRecord<>(topic, "x".repeat(4_000_000))).get();
                Check.need(false, "accepted");
            } catch (ExecutionException e) {
                Check.need(e.getCause() instanceof RecordTooLargeException, e.getCause());
            }
        });
        c.run("consume", () -> {
            try (var k = consumer("check.crcs", "true")) {
                var tps = IntStream.range(0, 3).mapToObj(i -> new TopicPartition(topic, i)).toList();
                k.assign(tps);
                k.seekToBeginning(tps);
                var got = read(k, 8 * N, T);
                Check.need(got.size() >= 7 * N && got.get(0).headers().lastHeader("h") != null, got.size() + " records");
                Check.need(k.endOffsets(tps).values().stream().mapToLong(x -> x).sum() >= 7 * N, "end offsets");
                Check.need(k.offsetsForTimes(Map.of(tps.get(0), 1L)).get(tps.get(0)).offset() == 0, "offsets for times");
                k.pause(tps);
                k.seek(tps.get(1), 5);
                k.resume(List.of(tps.get(1)));
                Check.need(read(k, 1, T).get(0).offset() == 5, "seek");
            }
        });
        for (String proto : List.of("classic", "consumer")) {
            c.run("group-commit-" + proto, () -> group(admin, gtopic, c.name("group-" + proto), proto));
            c.run("group-rebalance-" + proto, () -> rebalance(gtopic, c.name("reb-" + proto), proto));
        }
        c.run("group-regex-consumer", () -> {
            try (var k = consumer("group.id", c.name("re2"), "group.protocol", "consumer")) {
                k.subscribe(new SubscriptionPattern(gtopic + ".*"));
                Check.need(read(k, N, T).size() == N, "server-side regular expression");
            }
        });
        c.run("group-static-member", () -> {
            Object[] conf = {"group.id", c.name("static"), "group.instance.id", "one"};
            String id;
            try (var k = consumer(conf)) {
                k.subscribe(List.of(gtopic));
                read(k, 1, T);
                id = k.groupMetadata().memberId();
            }
            try (var k = consumer(conf)) {
                k.subscribe(List.of(gtopic));
                read(k, 1, T);
                Check.need(!k.groupMetadata().memberId().isEmpty() && k.groupMetadata().generationId() == 1,
                    "a static member's return moved the generation to " + k.groupMetadata().generationId() + " " + id);
            }
        });
        c.run("group-offsets-admin", () -> {
            String gid = c.name("group-classic");
            var tp = new TopicPartition(gtopic, 0);
            admin.alterConsumerGroupOffsets(gid, Map.of(tp, new OffsetAndMetadata(1))).all().get();
            Check.need(admin.listConsumerGroupOffsets(gid).partitionsToOffsetAndMetadata().get().get(tp).offset() == 1, "altered");
            admin.deleteConsumerGroupOffsets(gid, Set.of(tp)).all().get();
            admin.deleteConsumerGroups(List.of(gid)).all().get();
        });
        c.run("share-accept", () -> {
            produce(stopic, 2);
            String gid = c.name("share");
            set(admin, ConfigResource.Type.GROUP, gid, "share.auto.offset.reset", "earliest");
            try (var s = share(gid)) {
                s.subscribe(List.of(stopic));
                int got = 0;
                for (long end = System.nanoTime() + T.toNanos(); got < N && System.nanoTime() < end; ) got += s.poll(Duration.ofMillis(500)).count();
                Check.need(got == N, got + " records");
                var d = admin.describeShareGroups(List.of(gid)).all().get().get(gid);
                Check.need(d.members().size() == 1, d);
            }
        });
        c.run("share-explicit", () -> {
            String gid = c.name("share2");
            set(admin, ConfigResource.Type.GROUP, gid, "share.auto.offset.reset", "earliest");
            try (var s = share(gid, "share.acknowledgement.mode", "explicit")) {
                s.subscribe(List.of(stopic));
                var times = new HashMap<String, Integer>();
                int accepted = 0, rejected = 0;
                for (long end = System.nanoTime() + T.toNanos(); accepted + rejected < N && System.nanoTime() < end; ) {
                    for (var r : s.poll(Duration.ofMillis(500))) {
                        int k = times.merge(r.partition() + "-" + r.offset(), 1, Integer::sum);
                        Check.need(r.deliveryCount().orElse((short) 0) == k, "delivery count " + r.deliveryCount() + " at delivery " + k);
                        if (r.offset() % 10 == 0 && k == 1) {
                            s.acknowledge(r, AcknowledgeType.RELEASE);
                        } else if (r.offset() % 10 == 1) {
                            s.acknowledge(r, AcknowledgeType.REJECT);
                            rejected++;
                        } else {
                            s.acknowledge(r, AcknowledgeType.ACCEPT);
                            accepted++;
                        }
                    }
                    for (var e : s.commitSync().entrySet()) {
                        if (e.getValue().isPresent()) throw e.getValue().get();
                    }
                }
                Check.need(accepted == N - 10 && rejected == 10, accepted + " accepted, " + rejected + " rejected");
                Check.need(times.values().stream().filter(x -> x == 2).count() == 10, "released records came again " + times);
            }
        });
        c.run("txn-commit-abort", () -> {
            try (var p = producer("transactional.id", c.name("txn"))) {
                p.initTransactions();
                for (boolean commit : new boolean[] {false, true}) {
                    p.beginTransaction();
                    for (int i = 0; i < 10; i++) p.send(new ProducerRecord<>(ttopic, "x"));
                    if (commit) p.commitTransaction(); else { p.flush(); p.abortTransaction(); }
                }
            }
            for (var e : Map.of("read_committed", 10, "read_uncommitted", 20).entrySet()) {
                try (var k = consumer("isolation.level", e.getKey())) {
                    k.assign(List.of(new TopicPartition(ttopic, 0)));
                    int got = read(k, e.getValue() + 1, Duration.ofSeconds(3)).size();
                    Check.need(got == e.getValue(), e.getKey() + ": " + got + " records");
                }
            }
        });
        c.run("txn-consume-produce", () -> {
            String gid = c.name("txn-group");
            try (var k = consumer("group.id", gid, "isolation.level", "read_committed"); var p = producer("transactional.id", c.name("ctp"))) {
                p.initTransactions();
                k.subscribe(List.of(gtopic));
                var got = read(k, N, T);
                Check.need(got.size() == N, got.size() + " records");
                p.beginTransaction();
                var offs = new HashMap<TopicPartition, OffsetAndMetadata>();
                for (var r : got) {
                    p.send(new ProducerRecord<>(ttopic, r.value()));
                    offs.put(new TopicPartition(gtopic, r.partition()), new OffsetAndMetadata(r.offset() + 1));
                }
                p.sendOffsetsToTransaction(offs, k.groupMetadata());
                p.commitTransaction();
                Check.until(T, "committed", () -> k.committed(offs.keySet()).values().stream().filter(Objects::nonNull)
                    .mapToLong(OffsetAndMetadata::offset).sum() == N);
            }
        });
        c.run("txn-fencing", () -> {
            Object[] conf = {"transactional.id", c.name("fence")};
            try (var a = producer(conf); var b = producer(conf)) {
                a.initTransactions();
                a.beginTransaction();
                a.send(new ProducerRecord<>(ttopic, "zombie")).get();
                b.initTransactions();
                try {
                    a.commitTransaction();
                    Check.need(false, "the fenced producer committed");
                } catch (ProducerFencedException | InvalidProducerEpochException e) {
                    // as it must be
                }
            }
        });
        c.run("txn-admin", () -> {
            Check.need(admin.listTransactions().all().get().stream().anyMatch(t -> t.transactionalId().equals(c.name("txn"))), "not listed");
            var d = admin.describeTransactions(List.of(c.name("txn"))).all().get().get(c.name("txn"));
            Check.need(d.state() == TransactionState.COMPLETE_COMMIT, d);
            admin.describeProducers(List.of(new TopicPartition(ttopic, 0))).all().get();
            try (var p = producer("transactional.id", c.name("hang"))) {
                p.initTransactions();
                p.beginTransaction();
                p.send(new ProducerRecord<>(ttopic, "left open")).get();
                admin.fenceProducers(List.of(c.name("hang"))).all().get();
            }
        });
        c.run("admin-list-offsets", () -> {
            var tp = new TopicPartition(topic, 0);
            for (var s : List.of(OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.maxTimestamp(), OffsetSpec.forTimestamp(1))) {
                Check.need(admin.listOffsets(Map.of(tp, s)).all().get().get(tp).offset() >= 0, s);
            }
        });
        c.run("admin-delete-records", () -> {
            var tp = new TopicPartition(topic, 0);
            Check.need(admin.deleteRecords(Map.of(tp, RecordsToDelete.beforeOffset(5))).lowWatermarks().get(tp).get().lowWatermark() == 5, "low watermark");
        });
        c.run("admin-partitions", () -> admin.createPartitions(Map.of(gtopic, NewPartitions.increaseTo(5))).all().get());
        c.run("admin-acls", () -> {
            // Not on a topic of the other features: an ACL for somebody else shuts this client out of it.
            var b = new AclBinding(new ResourcePattern(ResourceType.TOPIC, c.name("acl"), PatternType.LITERAL),
                new AccessControlEntry("User:interop", "*", AclOperation.READ, AclPermissionType.ALLOW));
            try {
                admin.createAcls(List.of(b)).all().get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof SecurityDisabledException) throw new Check.Skip("broker has no authorizer");
                throw e;
            }
            Check.until(T, "described", () -> admin.describeAcls(b.toFilter()).values().get().size() == 1);
            Check.need(admin.deleteAcls(List.of(b.toFilter())).all().get().size() == 1, "deleted");
        });
        c.run("admin-quotas", () -> {
            var e = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, c.name("quota")));
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(e, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", 1e6))))).all().get();
            var f = ClientQuotaFilter.containsOnly(List.of(ClientQuotaFilterComponent.ofEntity(ClientQuotaEntity.CLIENT_ID, c.name("quota"))));
            Check.until(T, "described", () -> Double.valueOf(1e6).equals(admin.describeClientQuotas(f).entities().get().getOrDefault(e, Map.of()).get("producer_byte_rate")));
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(e, List.of(new ClientQuotaAlteration.Op("producer_byte_rate", null))))).all().get();
        });
        c.run("admin-scram", () -> {
            var i = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096);
            admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(c.name("user"), i, "pw"))).all().get();
            Check.until(T, "described", () -> admin.describeUserScramCredentials().users().get().contains(c.name("user")));
            admin.alterUserScramCredentials(List.of(new UserScramCredentialDeletion(c.name("user"), ScramMechanism.SCRAM_SHA_512))).all().get();
        });
        c.run("admin-elect-leaders", () -> {
            try {
                admin.electLeaders(ElectionType.PREFERRED, Set.of(new TopicPartition(topic, 0))).all().get();
            } catch (ExecutionException e) {
                Check.need(e.getCause() instanceof ElectionNotNeededException, e.getCause());
            }
            Check.need(admin.listPartitionReassignments().reassignments().get().isEmpty(), "reassignments");
        });
        c.run("client-metrics-push", () -> {
            String sub = c.name("metrics");
            set(admin, ConfigResource.Type.CLIENT_METRICS, sub, "metrics", "*");
            set(admin, ConfigResource.Type.CLIENT_METRICS, sub, "interval.ms", "1000");
            Check.need(admin.listConfigResources(Set.of(ConfigResource.Type.CLIENT_METRICS), new ListConfigResourcesOptions()).all().get().stream()
                .anyMatch(r -> r.name().equals(sub)), "subscription not listed");
            try (var p = producer()) {
                p.send(new ProducerRecord<>(topic, "x")).get();
                Uuid id;
                try {
                    id = p.clientInstanceId(Duration.ofSeconds(10));
                } catch (TimeoutException | IllegalStateException e) {
                    throw new Check.Skip("broker answers no GetTelemetrySubscriptions: " + e.getMessage());
                }
                if (id == null) throw new Check.Skip("broker does not offer GetTelemetrySubscriptions");
                Check.need(!id.equals(Uuid.ZERO_UUID), "no client instance id");
                Thread.sleep(2500); // two pushes; the broker's side shows in its receiver
            } finally {
                admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.CLIENT_METRICS, sub), List.of(
                    new AlterConfigOp(new ConfigEntry("metrics", ""), AlterConfigOp.OpType.DELETE),
                    new AlterConfigOp(new ConfigEntry("interval.ms", ""), AlterConfigOp.OpType.DELETE)))).all().get();
            }
        });
        c.run("delegation-tokens", () -> {
            if (args.length < 4) throw new Check.Skip("no SASL address given");
            String module = "org.apache.kafka.common.security.%s required username=\"%s\" password=\"%s\"%s;";
            Properties p = props("security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN",
                "sasl.jaas.config", module.formatted("plain.PlainLoginModule", args[2], args[3], ""));
            p.put("bootstrap.servers", args[1]);
            try (Admin sasl = Admin.create(p)) {
                DelegationToken t = sasl.createDelegationToken(new CreateDelegationTokenOptions().maxLifetimeMs(600000)).delegationToken().get();
                String id = t.tokenInfo().tokenId();
                Check.until(T, "described", () -> sasl.describeDelegationToken().delegationTokens().get().stream()
                    .anyMatch(x -> x.tokenInfo().tokenId().equals(id)));
                Properties q = props("security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "SCRAM-SHA-256", "sasl.jaas.config",
                    module.formatted("scram.ScramLoginModule", id, t.hmacAsBase64String(), " tokenauth=\"true\""));
                q.put("bootstrap.servers", args[1]);
                Check.until(T, "logged in by token", () -> {
                    try (Admin byToken = Admin.create(q)) {
                        return !byToken.describeCluster().nodes().get(5, TimeUnit.SECONDS).isEmpty();
                    } catch (ExecutionException e) {
                        return false; // the token may not have reached the broker's cache yet
                    }
                });
                long renewed = sasl.renewDelegationToken(t.hmac(), new RenewDelegationTokenOptions().renewTimePeriodMs(300000)).expiryTimestamp().get();
                Check.need(renewed > System.currentTimeMillis(), "renewed until " + renewed);
                sasl.expireDelegationToken(t.hmac(), new ExpireDelegationTokenOptions().expiryTimePeriodMs(-1)).expiryTimestamp().get();
                Check.until(T, "gone", () -> sasl.describeDelegationToken().delegationTokens().get().stream()
                    .noneMatch(x -> x.tokenInfo().tokenId().equals(id)));
            }
        });
        c.run("admin-delete", () -> {
            admin.deleteTopics(List.of(topic, gtopic, ttopic, stopic)).all().get();
            Check.until(T, "still listed", () -> !admin.listTopics().names().get().contains(topic));
        });
        admin.close();
        c.done();
    }
}
