//! A plugin library for the tests of the native loader: one endpoint that echoes, and one that panics on demand.

use aiperf_plugin_api::abi::{self, LibHeader};
use aiperf_plugin_api::endpoint::EndpointDescription;
use aiperf_plugin_api::package::Open;
use aiperf_plugin_api::{
    Category, Decoded, Endpoint, Entry, Exchange, HttpRequest, Package, PluginError, RequestInfo, Result, VersionRecord,
};

struct Fixture;

impl Package for Fixture {
    const NAME: &'static str = "fixture";
    const VERSION: &'static str = "1.2.3";

    fn entries() -> Vec<Entry> {
        vec![
            Entry::new(Category::Endpoint, "echo"),
            Entry::new(Category::Endpoint, "fragile"),
        ]
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        match open.entry.as_str() {
            "echo" | "fragile" => {
                open.core::<std::collections::BTreeMap<String, String>>()?;
                let Options { repeat: _ } = open.options()?;
                Ok(Box::new(Echo {
                    fragile: open.entry == "fragile",
                }))
            }
            _ => Err(open.unknown()),
        }
    }
}

#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    repeat: u8,
}

struct Echo {
    fragile: bool,
}

impl Endpoint for Echo {
    fn describe(&self) -> Result<EndpointDescription> {
        Err(PluginError::unsupported("describe"))
    }

    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        assert!(!self.fragile, "fragile things break");
        Ok(HttpRequest::post(request.model.into_bytes()))
    }

    fn decode(&self, _: &[Exchange<'_>]) -> Result<Decoded> {
        Err(PluginError::input("nothing to decode"))
    }
}

#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__aiperf"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".aiperf"))]
static RECORD: VersionRecord = VersionRecord::new(Fixture::NAME, Fixture::VERSION, 1);

/// The entrance, under the name that the host looks for.
#[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
static HEADER: LibHeader = abi::header::<Fixture>();
