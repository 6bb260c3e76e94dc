//! The columns that a family reads, one record at a time.

use aiperf_sdk::{Batch, ColumnRef};

use crate::options::Options;

/// What a family's formulas see of one record.
pub(crate) trait Inputs: 'static {
    /// One record.
    type Row<'a>;
    /// Names of the columns, in order.
    const NEEDS: &'static [&'static str];
    /// Reads record `i`; the family's columns begin at `first`.
    fn read<'a>(batch: &Batch<'a>, first: usize, i: usize, options: &'a Options) -> Self::Row<'a>;
}

/// A family without columns of its own.
pub(crate) struct Nothing;

impl Inputs for Nothing {
    type Row<'a> = ();
    const NEEDS: &'static [&'static str] = &[];
    fn read<'a>(_: &Batch<'a>, _: usize, _: usize, _: &'a Options) {}
}

/// A value that a column can hold for a record.
pub(crate) trait Read<'a>: Sized {
    /// The value of record `i`; `None` where it is unknown.
    fn read(column: &ColumnRef<'a>, i: usize) -> Option<Self>;
}

impl Read<'_> for u64 {
    fn read(column: &ColumnRef<'_>, i: usize) -> Option<Self> {
        column.u64(i)
    }
}

impl Read<'_> for f64 {
    fn read(column: &ColumnRef<'_>, i: usize) -> Option<Self> {
        column.f64(i)
    }
}

impl<'a> Read<'a> for &'a str {
    fn read(column: &ColumnRef<'a>, i: usize) -> Option<Self> {
        column.text(i)
    }
}

impl<'a> Read<'a> for &'a [u64] {
    fn read(column: &ColumnRef<'a>, i: usize) -> Option<Self> {
        column.u64_list(i)
    }
}

/// Defines a family's inputs: the marker type, the row, and which column each field comes from. One list, so that names and
/// positions can't drift apart.
macro_rules! inputs {
    ($(#[$meta:meta])* $marker:ident => $row:ident<$life:lifetime> { $($field:ident: $ty:ty = $column:expr,)* }) => {
        $(#[$meta])*
        pub(crate) struct $marker;

        $(#[$meta])*
        pub(crate) struct $row<$life> {
            #[allow(dead_code, reason = "few families have formulas that depend on options")]
            pub(crate) options: &$life $crate::options::Options,
            $(pub(crate) $field: Option<$ty>,)*
        }

        impl $crate::inputs::Inputs for $marker {
            type Row<$life> = $row<$life>;
            const NEEDS: &'static [&'static str] = &[$($column),*];

            fn read<$life>(
                batch: &aiperf_sdk::Batch<$life>,
                first: usize,
                i: usize,
                options: &$life $crate::options::Options,
            ) -> $row<$life> {
                let mut columns = first..;
                let mut next = || batch.column(columns.next().unwrap_or(usize::MAX));
                $row {
                    options,
                    $($field: <$ty as $crate::inputs::Read<'_>>::read(&next(), i),)*
                }
            }
        }
    };
}
pub(crate) use inputs;
