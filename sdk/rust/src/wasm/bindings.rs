//! Types and calls generated from `plugin-api/wit`: the services, and a module for each interface that a package may export.
#![allow(
    missing_docs,
    unsafe_code,
    clippy::all,
    reason = "generated; documented in plugin-api/wit"
)]

/// Data and services, shared by all interfaces.
pub mod services {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world services {
                import aiperf:plugin/types@1.0.0;
                import aiperf:plugin/host@1.0.0;
                import aiperf:plugin/http@1.0.0;
                import aiperf:plugin/secrets@1.0.0;
                import aiperf:plugin/source@1.0.0;
            }
        "#,
        generate_all,
        generate_unused_types: true,
    });
}

pub use services::aiperf::plugin::{host, http, secrets, source, types};

pub mod manifest {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world manifest {
                export aiperf:plugin/manifest@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_manifest",
        default_bindings_module: "aiperf_sdk::wasm::bindings::manifest",
    });

    pub use exports::aiperf::plugin::manifest::*;
}

pub mod endpoint {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world endpoint {
                export aiperf:plugin/endpoint@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_endpoint",
        default_bindings_module: "aiperf_sdk::wasm::bindings::endpoint",
    });

    pub use exports::aiperf::plugin::endpoint::*;
}

pub mod dataset {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world dataset {
                export aiperf:plugin/dataset@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_dataset",
        default_bindings_module: "aiperf_sdk::wasm::bindings::dataset",
    });

    pub use exports::aiperf::plugin::dataset::*;
}

pub mod timing {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world timing {
                export aiperf:plugin/timing@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_timing",
        default_bindings_module: "aiperf_sdk::wasm::bindings::timing",
    });

    pub use exports::aiperf::plugin::timing::*;
}

pub mod metric {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world metric {
                export aiperf:plugin/metric@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_metric",
        default_bindings_module: "aiperf_sdk::wasm::bindings::metric",
    });

    pub use exports::aiperf::plugin::metric::*;
}

pub mod exporter {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world exporter {
                export aiperf:plugin/exporter@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_exporter",
        default_bindings_module: "aiperf_sdk::wasm::bindings::exporter",
    });

    pub use exports::aiperf::plugin::exporter::*;
}

pub mod gpu_collector {
    wit_bindgen::generate!({
        path: "../../plugin-api/wit",
        inline: r#"
            package aiperf:guest;
            world gpu-collector {
                export aiperf:plugin/gpu-collector@1.0.0;
            }
        "#,
        with: { "aiperf:plugin/types@1.0.0": super::types },
        pub_export_macro: true,
        export_macro_name: "export_gpu_collector",
        default_bindings_module: "aiperf_sdk::wasm::bindings::gpu_collector",
    });

    pub use exports::aiperf::plugin::gpu_collector::*;
}
