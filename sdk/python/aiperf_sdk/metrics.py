"""Descriptions of metrics."""

from wit_world.imports import types


def metric(tag, header, unit, kind=types.MetricKind.RECORD, **more):
    """A metric of valid records in the group `default`, reported in its own unit. `more` sets other fields of
    `types.MetricSpec`."""
    fields = {
        "short_header": "",
        "display_unit": "",
        "population": types.Population.VALID,
        "group": "default",
        "order": None,
        "flags": 0,
    }
    return types.MetricSpec(tag=tag, header=header, unit=unit, kind=kind, **{**fields, **more})


def derived(tag, header, unit, **more):
    """A metric with one value per window, from `Metric.derive`."""
    return metric(tag, header, unit, types.MetricKind.DERIVED, **more)


def family(needs, metrics, derive_needs=()):
    """What `Metric.describe` returns: columns or tags that `record` wants, tags whose totals `derive` wants, the metrics."""
    return types.MetricFamily(needs=list(needs), derive_needs=list(derive_needs), metrics=list(metrics))
