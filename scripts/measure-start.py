#!/usr/bin/env python3
"""Measures the start of the command with plugins beside that of curl, in alternating rounds.

usage: scripts/measure-start.py PREFIX [ROUNDS]     PREFIX is an installation: make build install PREFIX=...

Prints the median, the least and the greatest wall time of each command, and the ratio of the medians to curl's. The
plugins are stripped, and an echo server on this machine answers requests and takes the spans. The first round is not
counted: it tries the plugins out.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

if len(sys.argv) < 2:
    sys.exit(__doc__)
prefix, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30
sluice = f"{prefix}/bin/sluice"

with tempfile.TemporaryDirectory() as folder:
    echo = subprocess.Popen([sluice, "echo", "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = echo.stdout.readline().split()[-1].rstrip("/") + "/"

    def plugin(name, **config):
        library = f"{folder}/lib{name}.so"
        if not os.path.exists(library):
            subprocess.run(
                ["strip", "--strip-unneeded", "-o", library, f"{prefix}/lib/sluice/plugins/lib{name}.so"], check=True)
        return {"library": library, "config": config} if config else {"library": library}

    def pipeline(name, **document):
        path = f"{folder}/{name}.json"
        with open(path, "w") as file:
            json.dump({**document, "store": f"{folder}/store"}, file)
        return path

    auth = plugin("bearer-auth", hosts=["example.com"], token="not-a-secret")
    fixed = plugin("static-headers", request={"X-A": "b"})
    counts = plugin("traffic-metrics")
    log = plugin("access-log", output=f"{folder}/access.log")
    otlp = plugin("otlp", endpoint=url.rstrip("/"))
    hosts = ["example.com"]
    many = {
        "auth": auth, "fixed": fixed, "counts": counts, "log": log, "otlp": otlp, "cache": plugin("cache"),
        "errors": plugin("error-enrichment"),
        "aws": plugin("aws-sigv4", hosts=hosts, region="eu", service="s3", accessKeyID="a", secretAccessKey="b"),
        "oauth": plugin("oauth-refresh", hosts=hosts, tokenEndpoint=url, clientID="a", clientSecret="b"),
    }
    two = pipeline("two", plugins={"auth": auth, "fixed": fixed}, request=["fixed"], issue=["auth"])
    three = pipeline(
        "three", plugins={"auth": auth, "fixed": fixed, "counts": counts}, request=["fixed"], issue=["auth"],
        tracers=["counts"])
    tracers = pipeline("tracers", plugins={"log": log, "otlp": otlp}, tracers=["log", "otlp"])
    four = pipeline(
        "four", plugins={"auth": auth, "fixed": fixed, "log": log, "otlp": otlp}, request=["fixed"], issue=["auth"],
        tracers=["log", "otlp"])
    nine = pipeline("nine", plugins=many, request=["fixed"], issue=["auth"], tracers=["counts", "log", "otlp"])

    curl = ["curl", "-s", "-o", "/dev/null", url]
    send = [sluice, "send", "-s", "-o", "/dev/null"]
    commands = {
        "curl": curl, "sluice version": [sluice, "version"], "send": send + [url],
        "send, three C plugins": send + ["-c", three, url],
        "send, access-log and otlp": send + ["-c", tracers, url],
        "send, nine plugins": send + ["-c", nine, url],
        "attach -- curl, two C plugins": [sluice, "attach", "-q", "-c", two, "--"] + curl,
        "attach -- curl, two C plugins, access-log and otlp": [sluice, "attach", "-q", "-c", four, "--"] + curl,
    }
    times = {name: [] for name in commands}
    try:
        for number in range(rounds + 1):
            for name, words in commands.items():
                began = time.monotonic()
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                if number > 0:
                    times[name].append((time.monotonic() - began) * 1000)
    finally:
        echo.terminate()
    base = statistics.median(times["curl"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:52} {median:6.1f} ({min(values):.1f} to {max(values):.1f}) ms, {median / base:.2f} x curl")
