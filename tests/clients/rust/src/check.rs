//! The harness of the Rust clients: every feature prints one PASS, FAIL or SKIP line.
//! `THALWEG_SKIP_FEATURES` names, comma-separated, the features that are not run, and `THALWEG_FEATURE_SECONDS` how long
//! one feature may take (default 60).
use std::env;
use std::future::Future;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub type Res = Result<(), Box<dyn std::error::Error>>;

pub struct Check {
    client: &'static str,
    run: u128,
    skipped: Vec<String>,
    limit: Duration,
    failed: u32,
}

impl Check {
    pub fn new(client: &'static str) -> Self {
        let run = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_millis();
        Check {
            client,
            run,
            skipped: env::var("THALWEG_SKIP_FEATURES")
                .unwrap_or_default()
                .split(',')
                .map(String::from)
                .collect(),
            limit: Duration::from_secs_f64(
                env::var("THALWEG_FEATURE_SECONDS")
                    .ok()
                    .and_then(|s| s.parse().ok())
                    .unwrap_or(60.0),
            ),
            failed: 0,
        }
    }

    pub fn name(&self, what: &str) -> String {
        format!("interop-{}-{}-{:x}", self.client, what, self.run)
    }

    pub async fn run<F: Future<Output = Res>>(&mut self, feature: &str, f: F) {
        if self.skipped.iter().any(|s| s == feature) {
            println!("SKIP {} {} (expected failure)", self.client, feature);
            return;
        }
        let start = Instant::now();
        let err = match tokio::time::timeout(self.limit, f).await {
            Ok(Ok(())) => None,
            Ok(Err(e)) => Some(e.to_string()),
            Err(_) => Some(format!("no end after {} s", self.limit.as_secs_f64())),
        };
        match err {
            None => println!(
                "PASS {} {} {:.2}s",
                self.client,
                feature,
                start.elapsed().as_secs_f64()
            ),
            Some(e) => {
                self.failed += 1;
                println!("FAIL {} {}: {}", self.client, feature, e.replace('\n', " "));
            }
        }
    }

    pub fn done(self) -> ! {
        std::process::exit(i32::from(self.failed > 0))
    }
}

pub fn need(cond: bool, what: impl Into<String>) -> Res {
    if cond {
        Ok(())
    } else {
        Err(what.into().into())
    }
}

/// Tries `f` for up to ten seconds: a broker may answer from metadata that lags what it has just done.
pub async fn until<F: AsyncFnMut() -> Result<bool, Box<dyn std::error::Error>>>(
    what: &str,
    mut f: F,
) -> Res {
    for _ in 0..100 {
        if f().await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(what.into())
}
