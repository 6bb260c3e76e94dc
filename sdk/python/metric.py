"""The interface `metric`: componentize-py looks for its resource in a module of this name."""

from aiperf_sdk import _answer, _opened, types


class Instance:
    def __init__(self, inner):
        self._inner = inner

    @classmethod
    def open(cls, open):
        return cls(_answer(_opened, types.Category.METRIC, open))

    def describe(self):
        return _answer(self._inner.describe)

    def record(self, batch):
        return _answer(self._inner.record, batch)

    def derive(self, window):
        return _answer(self._inner.derive, window)
