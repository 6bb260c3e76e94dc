"""The interface `endpoint`: componentize-py looks for its resource in a module of this name."""

from aiperf_sdk import _answer, _opened, types


class Instance:
    def __init__(self, inner):
        self._inner = inner

    @classmethod
    def open(cls, open):
        return cls(_answer(_opened, types.Category.ENDPOINT, open))

    def describe(self):
        return _answer(self._inner.describe)

    def prepare(self, request):
        return _answer(self._inner.prepare, request)

    def next(self, exchanges):
        return _answer(self._inner.next, exchanges)

    def decode(self, exchanges):
        return _answer(self._inner.decode, exchanges)
