#!/usr/bin/env python3
"""Prints vectors.txt: which trace ids TraceIdRatioBased of the OpenTelemetry SDKs samples at which ratio.

The rule is that of the SDKs for Go (sdk/trace/sampling.go) and Rust: the right 8 bytes of the trace id, as a big-endian
number, shifted right by one, are less than the ratio times 2^63, rounded down. The SDKs for Python, Ruby, Swift and Perl
compare the same bytes without the shift with the ratio times 2^64: the same decisions, except for one or two ids at the
bound of a ratio below 2^-10, where the products are rounded. With --python-sdk all other decisions are also compared with
those of the SDK for Python, which must be installed (pip install opentelemetry-sdk; 1.45.2 agrees).

A line is a trace id and one digit for each ratio of the first line: 1 where it is sampled. The ids are 240 hashes and, of
each ratio, the last id that is sampled and the first that is not.
"""

import hashlib
import sys
from fractions import Fraction

RATIOS = [0.0, 0.000001, 0.001, 0.01, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 0.999, 1.0]


def bound(ratio):
    return int(Fraction(ratio) * 2**63)


def is_sampled(trace_id, ratio):
    return int.from_bytes(trace_id[8:16], "big") >> 1 < bound(ratio)


def trace_ids():
    for number in range(240):
        yield hashlib.sha256(b"trace %d" % number).digest()[:16]
    for ratio in RATIOS[1:-1]:
        for value in (bound(ratio) - 1, bound(ratio)):
            for last in (0, 1):
                yield bytes([0xFF]) * 8 + (value << 1 | last).to_bytes(8, "big")


def python_sdk(trace_id, ratio):
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    return TraceIdRatioBased(ratio).should_sample(None, int.from_bytes(trace_id, "big"), "").decision.is_sampled()


def main():
    compares = "--python-sdk" in sys.argv
    print("ratios", *(repr(ratio) for ratio in RATIOS))
    for trace_id in trace_ids():
        decisions = [is_sampled(trace_id, ratio) for ratio in RATIOS]
        if compares:
            for ratio, decision in zip(RATIOS, decisions):
                is_rounded = ratio < 2**-10 and trace_id.startswith(bytes([0xFF]) * 8)
                if not is_rounded and python_sdk(trace_id, ratio) != decision:
                    sys.exit(f"{trace_id.hex()} at {ratio}: the SDK says otherwise")
        print(trace_id.hex(), "".join(str(int(decision)) for decision in decisions))


main()
