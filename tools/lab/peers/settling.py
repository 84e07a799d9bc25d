"""When a run has warmed up: the rule of loader/tuning/settling.h, for the same columns of a row."""

import math

MIN_SLICE_SECONDS, MAX_SLICES, MIN_SLICES, NEGLIGIBLE = 0.1, 40, 8, 0.01


class Marks:
    """Records the progress of a run of the given length some tens of times."""

    def __init__(self, run_seconds):
        self.interval, self.all = max(MIN_SLICE_SECONDS, run_seconds / MAX_SLICES), []

    def add(self, seconds, images, waited):
        if not self.all or seconds - self.all[-1][0] >= self.interval:
            self.all.append((seconds, images, waited))

    def settled_after(self):
        """Seconds until the rate settled; None with too few marks to tell."""
        if len(self.all) < MIN_SLICES + 1:
            return None
        rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(self.all, self.all[1:])]
        half = len(rates) // 2
        for begin in range(half):
            left = rates[begin:]
            if not slopes(left) and not first_stands_apart(left):
                return self.all[begin][0] if begin else 0.0
        return self.all[half][0]

    def since(self, seconds):
        """Images/s from that mark on, and the share of time spent waiting."""
        begin = next(mark for mark in self.all if mark[0] == seconds)
        time, images, waited = (b - a for a, b in zip(begin, self.all[-1]))
        return images / time, waited / time


def mean(values):
    return sum(values) / len(values)


def slopes(rates):
    """Whether the best-fitting line through the rates has a significant slope."""
    count, level = len(rates), mean(rates)
    at = [i - (count - 1) / 2 for i in range(count)]
    spread = sum(x * x for x in at)
    slope = sum(x * (rate - level) for x, rate in zip(at, rates)) / spread
    if abs(slope) * (count - 1) <= NEGLIGIBLE * level:
        return False
    squares = sum((rate - level) ** 2 for rate in rates)
    unexplained = max(0.0, squares - slope * slope * spread)
    return abs(slope) > student_t(count - 2) * math.sqrt(unexplained / (count - 2) / spread)


def first_stands_apart(rates):
    """Whether the first rate is an outlier among the others."""
    others = rates[1:]
    level = mean(others)
    distance = abs(rates[0] - level)
    if distance <= NEGLIGIBLE * level:
        return False
    deviation = math.sqrt(sum((rate - level) ** 2 for rate in others) / (len(others) - 1))
    return distance > student_t(len(others) - 1) * deviation * math.sqrt(1 + 1 / len(others))


def student_t(degrees):
    """Student's t for 95 %, two-sided, as in formats/base/statistics.cpp."""
    few = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622]
    if degrees <= len(few):
        return few[degrees - 1]
    z, n = 1.959964, degrees
    return (z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3))
