use aiperf_sdk::{Batch, ColumnRef, Exporter, Validity};

use super::{imported, open};

fn texts() -> Box<dyn Exporter> {
    imported().exporter(open("texts", "")).expect("the exporter")
}

#[test]
fn needs_cross() {
    let needs = texts().begin("start_ns metrics.*").expect("needs");
    assert_eq!(needs.columns, ["start_ns", "metrics.*"]);
    assert_eq!(needs.files, ["texts/all.txt"]);
    assert_eq!(needs.tables.len(), 1);
    assert_eq!(
        (needs.tables[0].table.as_str(), needs.tables[0].columns.len()),
        ("gpu", 2)
    );
}

#[test]
fn every_kind_of_column_crosses() {
    let mask = [1, 0, 1];
    let some = Validity::Mask(&mask);
    let columns = [
        ColumnRef::U64(&[u64::MAX, 1, 2], some),
        ColumnRef::F64(&[0.5, f64::MIN_POSITIVE, -0.0], Validity::All),
        ColumnRef::Text(&[2, 2, 5], "é→", some),
        ColumnRef::U64List(&[0, 1, 3], &[7, 8, 9], Validity::All),
        ColumnRef::F64List(&[1, 1, 1], &[1.5], some),
        ColumnRef::Missing,
    ];
    let batch = Batch {
        len: 3,
        columns: &columns,
    };
    let outputs = texts().write(&batch).expect("outputs");
    assert_eq!(outputs.len(), 1);
    let (file, order, append) = (outputs[0].file.as_str(), outputs[0].order, outputs[0].append);
    assert_eq!((file, order, append), ("texts/all.txt", -3, true));
    let text = String::from_utf8(outputs[0].data.clone()).expect("text");
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "18446744073709551615;0.5;é;[];[1.5];missing",
            "-;2.2250738585072014e-308;-;[7];-;missing",
            "2;-0.0;→;[8, 9];[];missing",
        ]
    );
}

#[test]
fn a_report_of_a_megabyte_crosses() {
    let report = "ü".repeat(1 << 19);
    let outputs = texts().finish(&report).expect("outputs");
    assert_eq!(
        (outputs[0].file.as_str(), outputs[0].data.as_slice()),
        ("", report.as_bytes())
    );
}

#[test]
fn tables_besides_the_requests_keep_their_name() {
    let columns = [
        ColumnRef::Text(&[5], "power", Validity::All),
        ColumnRef::F64(&[250.5], Validity::All),
    ];
    let batch = Batch {
        len: 1,
        columns: &columns,
    };
    let outputs = texts().write_table("gpu", &batch).expect("outputs");
    assert_eq!(
        (outputs[0].file.as_str(), outputs[0].data.as_slice()),
        ("texts/gpu.txt", b"power;250.5".as_slice())
    );
}
