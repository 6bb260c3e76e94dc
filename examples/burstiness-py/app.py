"""How unevenly tokens arrive: the coefficient of variation of the gaps between a request's chunks.

0 is a perfectly even stream, 1 is what random arrivals have, more is bursty.
"""

from math import sqrt

import aiperf_sdk as sdk


def burstiness(arrivals):
    """Standard deviation of the gaps over their mean; None without two gaps, or where all chunks came at once."""
    gaps = [later - earlier for earlier, later in zip(arrivals or [], (arrivals or [])[1:])]
    if len(gaps) < 2 or sum(gaps) == 0:
        return None
    mean = sum(gaps) / len(gaps)
    return sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean


class Burstiness(sdk.Metric):
    def describe(self):
        return sdk.family(
            needs=["content_ns"],
            metrics=[sdk.metric("burstiness", "Burstiness", "ratio")],
        )

    def record(self, batch):
        return [sdk.reals([burstiness(arrivals) for arrivals in sdk.lists(batch, 0)])]


Manifest = sdk.package("burstiness", "1.0.0", metrics={"burstiness": Burstiness})
