mod check;
use check::{need, until, Check, Res};

use futures::future::join_all;
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, ConfigEntry, NewPartitions, NewTopic,
    ResourceSpecifier, TopicReplication::Fixed,
};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::message::{Header, Headers, Message, OwnedHeaders, OwnedMessage};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::HashMap;
use std::time::Duration;

const N: usize = 100;
const T: Duration = Duration::from_secs(20);

struct Env {
    boot: String,
}

impl Env {
    fn conf(&self, kv: &[(&str, &str)]) -> ClientConfig {
        let mut c = ClientConfig::new();
        c.set("bootstrap.servers", &self.boot);
        for (k, v) in kv {
            c.set(*k, *v);
        }
        c
    }

    async fn produce(&self, topic: &str, parts: i32, kv: &[(&str, &str)]) -> Res {
        let p: FutureProducer = self.conf(kv).create()?;
        let payload = "v".repeat(60);
        let sends = (0..N).map(|i| {
            let rec = FutureRecord::to(topic)
                .partition(i as i32 % parts)
                .key("k")
                .payload(&payload)
                .headers(OwnedHeaders::new().insert(Header {
                    key: "h",
                    value: Some("v"),
                }));
            p.send(rec, T)
        });
        for r in join_all(sends).await {
            r.map_err(|(e, _)| e)?;
        }
        Ok(())
    }

    async fn read(c: &StreamConsumer, want: usize, limit: Duration) -> Vec<OwnedMessage> {
        let mut got = vec![];
        let end = tokio::time::Instant::now() + limit;
        while got.len() < want {
            match tokio::time::timeout_at(end, c.recv()).await {
                Ok(Ok(m)) => got.push(m.detach()),
                Ok(Err(e)) => eprintln!("recv: {e}"),
                Err(_) => break,
            }
        }
        got
    }

    async fn group(&self, topic: &str, gid: &str, proto: &str) -> Res {
        let conf = self.conf(&[
            ("group.id", gid),
            ("group.protocol", proto),
            ("auto.offset.reset", "earliest"),
            ("enable.auto.commit", "false"),
        ]);
        let a: StreamConsumer = conf.create()?;
        a.subscribe(&[topic])?;
        let first = Self::read(&a, N / 2, T).await;
        let mut pos: HashMap<i32, i64> = HashMap::new();
        for m in &first {
            let p = pos.entry(m.partition()).or_default();
            *p = (*p).max(m.offset() + 1);
        }
        let mut tpl = TopicPartitionList::new();
        for (p, o) in &pos {
            tpl.add_partition_offset(topic, *p, Offset::Offset(*o))?;
        }
        a.commit(&tpl, CommitMode::Sync)?;
        drop(a);
        let b: StreamConsumer = conf.create()?;
        b.subscribe(&[topic])?;
        let rest = Self::read(&b, N - first.len(), T).await;
        let extra = Self::read(&b, 1, Duration::from_millis(1500)).await;
        need(
            first.len() + rest.len() == N && extra.is_empty(),
            format!("{}+{}+{} records", first.len(), rest.len(), extra.len()),
        )?;
        for (p, o) in &pos {
            let mut q = TopicPartitionList::new();
            q.add_partition(topic, *p);
            let got = b.committed_offsets(q, T)?.elements()[0].offset();
            need(
                got == Offset::Offset(*o),
                format!("committed {got:?}, want {o}"),
            )?;
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    let e = Env {
        boot: std::env::args().nth(1).expect("bootstrap address"),
    };
    let mut c = Check::new("rdkafka-rust");
    let (topic, gtopic, ttopic) = (c.name("t"), c.name("g"), c.name("x"));
    let admin: AdminClient<DefaultClientContext> = e.conf(&[]).create().expect("admin client");
    let opts = AdminOptions::new().operation_timeout(Some(T));

    c.run("admin-create", async {
        let new = [
            NewTopic::new(&topic, 3, Fixed(1)),
            NewTopic::new(&gtopic, 4, Fixed(1)),
            NewTopic::new(&ttopic, 1, Fixed(1)),
        ];
        for r in admin.create_topics(&new, &opts).await? {
            r.map_err(|(t, code)| format!("{t}: {code}"))?;
        }
        Ok(())
    })
    .await;
    c.run("admin-describe", async {
        until("partitions", async || {
            let m = admin.inner().fetch_metadata(Some(&topic), T)?;
            Ok(m.topics()[0].partitions().len() == 3)
        })
        .await
    })
    .await;
    c.run("admin-describe-configs", async {
        let d = admin
            .describe_configs([&ResourceSpecifier::Topic(&topic)], &opts)
            .await?;
        let v = d.into_iter().next().unwrap()?;
        let got = v
            .get("retention.ms")
            .and_then(|x: &ConfigEntry| x.value.clone());
        need(got.as_deref() == Some("604800000"), format!("{got:?}"))
    })
    .await;
    c.run("admin-alter-configs", async {
        let entries = HashMap::from([("retention.ms", "3600000")]);
        let alter = AlterConfig {
            specifier: ResourceSpecifier::Topic(&topic),
            entries,
        };
        for r in admin.alter_configs(&[alter], &opts).await? {
            r.map_err(|(_, code)| code)?;
        }
        until("retention.ms", async || {
            let d = admin
                .describe_configs([&ResourceSpecifier::Topic(&topic)], &opts)
                .await?;
            let v = d.into_iter().next().unwrap()?;
            let got = v
                .get("retention.ms")
                .and_then(|x: &ConfigEntry| x.value.clone());
            Ok(got.as_deref() == Some("3600000"))
        })
        .await
    })
    .await;
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        c.run(
            &format!("produce-{codec}"),
            e.produce(&topic, 3, &[("compression.type", codec)]),
        )
        .await;
    }
    c.run(
        "produce-idempotent",
        e.produce(&gtopic, 4, &[("enable.idempotence", "true")]),
    )
    .await;
    c.run("consume", async {
        let k: StreamConsumer = e
            .conf(&[
                ("group.id", "interop-assign"), // librdkafka wants the name, nothing is committed under it
                ("enable.auto.commit", "false"),
                ("auto.offset.reset", "earliest"),
            ])
            .create()?;
        let mut tpl = TopicPartitionList::new();
        for p in 0..3 {
            tpl.add_partition_offset(&topic, p, Offset::Beginning)?;
        }
        k.assign(&tpl)?;
        let got = Env::read(&k, 5 * N, T).await;
        need(got.len() == 5 * N, format!("{} records", got.len()))?;
        need(got[0].headers().map(|h| h.count()) == Some(1), "headers")
    })
    .await;
    for proto in ["classic", "consumer"] {
        let gid = c.name(&format!("group-{proto}"));
        c.run(
            &format!("group-commit-{proto}"),
            e.group(&gtopic, &gid, proto),
        )
        .await;
    }
    let (txid, read_id) = (c.name("txn"), c.name("iso"));
    c.run("txn-commit-abort", async {
        let p: FutureProducer = e.conf(&[("transactional.id", &txid)]).create()?;
        p.init_transactions(T)?;
        for commit in [false, true] {
            p.begin_transaction()?;
            for _ in 0..10 {
                let r = FutureRecord::<(), _>::to(&ttopic).payload("x");
                p.send(r, T).await.map_err(|(e, _)| e)?;
            }
            if commit {
                p.commit_transaction(T)?
            } else {
                p.abort_transaction(T)?
            }
        }
        for (iso, want) in [("read_committed", 10), ("read_uncommitted", 20)] {
            let kv = [("group.id", read_id.as_str()), ("isolation.level", iso)];
            let k: StreamConsumer = e.conf(&kv).create()?;
            let mut tpl = TopicPartitionList::new();
            tpl.add_partition_offset(&ttopic, 0, Offset::Beginning)?;
            k.assign(&tpl)?;
            let got = Env::read(&k, want + 1, Duration::from_secs(4)).await;
            need(
                got.len() == want,
                format!("{iso}: {} records, want {want}", got.len()),
            )?;
        }
        Ok(())
    })
    .await;
    c.run("admin-partitions", async {
        for r in admin
            .create_partitions(&[NewPartitions::new(&gtopic, 5)], &opts)
            .await?
        {
            r.map_err(|(t, code)| format!("{t}: {code}"))?;
        }
        Ok(())
    })
    .await;
    c.run("admin-delete", async {
        for r in admin
            .delete_topics(&[&topic, &gtopic, &ttopic], &opts)
            .await?
        {
            r.map_err(|(t, code)| format!("{t}: {code}"))?;
        }
        Ok(())
    })
    .await;
    c.done()
}
