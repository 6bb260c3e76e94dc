use aiperf_sdk::{ErrorKind, HttpAnswer, gpu::Poll};

use super::{imported, open};

fn scrape(status: u16, body: &str) -> Option<HttpAnswer> {
    Some(HttpAnswer {
        status,
        content_type: "text/plain".to_owned(),
        body: body.as_bytes().to_vec(),
    })
}

#[test]
fn a_scraper_asks_reads_and_waits() {
    let mut scraper = imported().gpu_collector(open("scraper", "")).expect("the collector");
    let Poll::Request(request) = scraper.poll(5, None).expect("a poll") else {
        panic!("it asks first");
    };
    assert_eq!(
        (request.method.as_str(), request.path.as_deref()),
        ("GET", Some("/metrics"))
    );
    let Poll::Readings(readings) = scraper
        .poll(9, scrape(200, "power 250.5\nenergy 1e6\nnoise"))
        .expect("a poll")
    else {
        panic!("it reads the answer");
    };
    let rows: Vec<(&str, f64, bool)> = readings
        .iter()
        .map(|reading| (reading.field.as_str(), reading.value, reading.counter))
        .collect();
    assert_eq!(rows, [("power", 250.5, false), ("energy", 1e6, true)]);
    assert_eq!(readings[0].labels, [("pod".to_owned(), "p0".to_owned())]);
    assert_eq!((readings[0].host.as_deref(), readings[0].gpu), (Some("node-a"), 1));
    // Due one second after it asked.
    assert_eq!(scraper.poll(400_000_005, None).expect("a poll"), Poll::Wait(600));
    assert!(matches!(
        scraper.poll(1_000_000_005, None).expect("a poll"),
        Poll::Request(_)
    ));
    let error = scraper
        .poll(1_000_000_006, scrape(0, "connection refused"))
        .expect_err("no answer");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Failed, "status 0: connection refused")
    );
}
