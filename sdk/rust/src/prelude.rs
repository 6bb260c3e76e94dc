//! What nearly every plugin names: `use aiperf_sdk::prelude::*;`.
//!
//! The traits of the categories, what their calls take and give, and the package. Types that only one category needs and
//! whose names are common words stay in its module ([`timing::Action`](crate::timing::Action) is here,
//! [`gpu::Reading`](crate::gpu::Reading) is here, [`report::Stats`](crate::report::Stats) is not).

pub use crate::{
    Batch, Category, Column, ColumnRef, Conversation, Dataset, Decoded, Endpoint, Entry, Exchange, Exporter,
    GpuCollector, Host, HttpAnswer, HttpRequest, Media, Metric, MetricFamily, MetricKind, MetricSpec, Output, Package,
    PluginError, Probe, RequestInfo, Result, Source, Timing, Turn,
    dataset::{DatasetInfo, Sample},
    endpoint::{AuthKind, ChunkKind, EndpointDescription, NextStep, ResponseError, Usage},
    exporter::ExporterNeeds,
    fields,
    gpu::{Poll, Reading},
    host::LogLevel,
    metric::{Population, Total, Window, flags},
    package::{NoOptions, Open},
    timing::{Action, Event, OnFull, Outcome, Pick, Returned, Step, TimingPlan},
};
