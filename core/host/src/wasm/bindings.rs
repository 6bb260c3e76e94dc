//! Types and calls generated from `plugin-api/wit`, and the way between them and the contract's own.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    reason = "generated; documented in plugin-api/wit"
)]

wasmtime::component::bindgen!({
    path: "../../plugin-api/wit",
    world: "every-category",
});

use aiperf::plugin::types;
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{ColumnRef, Exchange, Validity};

aiperf_plugin_api::carry_types!(types);

impl Carry<types::Open> for &aiperf_plugin_api::package::Open {
    fn carry(self) -> types::Open {
        types::Open {
            entry: self.entry.clone(),
            options: self.options.clone(),
            core: self.core.clone(),
        }
    }
}

impl Carry<types::Exchange> for &Exchange<'_> {
    fn carry(self) -> types::Exchange {
        types::Exchange {
            status: self.status,
            streamed: self.streamed,
            content_type: self.content_type.to_owned(),
            bytes: self.bytes.to_vec(),
            ends: self.ends.to_vec(),
        }
    }
}

impl Carry<types::ColumnRef> for &ColumnRef<'_> {
    fn carry(self) -> types::ColumnRef {
        fn mask(validity: &Validity<'_>) -> Vec<u8> {
            match validity {
                Validity::All => Vec::new(),
                Validity::Mask(mask) => mask.to_vec(),
            }
        }
        match self {
            ColumnRef::U64(values, validity) => types::ColumnRef::U64(types::Integers {
                values: values.to_vec(),
                validity: mask(validity),
            }),
            ColumnRef::F64(values, validity) => types::ColumnRef::F64(types::Reals {
                values: values.to_vec(),
                validity: mask(validity),
            }),
            ColumnRef::Text(ends, text, validity) => types::ColumnRef::Text(types::Texts {
                ends: ends.to_vec(),
                text: (*text).to_owned(),
                validity: mask(validity),
            }),
            ColumnRef::U64List(ends, values, validity) => types::ColumnRef::U64List(types::IntegerLists {
                ends: ends.to_vec(),
                values: values.to_vec(),
                validity: mask(validity),
            }),
            ColumnRef::F64List(ends, values, validity) => types::ColumnRef::F64List(types::RealLists {
                ends: ends.to_vec(),
                values: values.to_vec(),
                validity: mask(validity),
            }),
            ColumnRef::Missing => types::ColumnRef::Missing,
        }
    }
}
