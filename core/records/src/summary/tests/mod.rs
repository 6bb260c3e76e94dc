//! From batches of columns to results.

use std::sync::Arc;

use aiperf_plugin_api::{
    column::Column,
    metric::{MetricFamily, MetricKind, MetricSpec, Population, Total, flags},
};

use super::{MetricResult, Summary, Visibility};
use crate::{
    accumulator::{Budget, PhaseAccumulator, RecordOutcome},
    catalogue::Catalogue,
    composition::Composition,
    errors::ErrorDetails,
    precision::Precision,
    statistics::Statistics,
    testing::{family, spec},
    window::Window,
};

mod curves;

const WINDOW: Window = Window {
    start_ns: 0,
    end_ns: 4_000_000_000,
};

fn error() -> Option<ErrorDetails> {
    Some(ErrorDetails {
        code: Some(503),
        kind: None,
        message: "busy".to_owned(),
    })
}

/// Records that start at 0, 100, 200 …, the last `errors` of them failed.
fn records(valid: usize, errors: usize) -> Vec<RecordOutcome> {
    let record = |i: usize| RecordOutcome {
        start_ns: 100 * i as u64,
        end_ns: 100 * i as u64 + 50,
        error: if i < valid { None } else { error() },
    };
    (0..valid + errors).map(record).collect()
}

fn accumulator(
    families: Vec<MetricFamily>,
    compositions: Vec<Composition>,
    records: &[RecordOutcome],
    results: Vec<Vec<Column>>,
) -> PhaseAccumulator {
    let catalogue = Catalogue::new(families, compositions, |_, _| true).unwrap();
    let mut accumulator = PhaseAccumulator::new(Arc::new(catalogue), Budget::default());
    let results: Vec<_> = results.into_iter().map(Some).collect();
    accumulator.add(records, &results).unwrap();
    accumulator
}

fn find<'a>(results: &'a [MetricResult], tag: &str) -> Option<&'a MetricResult> {
    results.iter().find(|result| result.spec.tag == tag)
}

#[test]
fn twelve_successes_and_four_errors() {
    let latency = MetricSpec {
        display_unit: "ms".to_owned(),
        header: "Request Latency".to_owned(),
        group: "effective".to_owned(),
        order: Some(300),
        flags: flags::ERROR_ADJUSTED,
        ..spec("request_latency", "ns", MetricKind::Record)
    };
    let count = spec("request_count", "requests", MetricKind::Sum);
    let failed = MetricSpec {
        population: Population::Errors,
        ..spec("error_request_count", "requests", MetricKind::Sum)
    };
    // The plugin gives values for errors too; the population keeps them out.
    let values = Column::u64s((1..=16).map(|i| Some(i * 1_000_000)));
    let ones = || Column::u64s(vec![Some(1); 16]);
    let accumulator = accumulator(
        vec![family(vec![latency, count, failed])],
        Vec::new(),
        &records(12, 4),
        vec![vec![values, ones(), ones()]],
    );
    let results = accumulator.summary(WINDOW, None, Visibility::default()).results();
    let tags: Vec<_> = results.iter().map(|r| r.spec.tag.as_str()).collect();
    assert_eq!(
        tags,
        [
            "request_latency",
            "request_count",
            "error_request_count",
            "adj_request_latency"
        ]
    );
    assert_eq!(results[0].displayed().avg, Some(6.5));
    assert_eq!(results[0].statistics.count, Some(12));
    assert_eq!(results[1].statistics, Statistics::single(12.0));
    assert_eq!(results[2].statistics, Statistics::single(4.0));
    let twin = &results[3];
    assert_eq!(
        (twin.spec.header.as_str(), twin.spec.group.as_str(), twin.spec.order),
        ("Request Latency (error-adjusted)", "default", None)
    );
    let s = twin.displayed();
    assert_eq!(
        (s.count, s.min, s.p75, s.p90, s.avg),
        (Some(16), Some(1.0), Some(12.0), None, None)
    );
}

#[test]
fn a_clean_run_has_no_error_metrics_and_no_twins() {
    let latency = MetricSpec {
        flags: flags::ERROR_ADJUSTED,
        ..spec("request_latency", "ns", MetricKind::Record)
    };
    let failed = MetricSpec {
        population: Population::Errors,
        ..spec("error_request_count", "requests", MetricKind::Sum)
    };
    let results = accumulator(
        vec![family(vec![latency, failed])],
        Vec::new(),
        &records(2, 0),
        vec![vec![Column::u64s([Some(1), Some(2)]), Column::u64s([Some(1), Some(1)])]],
    )
    .summary(WINDOW, None, Visibility::default())
    .results();
    assert_eq!(results.len(), 1);
}

#[test]
fn each_kind_has_its_value() {
    let kinds = [
        ("sum", MetricKind::Sum, 9.0),
        ("min", MetricKind::Min, 2.0),
        ("max", MetricKind::Max, 4.0),
        ("mean", MetricKind::Record, 3.0),
    ];
    let metrics = kinds.iter().map(|&(tag, kind, _)| spec(tag, "tokens", kind)).collect();
    let column = || Column::u64s([Some(4), None, Some(2), Some(3)]);
    let summary = accumulator(
        vec![family(metrics)],
        Vec::new(),
        &records(4, 0),
        vec![(0..kinds.len()).map(|_| column()).collect()],
    )
    .summary(WINDOW, None, Visibility::default());
    for (tag, _, value) in kinds {
        let expected = Total {
            count: 3,
            sum: Some(9.0),
            min: Some(2.0),
            max: Some(4.0),
            value: Some(value),
        };
        assert_eq!(summary.total(tag), Some(&expected), "{tag}");
    }
    assert_eq!(summary.total("none"), None);
}

#[test]
fn lists_are_pooled() {
    let list = Column::U64List {
        ends: vec![2, 2, 3],
        values: vec![1, 2, 6],
        validity: vec![1, 1, 1],
    };
    let results = accumulator(
        vec![family(vec![spec("inter_chunk_latency", "ns", MetricKind::List)])],
        Vec::new(),
        &records(3, 0),
        vec![vec![list]],
    )
    .summary(WINDOW, None, Visibility::default())
    .results();
    assert_eq!(
        (results[0].statistics.count, results[0].statistics.avg),
        (Some(3), Some(3.0))
    );
    assert_eq!(results[0].precision, Some(Precision::Exact));
}

#[test]
fn derived_metrics_see_totals_and_are_seen_by_the_next() {
    let rate = spec("request_throughput", "requests/sec", MetricKind::Derived);
    let hidden = MetricSpec {
        flags: flags::INTERNAL,
        ..spec("debug", "ratio", MetricKind::Derived)
    };
    let families = vec![
        MetricFamily {
            derive_needs: vec!["request_throughput".to_owned(), "nowhere".to_owned()],
            ..family(vec![spec("per_watt", "requests/sec/W", MetricKind::Derived)])
        },
        MetricFamily {
            derive_needs: vec!["request_count".to_owned()],
            ..family(vec![spec("request_count", "requests", MetricKind::Sum), rate, hidden])
        },
    ];
    let accumulator = accumulator(
        families,
        Vec::new(),
        &records(2, 1),
        vec![vec![], vec![Column::u64s(vec![Some(1); 3])]],
    );
    let internal = Visibility {
        internal: true,
        experimental: false,
    };
    let mut summary = accumulator.summary(WINDOW, None, internal);
    assert_eq!(accumulator.catalogue().derive_order(), [1, 0]);

    let input = summary.derive_input(1, "{}".to_owned());
    assert_eq!(
        (input.valid, input.errors, input.duration_ns),
        (2, 1, Some(4_000_000_000))
    );
    assert_eq!((input.totals[0].value, input.facts.as_str()), (Some(2.0), "{}"));
    summary.set_derived(1, &[Some(0.5), Some(7.0)]).unwrap();

    let input = summary.derive_input(0, String::new());
    assert_eq!(
        input.totals,
        [
            Total {
                value: Some(0.5),
                ..Total::default()
            },
            Total::default()
        ]
    );
    for (given, message) in [
        (vec![], "`per_watt` derived 0 values instead of 1"),
        (vec![Some(f64::NAN)], "`per_watt` is not a finite number"),
    ] {
        assert!(
            summary
                .set_derived(0, &given)
                .unwrap_err()
                .to_string()
                .contains(message)
        );
    }
    summary.set_derived(0, &[None]).unwrap();

    let tags = |summary: &Summary| -> Vec<String> {
        let results = summary.results().into_iter();
        results.map(|result| result.spec.tag).collect()
    };
    assert_eq!(tags(&summary), ["request_count", "request_throughput", "debug"]);
    let mut summary = accumulator.summary(WINDOW, None, Visibility::default());
    summary.set_derived(1, &[Some(0.5), Some(7.0)]).unwrap();
    assert_eq!(tags(&summary), ["request_count", "request_throughput"]);
}

#[test]
fn without_a_duration_there_is_nothing_to_divide_by() {
    let accumulator = accumulator(Vec::new(), Vec::new(), &records(1, 0), Vec::new());
    let instant = Window { start_ns: 5, end_ns: 5 };
    assert_eq!(
        accumulator
            .summary(instant, None, Visibility::default())
            .derive_input(0, String::new())
            .duration_ns,
        None
    );
    // Two phases of the same kind lasted longer than this one's window.
    assert_eq!(
        accumulator
            .summary(instant, Some(9), Visibility::default())
            .derive_input(0, String::new())
            .duration_ns,
        Some(9)
    );
}

#[test]
fn a_slice_has_the_metrics_of_its_records() {
    let latency = MetricSpec {
        flags: flags::ERROR_ADJUSTED,
        ..spec("latency", "ns", MetricKind::Record)
    };
    let busy = MetricSpec {
        population: Population::All,
        ..spec("busy", "requests", MetricKind::Interval)
    };
    let columns = vec![
        Column::u64s([Some(10), Some(20), Some(30), None]),
        Column::Intervals {
            from: vec![0, 100, 200, 300],
            to: vec![50, 150, 250, 350],
            weight: vec![1.0; 4],
            validity: vec![],
        },
    ];
    let accumulator = accumulator(
        vec![family(vec![latency, busy])],
        Vec::new(),
        &records(3, 1),
        vec![columns],
    );
    let slices = accumulator.slices(200);
    let of = |slice: &crate::accumulator::Slice| {
        let summary = accumulator.slice_summary(slice, Visibility::default());
        let input = summary.derive_input(0, String::new());
        let results = summary.results();
        let get = |tag: &str| find(&results, tag).map(|result| result.statistics);
        (
            (input.valid, input.errors, input.duration_ns),
            get("latency").unwrap().sum,
            get("adj_latency").map(|s| s.count),
            get("busy").unwrap().avg,
        )
    };
    assert_eq!(of(&slices[0]), ((2, 0, Some(200)), Some(30.0), None, Some(0.5)));
    // Clipped to 350: busy from 200 to 250 and from 300 to 350.
    assert_eq!(
        of(&slices[1]),
        ((1, 1, Some(150)), Some(30.0), Some(Some(2)), Some(100.0 / 150.0))
    );
}

#[test]
fn results_do_not_depend_on_how_records_are_cut_into_batches() {
    let metrics = || {
        vec![
            spec("latency", "ns", MetricKind::Record),
            spec("count", "requests", MetricKind::Sum),
            spec("gaps", "ns", MetricKind::List),
        ]
    };
    let n = 23u64;
    let results = |batch: usize| {
        let catalogue = Catalogue::new(vec![family(metrics())], Vec::new(), |_, _| true).unwrap();
        let mut accumulator = PhaseAccumulator::new(Arc::new(catalogue), Budget::default());
        let numbers: Vec<u64> = (0..n).collect();
        for (some, records) in numbers.chunks(batch).zip(records(20, 3).chunks(batch)) {
            let latency = Column::f64s(some.iter().map(|&i| (i % 3 > 0).then_some(i as f64 * 1.5)));
            let count = Column::u64s(some.iter().map(|_| Some(1)));
            let ends = (1..=some.len() as u32).collect();
            let gaps = Column::U64List {
                ends,
                values: some.to_vec(),
                validity: vec![],
            };
            accumulator.add(records, &[Some(vec![latency, count, gaps])]).unwrap();
        }
        accumulator.summary(WINDOW, None, Visibility::default()).results()
    };
    let whole = results(23);
    assert_eq!(whole.len(), 3);
    for batch in [1, 4, 22] {
        assert_eq!(results(batch), whole);
    }
}

#[test]
fn a_family_may_derive_from_a_statistic() {
    let families = vec![MetricFamily {
        derive_needs: vec!["lag.p90".to_owned(), "lag.p91".to_owned(), "gone.p90".to_owned()],
        ..family(vec![
            spec("lag", "ns", MetricKind::Record),
            spec("worst", "ns", MetricKind::Derived),
        ])
    }];
    let values = Column::u64s((0..11).map(|i| Some(i * 10)));
    let accumulator = accumulator(families, Vec::new(), &records(11, 0), vec![vec![values]]);
    let input = accumulator
        .summary(WINDOW, None, Visibility::default())
        .derive_input(0, String::new());
    let values: Vec<_> = input.totals.iter().map(|total| total.value).collect();
    // Rank 0.9 · 10 = 9 of 0, 10, … 100.
    assert_eq!(values, [Some(90.0), None, None]);
}
