import unittest

import aiperf_sdk as sdk
from aiperf_sdk import types
from app import {{type}}, time_per_token


def column(*values):
    """Integers, or None, of a batch."""
    there = bytes(value is not None for value in values)
    return types.ColumnRef_U64(types.Integers([value or 0 for value in values], there))


class TimePerToken(unittest.TestCase):
    def test_a_value(self):
        self.assertEqual(time_per_token(1, 100, 160, 4), 15.0)

    def test_nothing_to_say(self):
        for record in [(0, 100, 160, 4), (1, 100, None, 4), (1, 100, 160, 0), (1, 100, 160, None), (1, 160, 100, 4)]:
            self.assertIsNone(time_per_token(*record), record)

    def test_records(self):
        batch = types.Batch(4, [column(1, 1, 1, 0), column(100, 100, 100, 100), column(160, 130, None, 160), column(4, 1, 4, 4)])
        [found] = {{type}}({"min_tokens": 2}).record(batch)
        self.assertEqual(found.value.values[0], 15.0)
        self.assertEqual(found.value.validity, bytes([1, 0, 0, 0]))

    def test_wrong_options_are_refused(self):
        for options in ({"min_tokens": 0}, {"min_tokens": "2"}, {"min_token": 2}):
            with self.assertRaises(sdk.Failure):
                {{type}}(options)


if __name__ == "__main__":
    unittest.main()
