"""The Acme serving API: `POST /v2/generate`, the key in `X-Acme-Key`, answers as a stream of events or in one piece."""

import json

import aiperf_sdk as sdk
from aiperf_sdk import types

TIERS = ("standard", "priority")


def text_of(turn):
    """All texts of a turn; other content is refused."""
    for content, what in ((turn.images, "images"), (turn.audios, "audio"), (turn.videos, "videos")):
        if content:
            raise sdk.Failure(
                f"the Acme API takes no {what}",
                "use a dataset of plain text with this endpoint",
                types.ErrorKind.INVALID_INPUT,
            )
    return "\n".join(text for group in turn.texts for text in group.contents)


class Generate(sdk.Endpoint):
    def __init__(self, options, core):
        self.tier = options.pop("tier", "standard")
        super().__init__(options, core)
        if self.tier not in TIERS:
            raise sdk.Failure(
                f"`tier`: {self.tier} is none of {', '.join(TIERS)}", kind=types.ErrorKind.INVALID_OPTIONS
            )
        self.extra = core.get("extra") or {}

    def describe(self):
        return types.EndpointDescription("/v2/generate", None, types.AuthKind.HEADER, "X-Acme-Key")

    def prepare(self, request):
        if not request.turns:
            raise sdk.Failure("there is no turn to send", kind=types.ErrorKind.INVALID_INPUT)
        lines = []
        if request.system_message is not None:
            lines.append({"speaker": "system", "say": request.system_message})
        if request.user_context is not None:
            lines.append({"speaker": "user", "say": request.user_context})
        lines += [{"speaker": turn.role or "user", "say": text_of(turn)} for turn in request.turns]
        body = {"model": request.model, "stream": request.streaming, "conversation": lines}
        last = request.turns[-1]
        if last.max_tokens is not None:
            body["limits"] = {"tokens": last.max_tokens}
        body.update(self.extra)
        body.update(sdk.json_object(last.extra_body, "the turn's extra body"))
        return sdk.post(body, [("X-Acme-Tier", self.tier), *last.extra_headers])

    def decode(self, exchanges):
        chunks, more = sdk.Chunks(), {}
        for index, data in sdk.events(exchanges):
            event = json.loads(data)
            kind, text = event.get("kind"), event.get("text", "")
            if kind == "thought":
                chunks.add(index, text, types.ChunkKind.REASONING)
            if kind in ("delta", "answer"):
                chunks.add(index, text)
            if kind in ("end", "answer"):
                counts = event.get("counts") or {}
                more["finish_reason"] = event.get("reason")
                if counts:
                    more["usage"] = sdk.usage(prompt=counts.get("prompt"), completion=counts.get("generated"))
            if kind == "error":
                more["error"] = types.ResponseError(event.get("code"), "AcmeError", event.get("message", ""))
        return chunks.decoded(**more)


Manifest = sdk.package("acme-generate", "1.0.0", endpoints={"acme_python": Generate})
