//! Metrics and exporters of a run.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::AtomicBool},
};

use aiperf_config::ExportLevel;
use aiperf_host::{Role, registry::OnError};
use aiperf_plugin_api::{
    Exporter, Metric, MetricKind, MetricSpec,
    metric::flags,
    report::{ArtifactNames, RunInfo, SCHEMA_VERSION},
};
use aiperf_records::{catalogue::Catalogue, composition};
use serde_json::{Value, json};

use super::{Opener, SetupError, endpoint::EndpointSetup};
use crate::{
    processor::{Families, Family, families::columns_by_tag},
    records_manager::{ExporterInUse, exporters::ColumnMap},
};

/// The family that judges service level objectives; it is told what the others define.
const GOODPUT: &str = "goodput";
/// The family that derives from what GPU collectors read.
const GPU_EFFICIENCY: &str = "gpu_power_efficiency";

/// Opens the families of a run: all built-in ones and those that were named.
///
/// # Errors
/// When one can't be opened, or its options are wrong.
pub fn families(opener: &Opener<'_>, endpoint: &EndpointSetup) -> Result<Vec<Family>, SetupError> {
    let plan = opener.plan;
    let named: Vec<&str> = plan.plugins.metrics.iter().map(String::as_str).collect();
    let shares = opener.host.resolution().metrics(&named)?;
    let mut families = Vec::new();
    let mut known: Vec<MetricSpec> = Vec::new();
    // Goodput comes last: it refers to what the others define.
    let (last, first): (Vec<_>, Vec<_>) = shares
        .into_iter()
        .partition(|share| opener.host.resolution().entry(share.entry).name.key() == GOODPUT);
    for share in first.into_iter().chain(last) {
        let declared = opener.host.resolution().entry(share.entry);
        let goodput = declared.name.key() == GOODPUT;
        let idle = match declared.name.key() {
            GOODPUT => plan.slos.is_empty(),
            GPU_EFFICIENCY => plan.gpu_collectors.is_empty(),
            _ => false,
        };
        if share.tags.is_empty() || idle {
            continue;
        }
        let mut core = json!({
            "streaming": endpoint.streaming,
            "produces_tokens": endpoint.produces_tokens,
            "tokenizes_input": endpoint.tokenizes_input,
            "use_server_token_count": plan.endpoint.use_server_token_count,
            "slos": plan.slos.iter().map(|(tag, value)| (tag.clone(), json!(value))).collect::<serde_json::Map<_, _>>(),
        });
        if goodput {
            core["catalogue"] = serde_json::to_value(&known).unwrap_or(Value::Null);
        }
        let handle = opener
            .host
            .open_metric(share.entry, &core.to_string(), Arc::new(opener.services(share.entry)))?;
        let family = handle.describe()?;
        let own: HashSet<String> = share.tags.iter().map(|tag| tag.key().to_owned()).collect();
        known.extend(
            family
                .metrics
                .iter()
                .filter(|spec| own.contains(&spec.tag) && applies(spec, endpoint, opener))
                .cloned(),
        );
        families.push(Family {
            family,
            own,
            skip_on_error: declared.on_error == OnError::Skip,
            failed: AtomicBool::new(false),
            handle,
        });
    }
    Ok(families)
}

/// The metric applies to this run.
fn applies(spec: &MetricSpec, endpoint: &EndpointSetup, opener: &Opener<'_>) -> bool {
    let plan = opener.plan;
    let never = flags::AUDIO | flags::IMAGE | flags::VIDEO | flags::FIXED_SCHEDULE;
    let needs = [
        (flags::STREAMING, endpoint.streaming),
        (flags::PRODUCES_TOKENS, endpoint.produces_tokens),
        (flags::TOKENIZES_INPUT, endpoint.tokenizes_input),
        (flags::GOODPUT, !plan.slos.is_empty()),
        (flags::NO_SERVER_COUNTS, !plan.endpoint.use_server_token_count),
    ];
    spec.flags & never == 0 && needs.iter().all(|(flag, holds)| !spec.is(*flag) || *holds)
}

/// The catalogue: what applies to the run and belongs to the family by priority.
///
/// # Errors
/// When metrics collide.
pub fn catalogue(opener: &Opener<'_>, endpoint: &EndpointSetup, families: &[Family]) -> Result<Catalogue, SetupError> {
    let described: Vec<_> = families.iter().map(|family| family.family.clone()).collect();
    let has = |tag: &str| {
        described
            .iter()
            .any(|family| family.metrics.iter().any(|spec| spec.tag == tag))
    };
    let compositions = composition::standard(has);
    Ok(Catalogue::new(described, compositions, |family, spec| {
        families[family].own.contains(&spec.tag) && applies(spec, endpoint, opener)
    })?)
}

/// Tags of per-record metrics that are exported with records, with family and column.
pub fn exported_metrics(catalogue: &Catalogue, families: &Families) -> Vec<(String, usize, usize)> {
    let columns = columns_by_tag(families.families().iter().map(|family| (&family.family, &family.own)));
    let exported = catalogue.entries().filter(|entry| is_per_record(&entry.spec));
    exported
        .filter_map(|entry| {
            let &(family, column) = columns.get(&entry.spec.tag)?;
            Some((entry.spec.tag.clone(), family, column))
        })
        .collect()
}

/// The metric appears among those of a single record.
pub fn is_per_record(spec: &MetricSpec) -> bool {
    let hidden = flags::NOT_PER_RECORD | flags::INTERNAL | flags::EXPERIMENTAL;
    let column = !matches!(
        spec.kind,
        MetricKind::Derived | MetricKind::Interval | MetricKind::Steps
    );
    column && spec.flags & hidden == 0
}

/// Facts of the run for exporters.
pub fn run_info(
    opener: &Opener<'_>,
    endpoint: &EndpointSetup,
    catalogue: &Catalogue,
    version: &str,
    benchmark_id: String,
) -> RunInfo {
    let plan = opener.plan;
    let name = |path: std::path::PathBuf| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let artifacts = &plan.artifacts;
    RunInfo {
        schema_version: SCHEMA_VERSION.into(),
        tool_version: version.into(),
        benchmark_id,
        cli_command: plan.command_line.clone(),
        random_seed: plan.seed,
        input_config: plan.input_config(),
        endpoint_type: plan.endpoint.endpoint_type.clone(),
        metrics_title: endpoint.title.clone(),
        artifacts: ArtifactNames {
            json: name(artifacts.summary_json()),
            csv: name(artifacts.summary_csv()),
            records: (artifacts.level >= ExportLevel::Records).then(|| name(artifacts.records_jsonl())),
            raw: (artifacts.level >= ExportLevel::Raw).then(|| name(artifacts.raw_jsonl())),
            gpu: (!plan.gpu_collectors.is_empty()).then(|| name(artifacts.gpu_telemetry_jsonl())),
            console: name(artifacts.console_txt()),
        },
        catalogue: catalogue.entries().cloned().collect(),
        console_width: 140,
        http_trace: artifacts.http_trace,
    }
}

/// Opens the exporters of a run, all built-in ones and those that were named, and lets them begin.
///
/// # Errors
/// When one can't be opened, or refuses.
pub fn exporters(opener: &Opener<'_>, info: &RunInfo) -> Result<Vec<ExporterInUse>, SetupError> {
    let resolution = opener.host.resolution();
    let mut entries = Vec::new();
    for (name, contest) in resolution.names(Role::Exporter) {
        let builtin = contest
            .claims()
            .iter()
            .any(|(entry, _)| resolution.file(*entry).source.is_builtin());
        if builtin {
            entries.push(opener.find(Role::Exporter, name.as_str())?);
        }
    }
    for name in &opener.plan.plugins.exporters {
        let entry = opener.find(Role::Exporter, name)?;
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    let info =
        serde_json::to_string(info).map_err(|error| aiperf_plugin_api::PluginError::failed(error.to_string()))?;
    entries
        .into_iter()
        .map(|entry| {
            let mut handle = opener.host.open_exporter(entry, "", Arc::new(opener.services(entry)))?;
            let needs = handle.begin(&info)?;
            let skip_on_error = resolution.entry(entry).on_error == OnError::Skip;
            Ok(ExporterInUse {
                handle,
                needs,
                skip_on_error,
            })
        })
        .collect()
}

/// Where the columns of batches are.
pub fn column_map(families: &Families, catalogue: &Catalogue) -> ColumnMap {
    ColumnMap::new(families.plan(), exported_metrics(catalogue, families))
}
