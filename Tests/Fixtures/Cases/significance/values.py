#!/usr/bin/env python3
"""Prints values.txt: the p-values of one-sided tests, as SciPy computes them (pip install scipy; 1.17.1).

A line "fisher" has the count and the total of the candidate and of the control, and p of fisher_exact. A line
"mannwhitney" has, for both arms, how often the durations of 0, 1, 2 … ns occur, and p of mannwhitneyu with the normal
approximation and the correction for continuity. Durations below 32 ns have a bucket each.
"""

import random

from scipy.stats import fisher_exact, mannwhitneyu

FISHER = [
    (0, 1, 0, 1), (1, 1, 0, 1), (0, 100, 0, 900), (1, 100, 0, 900), (3, 100, 0, 900), (100, 100, 0, 900),
    (100, 100, 900, 900), (5, 100, 45, 900), (0, 100, 45, 900), (1, 100, 45, 900), (31, 1600, 4, 14400),
    (16, 1600, 14, 14400), (48, 1600, 144, 14400), (160, 1600, 1440, 14400), (40, 4000, 40, 36000),
    (200, 4000, 1800, 36000), (260, 4000, 1800, 36000), (1000, 100000, 9000, 900000), (1200, 100000, 9000, 900000),
    (82000, 1638400, 81000, 1638400), (1, 1638400, 0, 10), (10, 10, 1638390, 1638400),
]


def fisher():
    generator = random.Random(48)
    cases = list(FISHER)
    for _ in range(200):
        n, m = int(10 ** generator.uniform(0, 5)), int(10 ** generator.uniform(0, 6))
        share = 10 ** generator.uniform(-4, 0)
        cases.append((
            sum(generator.random() < share for _ in range(n)) if n < 2000 else round(n * share),
            n, round(m * min(1, share * generator.uniform(0.5, 1.5))), m))
    for a, n, c, m in cases:
        p = fisher_exact([[a, n - a], [c, m - c]], alternative="greater").pvalue
        print("fisher", a, n, c, m, repr(float(p)))


def mannwhitney():
    generator = random.Random(49)
    for _ in range(100):
        width = generator.randint(2, 32)
        sizes = [int(10 ** generator.uniform(1.4, 4)) for _ in range(2)]
        shift = generator.uniform(-0.5, 1.5)
        arms = []
        for size, by in zip(sizes, (shift, 0)):
            values = [generator.gauss(width / 2 + by, width / 5) for _ in range(size)]
            arms.append([min(max(round(value), 0), width - 1) for value in values])
        if len(set(arms[0] + arms[1])) < 2:
            continue
        p = mannwhitneyu(arms[0], arms[1], alternative="greater", method="asymptotic").pvalue
        counts = [",".join(str(arm.count(value)) for value in range(width)) for arm in arms]
        print("mannwhitney", *counts, repr(float(p)))


fisher()
mannwhitney()
