#[allow(dead_code)]
mod check;
use check::{need, until, Check};

use rskafka::client::partition::{Compression, OffsetAt, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::Record;
use std::collections::BTreeMap;
use std::time::Duration;

/// The client tries for ever where there is no broker.
async fn connect(boot: String) -> Result<Client, Box<dyn std::error::Error>> {
    let client = ClientBuilder::new(vec![boot]).build();
    Ok(tokio::time::timeout(Duration::from_secs(20), client).await??)
}

#[tokio::main]
async fn main() {
    let boot = std::env::args().nth(1).expect("bootstrap address");
    let mut c = Check::new("rskafka");
    let topic = c.name("t");
    let client = match connect(boot).await {
        Ok(v) => v,
        Err(e) => {
            c.run("connect", async { Err(e) }).await;
            c.done()
        }
    };
    let ctl = client.controller_client().expect("controller client");
    c.run("admin-create", async {
        Ok(ctl.create_topic(&topic, 1, 1, 10_000).await?)
    })
    .await;
    c.run("admin-describe", async {
        until("not listed", async || {
            let all = client.list_topics().await?;
            Ok(all
                .iter()
                .any(|t| t.name == topic && t.partitions.len() == 1))
        })
        .await
    })
    .await;
    let part = match client
        .partition_client(&topic, 0, UnknownTopicHandling::Retry)
        .await
    {
        Ok(v) => v,
        Err(e) => {
            c.run("leader", async { Err(e.into()) }).await;
            c.done()
        }
    };
    let codecs = [
        ("none", Compression::NoCompression),
        ("gzip", Compression::Gzip),
        ("snappy", Compression::Snappy),
        ("lz4", Compression::Lz4),
        ("zstd", Compression::Zstd),
    ];
    for (name, codec) in codecs {
        c.run(&format!("produce-{name}"), async {
            let rs = (0..100)
                .map(|i| Record {
                    key: Some(b"k".to_vec()),
                    value: Some(format!("{name}-{i}").repeat(10).into_bytes()),
                    headers: BTreeMap::from([("h".to_owned(), b"v".to_vec())]),
                    timestamp: chrono::DateTime::from_timestamp_millis(1_700_000_000_000 + i)
                        .unwrap(),
                })
                .collect();
            need(part.produce(rs, codec).await?.len() == 100, "offsets")
        })
        .await;
    }
    c.run("consume", async {
        let (mut at, mut got) = (0, 0);
        while got < 500 {
            let (rs, high) = part.fetch_records(at, 1..1_000_000, 1_000).await?;
            need(high == 500, format!("high watermark {high}"))?;
            let Some(last) = rs.last() else { break };
            at = last.offset + 1;
            got += rs.len();
        }
        need(got == 500, format!("{got} records"))
    })
    .await;
    c.run("offsets", async {
        need(part.get_offset(OffsetAt::Earliest).await? == 0, "earliest")?;
        need(part.get_offset(OffsetAt::Latest).await? == 500, "latest")
    })
    .await;
    c.run("admin-delete-records", async {
        Ok(part.delete_records(5, 10_000).await?)
    })
    .await;
    c.run("admin-delete", async {
        Ok(ctl.delete_topic(&topic, 10_000).await?)
    })
    .await;
    c.done()
}
