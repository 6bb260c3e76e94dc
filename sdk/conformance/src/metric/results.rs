//! Columns compared by what they say: what lies at a record without a value does not count.

use aiperf_sdk::Column;

/// What a column says about one record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// No value.
    None,
    U64(u64),
    F64(f64),
    U64s(Vec<u64>),
    F64s(Vec<f64>),
    Interval(u64, u64, f64),
    Steps(u64, Vec<u64>, f64),
}

/// The records of a column that has passed [`Column::check`].
pub(super) fn cells(column: &Column, len: usize) -> Vec<Cell> {
    (0..len).map(|row| cell(column, row)).collect()
}

fn cell(column: &Column, row: usize) -> Cell {
    let (Column::U64 { validity, .. }
    | Column::F64 { validity, .. }
    | Column::U64List { validity, .. }
    | Column::F64List { validity, .. }
    | Column::Intervals { validity, .. }
    | Column::Steps { validity, .. }) = column;
    if validity.get(row) == Some(&0) {
        return Cell::None;
    }
    match column {
        Column::U64 { values, .. } => Cell::U64(values[row]),
        Column::F64 { values, .. } => Cell::F64(values[row]),
        Column::U64List { ends, values, .. } => Cell::U64s(values[span(ends, row)].to_vec()),
        Column::F64List { ends, values, .. } => Cell::F64s(values[span(ends, row)].to_vec()),
        Column::Intervals { from, to, weight, .. } => Cell::Interval(from[row], to[row], weight[row]),
        Column::Steps {
            from,
            ends,
            gaps,
            weight,
            ..
        } => Cell::Steps(from[row], gaps[span(ends, row)].to_vec(), weight[row]),
    }
}

fn span(ends: &[u32], row: usize) -> std::ops::Range<usize> {
    let from = if row == 0 { 0 } else { ends[row - 1] as usize };
    from..ends[row] as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_value_or_none() {
        let column = Column::U64List {
            ends: vec![2, 2, 3],
            values: vec![7, 8, 9],
            validity: vec![1, 0, 1],
        };
        assert_eq!(
            cells(&column, 3),
            [Cell::U64s(vec![7, 8]), Cell::None, Cell::U64s(vec![9])]
        );
        let column = Column::F64 {
            values: vec![1.5],
            validity: Vec::new(),
        };
        assert_eq!(cells(&column, 1), [Cell::F64(1.5)]);
        let column = Column::Steps {
            from: vec![5, 6],
            ends: vec![1, 3],
            gaps: vec![10, 20, 30],
            weight: vec![1.0, 2.0],
            validity: Vec::new(),
        };
        assert_eq!(
            cells(&column, 2),
            [Cell::Steps(5, vec![10], 1.0), Cell::Steps(6, vec![20, 30], 2.0)]
        );
    }
}
