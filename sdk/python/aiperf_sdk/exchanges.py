"""Requests and responses."""

import json

from wit_world.imports import types


def post(body, headers=(), path=None):
    """A `POST` of a JSON body, to the endpoint's own path or another one."""
    return types.HttpRequest("POST", path, list(headers), json.dumps(body).encode(), [])


def get(path, headers=()):
    """A `GET` of a path."""
    return types.HttpRequest("GET", path, list(headers), b"", [])


def events(exchanges):
    """Events of all exchanges in order, each with its index: (0, b'{...}'), (1, ...)."""
    index = 0
    for exchange in exchanges:
        start = 0
        for end in exchange.ends:
            yield index, exchange.bytes[start:end]
            index, start = index + 1, end


class Chunks:
    """Collects the content of a response."""

    def __init__(self):
        self._events, self._kinds, self._ends, self._text, self._length = [], [], [], [], 0

    def add(self, event, text, kind=types.ChunkKind.TEXT):
        """Content that came with an event. An empty text counts as content at its time."""
        self._text.append(text)
        self._length += len(text.encode())
        self._events.append(event)
        self._kinds.append(kind.value)
        self._ends.append(self._length)

    def text(self):
        """All of it, joined."""
        return "".join(self._text)

    def decoded(self, **more):
        """What `Endpoint.decode` returns; `more` sets other fields of `types.Decoded`."""
        chunks = types.Chunks(self._events, bytes(self._kinds), self._ends, self.text())
        fields = {
            "usage": None,
            "first_chunk_tokens": None,
            "finish_reason": None,
            "error": None,
            "reply": None,
            "carry": None,
            "facts": [],
            "labels": [],
        }
        return types.Decoded(chunks=chunks, **{**fields, **more})


def usage(**counts):
    """Token counts that the server reports; those not given are absent."""
    fields = [
        "prompt",
        "completion",
        "total",
        "reasoning",
        "cache_read",
        "cache_write",
        "cache_miss",
        "prompt_audio",
        "completion_audio",
        "accepted_prediction",
        "rejected_prediction",
        "tool_use_prompt",
        "prompt_audio_seconds",
    ]
    return types.Usage(**{**dict.fromkeys(fields), **counts})


def turn(text, role="user"):
    """A turn of one text; an answer for the history has the role `assistant`."""
    nothing = {
        "images": [],
        "audios": [],
        "videos": [],
        "raw_messages": None,
        "raw_tools": None,
        "raw_system": None,
        "raw_payload": None,
        "extra_body": None,
        "extra_headers": [],
        "model": None,
        "max_tokens": None,
        "timestamp_ms": None,
        "delay_ms": None,
        "after": [],
        "reset_context": False,
        "no_request": False,
        "facts": [],
    }
    return types.Turn(role=role, texts=[types.Media("", [text], [])], **nothing)
