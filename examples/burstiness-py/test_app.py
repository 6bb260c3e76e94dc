import unittest

from app import burstiness


class BurstinessTest(unittest.TestCase):
    def test_even(self):
        self.assertEqual(burstiness([10, 20, 30]), 0)

    def test_uneven(self):
        # Gaps 1 and 3: mean 2, deviation 1.
        self.assertEqual(burstiness([0, 1, 4]), 0.5)

    def test_nothing_to_say(self):
        for arrivals in (None, [], [1], [1, 2], [5, 5, 5]):
            self.assertIsNone(burstiness(arrivals))


if __name__ == "__main__":
    unittest.main()
