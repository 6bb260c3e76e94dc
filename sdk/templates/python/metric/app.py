"""{{description}}

The time that a request took per output token.
"""

import aiperf_sdk as sdk
from aiperf_sdk import types

# Only where the endpoint produces tokens: `flags` in the contract.
PRODUCES_TOKENS = 1 << 1


def time_per_token(valid, start, end, tokens, min_tokens=1):
    """Nanoseconds per output token of one request. What can't be computed is None, never 0."""
    if not valid or start is None or end is None or end < start or tokens is None or tokens < min_tokens:
        return None
    return (end - start) / tokens


class {{type}}(sdk.Metric):
    """Options: `--plugin-opt metric/{{entry}}.min_tokens=2`."""

    def __init__(self, options):
        self.min_tokens = options.pop("min_tokens", 1)
        # Refuses what is left.
        super().__init__(options)
        if not isinstance(self.min_tokens, int) or self.min_tokens < 1:
            raise sdk.Failure("`min_tokens` must be an integer of at least 1", kind=types.ErrorKind.INVALID_OPTIONS)

    def describe(self):
        return sdk.family(
            # Columns come in this order.
            needs=["valid", "start_ns", "end_ns", "output_tokens"],
            metrics=[
                sdk.metric(
                    "{{entry}}_time_per_token", "Time per Token", "ns", display_unit="ms", flags=PRODUCES_TOKENS
                )
            ],
        )

    def record(self, batch):
        columns = [sdk.values(batch, index) for index in range(4)]
        return [sdk.reals([time_per_token(*values, self.min_tokens) for values in zip(*columns)])]


Manifest = sdk.package("{{name}}", "0.1.0", metrics={"{{entry}}": {{type}}})
