import json
import unittest

import aiperf_sdk as sdk
from aiperf_sdk import types
from app import {{type}}


def endpoint(options=None, core=None):
    return {{type}}(options or {}, core or {})


def request(*turns):
    """A streaming request of these turns."""
    return types.RequestInfo("test-model", True, list(turns), None, None, None, "request", "conversation")


def response(*events):
    """A stream of these events."""
    ends = [sum(map(len, events[: index + 1])) for index in range(len(events))]
    return [types.Exchange(200, True, "text/event-stream", b"".join(events), ends)]


class Requests(unittest.TestCase):
    def test_a_body(self):
        http = endpoint({"temperature": 0.5}, {"extra": {"top_k": 3}}).prepare(request(sdk.turn("Hello")))
        expected = {"model": "test-model", "prompt": "Hello", "stream": True, "temperature": 0.5, "top_k": 3}
        self.assertEqual(json.loads(http.body), expected)

    def test_what_it_cannot_say_is_refused(self):
        image = sdk.turn("What is it?")
        image.images.append(types.Media("", ["data:image/png;base64,"], []))
        with self.assertRaises(sdk.Failure):
            endpoint().prepare(request(image))

    def test_wrong_options_are_refused(self):
        for options in ({"temprature": 1}, {"temperature": -1}, {"temperature": "hot"}):
            with self.assertRaises(sdk.Failure):
                endpoint(options)


class Responses(unittest.TestCase):
    def test_a_stream(self):
        found = endpoint().decode(response(b'{"text": "Hel"}', b'{"text": "lo"}', b"[DONE]"))
        self.assertEqual(found.chunks, types.Chunks([0, 1], bytes([0, 0]), [3, 5], "Hello"))

    def test_garbage_is_an_error(self):
        for event in (b"{}", b"[]", b"not JSON", b'{"text": 1}'):
            with self.assertRaises(sdk.Failure):
                endpoint().decode(response(event))


if __name__ == "__main__":
    unittest.main()
