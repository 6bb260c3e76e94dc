"""What authors of AIPerf plugins in Python use.

A plugin is a WebAssembly component: it gets data and returns data, and reaches no file, socket, clock or environment
variable. Implement `Metric` or `Endpoint`, and name your classes in `package`.

`types` are the contract's own, generated from the WIT files; every field is documented there.
"""

import json

from componentize_py_types import Err
from wit_world.imports import host, http, secrets, types

from .columns import integers, lists, reals, values
from .exchanges import Chunks, events, get, post, turn, usage
from .metrics import derived, family, metric

__all__ = [
    "Chunks",
    "Endpoint",
    "Failure",
    "Metric",
    "api_key",
    "ask",
    "derived",
    "events",
    "family",
    "get",
    "host",
    "integers",
    "json_object",
    "lists",
    "log",
    "metric",
    "package",
    "post",
    "reals",
    "turn",
    "types",
    "usage",
    "values",
]


class Failure(Exception):
    """Something the user should read: what happened and, if known, what to do about it."""

    def __init__(self, message, help=None, kind=types.ErrorKind.FAILED):
        super().__init__(message)
        self.help = help
        self.kind = kind


def log(message, level=types.LogLevel.INFO):
    """A line for the run's log."""
    host.log(level, str(message))


def ask(origin, path="/", *, method="GET", headers=(), body=b"", timeout_ms=0):
    """Asks a server that the user has granted (`http:HOST:PORT`); `origin` is `http://HOST[:PORT]` or `https://HOST[:PORT]`.

    The answer has `status`, `content_type` and `body` (bytes). Raises `Failure` where that server is not granted, or no whole
    answer comes in time.
    """
    request = types.HttpRequest(method, path, list(headers), bytes(body), [])
    return _granted(http.http, origin, request, timeout_ms)


def api_key():
    """The run's API key, or None. Raises `Failure` where the user has not granted `secrets`."""
    return _granted(secrets.api_key)


def _granted(call, *arguments):
    try:
        return call(*arguments)
    except Err as error:
        problem = error.value
        raise Failure(problem.message, help=problem.help, kind=problem.kind) from None


class Metric:
    """A family of metrics. `options` are the user's, as a dict."""

    def __init__(self, options):
        if options:
            unknown = ", ".join(sorted(options))
            raise Failure(f"there is no option {unknown}", kind=types.ErrorKind.INVALID_OPTIONS)

    def describe(self):
        """The metrics and what they need: see `family`."""
        raise NotImplementedError

    def record(self, batch):
        """One column for each metric that is not derived. Must not depend on how records are cut into batches."""
        raise NotImplementedError

    def derive(self, window):
        """One value, or None, for each derived metric."""
        return []


class Endpoint:
    """An API dialect. `options` are the user's, `core` is what the core passes, both as dicts."""

    def __init__(self, options, core):
        if options:
            unknown = ", ".join(sorted(options))
            raise Failure(f"there is no option {unknown}", kind=types.ErrorKind.INVALID_OPTIONS)

    def describe(self):
        """What it is: a `types.EndpointDescription`."""
        raise NotImplementedError

    def prepare(self, request):
        """The request of a turn: see `post`."""
        raise NotImplementedError

    def next(self, exchanges):
        """What follows the exchanges so far. Most protocols are done after one."""
        return types.NextStep_Done()

    def decode(self, exchanges):
        """What a response says: a `types.Decoded`; see `Chunks.decoded`."""
        raise NotImplementedError


_openers = {}


def package(name, version, *, metrics=None, endpoints=None):
    """Says what the package provides; give the result the name `Manifest` in your module `app`."""
    entries = []
    for category, classes in ((types.Category.METRIC, metrics), (types.Category.ENDPOINT, endpoints)):
        for entry, made in (classes or {}).items():
            entries.append(types.Entry(category, entry))
            _openers[(category, entry)] = made

    class Manifest:
        def name(self):
            return name

        def version(self):
            return version

        def entries(self):
            return entries

    return Manifest


def _opened(category, request):
    """An instance of an entry."""
    made = _openers.get((category, request.entry))
    if made is None:
        raise Failure(f"the package has no entry `{request.entry}` in this category")
    options = json_object(request.options, "the options", types.ErrorKind.INVALID_OPTIONS)
    if category is types.Category.METRIC:
        return made(options)
    return made(options, json_object(request.core, "what the core passes", types.ErrorKind.FAILED))


def _answer(call, *arguments):
    """Calls the plugin; whatever it raises becomes an error that the user can read."""
    try:
        return call(*arguments)
    except Failure as failure:
        raise Err(types.PluginError(failure.kind, str(failure), failure.help)) from None
    except Exception as error:
        name, places = type(error).__name__, list(_places(error.__traceback__))
        # The stack of an endless recursion says the same a thousand times.
        few = places if len(places) <= 16 else [*places[:4], f"{len(places) - 12} more", *places[-8:]]
        host.log(types.LogLevel.DEBUG, f"{name} at " + " > ".join(few))
        # Some, like MemoryError, have no text.
        message = f"{name}: {error}" if str(error) else name
        message = f"{message} ({places[-1]})"
        raise Err(types.PluginError(types.ErrorKind.FAILED, message, None)) from None


def _places(trace):
    """File and line of each call. The module `traceback` would look for the sources, and there are no files."""
    while trace is not None:
        yield f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}, line {trace.tb_lineno}"
        trace = trace.tb_next


def json_object(text, what, kind=types.ErrorKind.INVALID_INPUT):
    """A JSON object as a dict; nothing is an empty one. `what` begins the sentence if it is none."""
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise Failure(f"{what}: not JSON: {error}", kind=kind) from None
    if not isinstance(found, dict):
        raise Failure(f"{what}: not a JSON object", kind=kind)
    return found
