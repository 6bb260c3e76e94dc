//! Records as the core provides them: columns by name, for metrics and exporters.

use aiperf_sdk::{Batch, ColumnRef, Validity, fields};

use crate::{random::Random, text};

/// What records are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A run in which one request in eight fails and one value in eight is unknown.
    Usual,
    /// Every request failed.
    Errors,
    /// Numbers at their limits, times in any order.
    Extreme,
    /// Texts that break what was not thought through.
    OddTexts,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    U64,
    F64,
    Text,
    U64List,
}

const F64S: &[&str] = &[fields::USAGE_PROMPT_AUDIO_SECONDS];
const LISTS: &[&str] = &[fields::CONTENT];
const TEXTS: &[&str] = &[
    fields::REQUEST_ID,
    fields::CORRELATION_ID,
    fields::CONVERSATION_ID,
    fields::MODEL,
    fields::WORKER_ID,
    fields::RECORD_PROCESSOR_ID,
    fields::PHASE_NAME,
    fields::PHASE_KIND,
    fields::ERROR_TYPE,
    fields::ERROR_MESSAGE,
    fields::REQUEST_BODY,
    fields::REQUEST_HEADERS,
    fields::RESPONSE_EVENTS,
    fields::HTTP_TRACE,
    fields::OUTPUT_TEXT,
    fields::REASONING_TEXT,
];

/// Texts that are JSON, whatever the run is like.
const JSON: &[&str] = &[fields::REQUEST_HEADERS, fields::RESPONSE_EVENTS, fields::HTTP_TRACE];

/// The type of the column of a name, as its documentation in [`fields`] says. Facts are reals, labels texts, and the metrics
/// of other families are taken for reals.
pub(crate) fn type_of(name: &str) -> Type {
    if TEXTS.contains(&name) || name.starts_with("labels.") {
        Type::Text
    } else if LISTS.contains(&name) {
        Type::U64List
    } else if fields::ALL.contains(&name) && !F64S.contains(&name) {
        Type::U64
    } else {
        Type::F64
    }
}

/// Values of a column, one place per record, whether it is valid or not.
#[derive(Debug, Clone, PartialEq)]
enum Data {
    U64(Vec<u64>),
    F64(Vec<f64>),
    Text(Vec<String>),
    U64List(Vec<Vec<u64>>),
}

/// A column; how it crosses is made when it is needed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filled {
    data: Data,
    valid: Vec<bool>,
}

/// Records in columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) len: usize,
    pub(crate) columns: Vec<Filled>,
}

impl Table {
    /// So many records with columns of these names and types.
    pub(crate) fn new(columns: &[(String, Type)], len: usize, style: Style, random: &mut Random) -> Self {
        let mut table = Self {
            len,
            columns: columns
                .iter()
                .map(|(_, kind)| Filled {
                    data: match kind {
                        Type::U64 => Data::U64(Vec::new()),
                        Type::F64 => Data::F64(Vec::new()),
                        Type::Text => Data::Text(Vec::new()),
                        Type::U64List => Data::U64List(Vec::new()),
                    },
                    valid: Vec::new(),
                })
                .collect(),
        };
        for row in 0..len {
            let record = Record::new(row, style, random);
            for ((name, _), column) in columns.iter().zip(&mut table.columns) {
                column.push(&record, name, random);
            }
        }
        table
    }

    /// Columns of these names.
    pub(crate) fn named(names: &[String], len: usize, style: Style, random: &mut Random) -> Self {
        let columns: Vec<_> = names.iter().map(|name| (name.clone(), type_of(name))).collect();
        Self::new(&columns, len, style, random)
    }

    /// Some of the records.
    pub(crate) fn rows(&self, from: usize, to: usize) -> Self {
        let to = to.min(self.len);
        Self {
            len: to - from,
            columns: self.columns.iter().map(|column| column.rows(from, to)).collect(),
        }
    }

    /// The same records, with other values where none is valid.
    pub(crate) fn garbled(&self, random: &mut Random) -> Self {
        let mut other = self.clone();
        for column in &mut other.columns {
            column.garble(random);
        }
        other
    }

    /// The same records, none of whose values is valid, but for the columns `keep`.
    pub(crate) fn unknown(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut other = self.clone();
        for (index, column) in other.columns.iter_mut().enumerate() {
            if !keep(index) {
                column.valid.fill(false);
            }
        }
        other
    }

    /// Gives the records to a call, as the core does.
    pub(crate) fn with_batch<T>(&self, call: impl FnOnce(&Batch<'_>) -> T) -> T {
        let joined: Vec<Joined> = self.columns.iter().map(Filled::join).collect();
        let columns: Vec<ColumnRef<'_>> = joined.iter().map(Joined::borrow).collect();
        call(&Batch {
            len: self.len,
            columns: &columns,
        })
    }

    /// Gives the records to a call, with columns that the core does not know.
    pub(crate) fn with_missing<T>(&self, missing: impl Fn(usize) -> bool, call: impl FnOnce(&Batch<'_>) -> T) -> T {
        let joined: Vec<Joined> = self.columns.iter().map(Filled::join).collect();
        let columns: Vec<ColumnRef<'_>> = joined
            .iter()
            .enumerate()
            .map(|(index, column)| {
                if missing(index) {
                    ColumnRef::Missing
                } else {
                    column.borrow()
                }
            })
            .collect();
        call(&Batch {
            len: self.len,
            columns: &columns,
        })
    }
}

impl Filled {
    fn rows(&self, from: usize, to: usize) -> Self {
        let data = match &self.data {
            Data::U64(values) => Data::U64(values[from..to].to_vec()),
            Data::F64(values) => Data::F64(values[from..to].to_vec()),
            Data::Text(values) => Data::Text(values[from..to].to_vec()),
            Data::U64List(values) => Data::U64List(values[from..to].to_vec()),
        };
        Self {
            data,
            valid: self.valid[from..to].to_vec(),
        }
    }

    fn garble(&mut self, random: &mut Random) {
        for row in 0..self.valid.len() {
            if self.valid[row] {
                continue;
            }
            match &mut self.data {
                Data::U64(values) => values[row] = random.next(),
                Data::F64(values) => values[row] = [f64::NAN, f64::INFINITY, -1.0][random.below(3) as usize],
                Data::Text(values) => values[row] = format!("garbage {}", random.next()),
                Data::U64List(values) => values[row] = (0..random.below(5)).map(|_| random.next()).collect(),
            }
        }
    }

    fn push(&mut self, record: &Record, name: &str, random: &mut Random) {
        let value = record.value(name, random);
        self.valid.push(value.is_some());
        match (&mut self.data, value) {
            (Data::U64(values), value) => values.push(match value {
                Some(Value::U64(value)) => value,
                Some(Value::F64(value)) => value as u64,
                _ => 0,
            }),
            (Data::F64(values), value) => values.push(match value {
                Some(Value::F64(value)) => value,
                Some(Value::U64(value)) => value as f64,
                _ => 0.0,
            }),
            (Data::Text(values), value) => values.push(match value {
                Some(Value::Text(text)) => text,
                _ => String::new(),
            }),
            (Data::U64List(values), value) => values.push(match value {
                Some(Value::U64List(list)) => list,
                Some(Value::F64(value)) => vec![value as u64; record.row % 3],
                _ => Vec::new(),
            }),
        }
    }

    fn join(&self) -> Joined {
        let mask = if self.valid.iter().all(|&valid| valid) {
            Vec::new()
        } else {
            self.valid.iter().map(|&valid| u8::from(valid)).collect()
        };
        let mut joined = Joined {
            kind: Type::U64,
            u64s: Vec::new(),
            f64s: Vec::new(),
            text: String::new(),
            ends: Vec::new(),
            mask,
        };
        match &self.data {
            Data::U64(values) => joined.u64s.clone_from(values),
            Data::F64(values) => {
                joined.kind = Type::F64;
                joined.f64s.clone_from(values);
            }
            Data::Text(values) => {
                joined.kind = Type::Text;
                for value in values {
                    joined.text.push_str(value);
                    joined.ends.push(joined.text.len() as u32);
                }
            }
            Data::U64List(values) => {
                joined.kind = Type::U64List;
                for value in values {
                    joined.u64s.extend(value);
                    joined.ends.push(joined.u64s.len() as u32);
                }
            }
        }
        joined
    }
}

/// A column as it lies in memory when it crosses.
struct Joined {
    kind: Type,
    u64s: Vec<u64>,
    f64s: Vec<f64>,
    text: String,
    ends: Vec<u32>,
    mask: Vec<u8>,
}

impl Joined {
    fn borrow(&self) -> ColumnRef<'_> {
        let validity = if self.mask.is_empty() {
            Validity::All
        } else {
            Validity::Mask(&self.mask)
        };
        match self.kind {
            Type::U64 => ColumnRef::U64(&self.u64s, validity),
            Type::F64 => ColumnRef::F64(&self.f64s, validity),
            Type::Text => ColumnRef::Text(&self.ends, &self.text, validity),
            Type::U64List => ColumnRef::U64List(&self.ends, &self.u64s, validity),
        }
    }
}

enum Value {
    U64(u64),
    F64(f64),
    Text(String),
    U64List(Vec<u64>),
}

/// What one request was like; the columns are views of it.
struct Record {
    row: usize,
    style: Style,
    valid: bool,
    start_ns: u64,
    content_ns: Vec<u64>,
}

impl Record {
    fn new(row: usize, style: Style, random: &mut Random) -> Self {
        let valid = match style {
            Style::Errors => false,
            _ => random.below(8) != 0,
        };
        let start_ns = 1_000_000_000 + row as u64 * 3_000_000 + random.below(1_000_000);
        let mut at_ns = start_ns + 20_000_000;
        let count = if valid { 1 + random.below(6) } else { 0 };
        let content_ns = (0..count)
            .map(|_| {
                at_ns += 1_000_000 + random.below(9_000_000);
                at_ns
            })
            .collect();
        Self {
            row,
            style,
            valid,
            start_ns,
            content_ns,
        }
    }

    fn value(&self, name: &str, random: &mut Random) -> Option<Value> {
        // Drawn for every column, so that one column never moves the values of another.
        let (drawn, unknown) = (random.next(), random.below(8) == 0);
        let kind = type_of(name);
        match self.style {
            Style::Extreme if kind != Type::Text => return self.extreme(name, kind, drawn, unknown),
            Style::OddTexts if kind == Type::Text && !JSON.contains(&name) => {
                let odd = text::ODD[drawn as usize % text::ODD.len()];
                let long = if drawn % 64 == 0 {
                    "long ".repeat(20_000)
                } else {
                    String::new()
                };
                return Some(Value::Text(format!("{odd}{long}")));
            }
            _ => {}
        }
        const WALL: u64 = 1_767_225_600_000_000_000;
        let first = self.content_ns.first().copied();
        let last = self.content_ns.last().copied().unwrap_or(self.start_ns + 5_000_000);
        Some(match name {
            fields::VALID => Value::U64(u64::from(self.valid)),
            fields::START | fields::INTENDED | fields::CREDIT => Value::U64(self.start_ns),
            fields::CREDIT_RECEIVED => Value::U64(self.start_ns - 30_000),
            fields::START_WALL => Value::U64(WALL + self.start_ns),
            fields::END => Value::U64(last),
            fields::ACK => Value::U64(first? - 1_000_000),
            fields::CONTENT => Value::U64List(self.content_ns.clone()),
            fields::FIRST_OUTPUT => Value::U64(first?),
            fields::STATUS => Value::U64(if self.valid { 200 } else { 503 }),
            fields::SESSION_NUM => Value::U64(self.row as u64),
            fields::TURN_INDEX | fields::PHASE_INDEX | fields::PROFILING_INDEX => Value::U64(0),
            fields::CANCELLED => Value::U64(0),
            fields::CANCELLED_WALL => return None,
            fields::ERROR_CODE if !self.valid => Value::U64(503),
            fields::ERROR_TYPE if !self.valid => Value::Text("Service Unavailable".to_owned()),
            fields::ERROR_MESSAGE if !self.valid => Value::Text("the server is busy".to_owned()),
            fields::ERROR_CODE | fields::ERROR_TYPE | fields::ERROR_MESSAGE => return None,
            fields::REQUEST_BODY | fields::REQUEST_HEADERS | fields::HTTP_TRACE => {
                Value::Text(r#"{"a":"b"}"#.to_owned())
            }
            fields::RESPONSE_EVENTS => Value::Text("[]".to_owned()),
            fields::PHASE_KIND | fields::PHASE_NAME => Value::Text("profiling".to_owned()),
            _ if unknown => return None,
            _ => match kind {
                Type::U64 => Value::U64(1 + drawn % 500),
                Type::F64 => Value::F64((drawn % 1_000_000) as f64 / 64.0),
                Type::Text => Value::Text(format!("{name}-{}", drawn % 10)),
                Type::U64List => Value::U64List(self.content_ns.clone()),
            },
        })
    }

    fn extreme(&self, name: &str, kind: Type, drawn: u64, unknown: bool) -> Option<Value> {
        const NUMBERS: [u64; 6] = [0, 1, u64::MAX, u64::MAX - 1, 1 << 53, 1 << 63];
        let number = |n: u64| NUMBERS[(n % NUMBERS.len() as u64) as usize];
        if name == fields::VALID {
            return Some(Value::U64(u64::from(self.valid)));
        }
        if unknown {
            return None;
        }
        Some(match kind {
            Type::U64 => Value::U64(number(drawn)),
            Type::F64 => Value::F64([0.0, -0.0, 1e308, -1e308, 5e-324][(drawn % 5) as usize]),
            Type::Text => return None,
            Type::U64List => Value::U64List((0..drawn % 9).map(|i| number(drawn / 7 + i * i)).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(style: Style) -> Table {
        let mut names: Vec<String> = fields::ALL.iter().map(|&name| name.to_owned()).collect();
        names.push("facts.x".to_owned());
        names.push("labels.y".to_owned());
        Table::named(&names, 200, style, &mut Random::of(1, "records"))
    }

    fn index(name: &str) -> usize {
        fields::ALL.iter().position(|&field| field == name).unwrap()
    }

    #[test]
    fn usual_records_are_consistent() {
        table(Style::Usual).with_batch(|batch| {
            let column = |name| batch.column(index(name));
            let mut errors = 0;
            for i in 0..batch.len {
                let (start, end) = (
                    column(fields::START).u64(i).unwrap(),
                    column(fields::END).u64(i).unwrap(),
                );
                assert!(start < end);
                let content = column(fields::CONTENT).u64_list(i).unwrap();
                assert!(content.is_sorted());
                let valid = column(fields::VALID).u64(i) == Some(1);
                assert_eq!(valid, !content.is_empty());
                assert_eq!(valid, column(fields::ERROR_MESSAGE).text(i).is_none());
                errors += usize::from(!valid);
            }
            assert!((5..60).contains(&errors), "{errors}");
        });
    }

    #[test]
    fn a_slice_has_the_same_records() {
        let table = table(Style::Usual);
        let (whole, part) = (table.clone(), table.rows(50, 60));
        whole.with_batch(|whole| {
            part.with_batch(|part| {
                assert_eq!(part.len, 10);
                for i in 0..10 {
                    for column in 0..part.columns.len() {
                        let (a, b) = (whole.column(column), part.column(column));
                        assert_eq!(a.u64(50 + i), b.u64(i));
                        assert_eq!(a.f64(50 + i), b.f64(i));
                        assert_eq!(a.text(50 + i), b.text(i));
                        assert_eq!(a.u64_list(50 + i), b.u64_list(i));
                    }
                }
            });
        });
    }

    #[test]
    fn garbage_lies_only_where_nothing_is_valid() {
        let table = table(Style::Usual);
        let garbled = table.garbled(&mut Random::of(2, "garbage"));
        assert_ne!(table, garbled);
        table.with_batch(|one| {
            garbled.with_batch(|two| {
                for column in 0..one.columns.len() {
                    for i in 0..one.len {
                        assert_eq!(one.column(column).u64(i), two.column(column).u64(i));
                        assert_eq!(one.column(column).text(i), two.column(column).text(i));
                        assert_eq!(one.column(column).u64_list(i), two.column(column).u64_list(i));
                    }
                }
            });
        });
        let unknown = table.unknown(|_| false);
        unknown.with_batch(|batch| assert_eq!(batch.column(index(fields::START)).u64(0), None));
    }
}
