"""{{description}}

A `POST` of `{"prompt": ...}`; the answer is `{"text": ...}`, whole or as events of a stream.
"""

import json

import aiperf_sdk as sdk
from aiperf_sdk import types


class {{type}}(sdk.Endpoint):
    """Options: `--plugin-opt endpoint/{{entry}}.temperature=0.5`."""

    def __init__(self, options, core):
        # Sent with each request.
        self.temperature = options.pop("temperature", None)
        # Refuses what is left.
        super().__init__(options, core)
        if self.temperature is not None and not (isinstance(self.temperature, (int, float)) and self.temperature >= 0):
            raise sdk.Failure("`temperature` must be a number of at least 0", kind=types.ErrorKind.INVALID_OPTIONS)
        # `--extra-inputs`: members to merge into each body.
        self.extra = core.get("extra") or {}

    def describe(self):
        return types.EndpointDescription("/v1/{{entry}}", None, types.AuthKind.BEARER, "")

    def prepare(self, request):
        texts = []
        for turn in request.turns:
            # What this API can't say is an error: a request without its image would measure something else.
            if turn.images or turn.audios or turn.videos:
                raise sdk.Failure("this API takes text alone", kind=types.ErrorKind.INVALID_INPUT)
            texts += [text for group in turn.texts for text in group.contents]
        body = {"model": request.model, "prompt": "\n".join(texts), "stream": request.streaming}
        if request.turns and request.turns[-1].max_tokens is not None:
            body["max_tokens"] = request.turns[-1].max_tokens
        if self.temperature is not None:
            body["temperature"] = self.temperature
        body.update(self.extra)
        return sdk.post(body)

    def decode(self, exchanges):
        chunks = sdk.Chunks()
        for index, event in sdk.events(exchanges):
            if event == b"[DONE]":
                continue
            try:
                text = json.loads(event)["text"]
            except (ValueError, KeyError, TypeError) as error:
                raise sdk.Failure(
                    f"event {index} of the response: {type(error).__name__}: {error}",
                    kind=types.ErrorKind.INVALID_INPUT,
                ) from None
            if not isinstance(text, str):
                raise sdk.Failure(f"event {index} of the response: `text` is no text", kind=types.ErrorKind.INVALID_INPUT)
            chunks.add(index, text)
        return chunks.decoded()


Manifest = sdk.package("{{name}}", "0.1.0", endpoints={"{{entry}}": {{type}}})
