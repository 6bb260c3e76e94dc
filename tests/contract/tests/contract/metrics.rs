use aiperf_records::curve::CurveBuilder;
use aiperf_sdk::{
    Batch, Column, ColumnRef, Metric, MetricKind, Validity, fields,
    metric::{Population, Total, Window},
};

use super::{imported, open};

fn metric(entry: &str) -> Box<dyn Metric> {
    imported().metric(open(entry, "")).expect("the metric")
}

#[test]
fn a_family_describes_itself() {
    let family = metric("chunk_gaps").describe().expect("a family");
    assert_eq!(family.needs, [fields::CONTENT]);
    assert_eq!(family.derive_needs, ["chunk_gaps"]);
    let kinds: Vec<_> = family
        .metrics
        .iter()
        .map(|spec| (spec.tag.as_str(), spec.kind))
        .collect();
    assert_eq!(
        kinds,
        [("chunk_gaps", MetricKind::List), ("gap_share", MetricKind::Derived)]
    );
    assert_eq!(
        (family.metrics[0].population, family.metrics[0].order),
        (Population::All, Some(7))
    );
}

#[test]
fn a_list_metric_gives_a_list_per_record() {
    // Arrivals at 10, 30, 35; at 7; none.
    let column = ColumnRef::U64List(&[3, 4, 4], &[10, 30, 35, 7], Validity::All);
    let batch = Batch {
        len: 3,
        columns: &[column],
    };
    let columns = metric("chunk_gaps").record(&batch).expect("columns");
    let expected = Column::U64List {
        ends: vec![2, 2, 2],
        values: vec![20, 5],
        validity: vec![1, 0, 0],
    };
    assert_eq!(columns, [expected]);
    assert_eq!(columns[0].check(3), Ok(()));
}

#[test]
fn results_do_not_depend_on_the_cut_into_batches() {
    let metric = metric("chunk_gaps");
    let whole = ColumnRef::U64List(&[2, 5], &[1, 4, 10, 11, 13], Validity::All);
    let (first, second) = (
        ColumnRef::U64List(&[2], &[1, 4], Validity::All),
        ColumnRef::U64List(&[3], &[10, 11, 13], Validity::All),
    );
    let lists = |len, column: ColumnRef<'_>| {
        let batch = Batch {
            len,
            columns: &[column],
        };
        let columns = metric.record(&batch).expect("columns");
        let column = columns[0].borrow().expect("a list");
        (0..len)
            .map(|i| column.u64_list(i).map(<[u64]>::to_vec))
            .collect::<Vec<_>>()
    };
    assert_eq!(lists(2, whole), [lists(1, first), lists(1, second)].concat());
}

#[test]
fn derived_values_may_be_missing() {
    let window = |duration_ns, sum| Window {
        start_ns: 0,
        end_ns: 100,
        duration_ns,
        valid: 2,
        errors: 0,
        totals: vec![Total {
            count: 2,
            sum,
            ..Total::default()
        }],
        facts: "{}".to_owned(),
    };
    let metric = metric("chunk_gaps");
    assert_eq!(
        metric.derive(&window(Some(100), Some(25.0))).expect("values"),
        [Some(0.25)]
    );
    assert_eq!(metric.derive(&window(None, Some(25.0))).expect("values"), [None]);
    assert_eq!(metric.derive(&window(Some(100), None)).expect("values"), [None]);
}

#[test]
fn curves_cross_and_are_weighted_by_time() {
    // Record 0: sent at wall 1000, over after 40 ns; content after 10, 20 and 40 ns.
    // Record 1: sent at wall 1020, over after 60 ns; one content response.
    let columns = [
        ColumnRef::U64(&[1_000, 1_020], Validity::All),
        ColumnRef::U64(&[500, 520], Validity::All),
        ColumnRef::U64(&[540, 580], Validity::All),
        ColumnRef::U64List(&[3, 4], &[510, 520, 540, 580], Validity::All),
    ];
    let batch = Batch {
        len: 2,
        columns: &columns,
    };
    let columns = metric("busy").record(&batch).expect("columns");
    assert!(columns.iter().all(|column| column.check(2).is_ok()));
    let (mut busy, mut flow) = (CurveBuilder::new(), CurveBuilder::new());
    let Column::Intervals { from, to, weight, .. } = &columns[0] else {
        panic!("intervals");
    };
    for i in 0..2 {
        busy.interval(from[i], to[i], weight[i]);
    }
    let Column::Steps {
        from,
        ends,
        gaps,
        weight,
        validity,
    } = &columns[1]
    else {
        panic!("steps");
    };
    assert_eq!(
        (ends.as_slice(), gaps.as_slice(), validity.as_slice()),
        ([2, 2].as_slice(), [10, 20].as_slice(), [1, 0].as_slice())
    );
    flow.rates(from[0], gaps[..ends[0] as usize].iter().copied(), weight[0]);

    let window = aiperf_records::window::Window {
        start_ns: 1_000,
        end_ns: 1_100,
    };
    // Busy: 1 for 20 ns, 2 for 20 ns, 1 for 40 ns, 0 for 20 ns of 100.
    let statistics = busy.build().statistics(window).expect("statistics");
    assert_eq!(
        (statistics.avg, statistics.min, statistics.max),
        (Some(1.0), Some(0.0), Some(2.0))
    );
    // Flow: 1/10 per ns from 1010 to 1020, 1/20 per ns until 1040: 2 tokens in 100 ns.
    let statistics = flow.build().statistics(window).expect("statistics");
    let near = |value: Option<f64>, expected: f64| value.is_some_and(|value| (value - expected).abs() < 1e-15);
    assert!(
        near(statistics.avg, 0.02) && near(statistics.max, 0.1),
        "{statistics:?}"
    );
}
