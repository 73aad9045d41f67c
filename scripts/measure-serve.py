#!/usr/bin/env python3
"""What "sluice serve" costs beside other proxies: processor time of the proxy for each request.

  scripts/measure-serve.py [--rounds N] [--requests N] [--connections N] [SLUICE...]

Each round measures every proxy once, in a new order; the medians, their spread and the ratios to the floor are printed.
The floor is a raw epoll proxy in C (Benchmarks/Peers/serve/peer.c). Every proxy has one core; the client and the service
share another one. nginx takes part if it is installed. SLUICE are commands to compare, by default .build/release/sluice.
Each runs twice: with an empty pipeline, and with five C stages, headers and metrics.
"""
import argparse, json, os, pathlib, random, shutil, socket, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "Benchmarks/Peers/serve"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if process.poll() is not None:
            sys.exit(f"measure-serve: {process.args} ended with {process.returncode}")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    sys.exit(f"measure-serve: {process.args} did not listen within 20 s")


def nanoseconds(root):
    """The processor time of a process, its threads and its children."""
    total = 0
    for pid in [root] + [int(child) for child in children(root)]:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def start(core, command, **options):
    return subprocess.Popen(["taskset", "-c", str(core)] + [str(word) for word in command], **options)


def configuration(folder, libraries):
    """Five C stages, headers and metrics."""
    plugins = {"headers": {"builtin": "headers", "config": {"hosts": ["*"]}}, "metrics": {"builtin": "metrics"}}
    for number in range(5):
        plugins[f"c{number}"] = {
            "library": str(libraries / "libstatic-headers.so"),
            "config": {"request": {f"x-stage-{number}": "1"}, "response": {f"x-stage-{number}": "1"}},
        }
    path = folder / "pipeline.json"
    stages = [f"c{number}" for number in range(5)]
    path.write_text(json.dumps({
        "plugins": plugins, "request": stages, "issue": ["headers"], "response": stages[:1], "tracers": ["metrics"]}))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("commands", nargs="*", default=[str(ROOT / ".build/release/sluice")])
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-serve-"))
    peer = folder / "peer"
    subprocess.run(["cc", "-O2", "-std=gnu17", "-o", peer, PEERS / "peer.c"], check=True)
    processes, proxies = [], {}
    try:
        origin = free_port()
        processes.append(start(0, [peer, "origin", origin]))
        wait_for(origin, processes[-1])

        def add(name, port, command, **options):
            process = start(1, command, **options)
            processes.append(process)
            wait_for(port, process)
            proxies[name] = (port, process.pid)

        port = free_port()
        add("floor", port, [peer, "floor", port, origin])
        if shutil.which("nginx") or os.path.exists("/usr/sbin/nginx"):
            port = free_port()
            text = (PEERS / "nginx.conf").read_text().replace("UPSTREAM", str(origin)).replace("PORT", str(port))
            (folder / "nginx.conf").write_text(text)
            program = shutil.which("nginx") or "/usr/sbin/nginx"
            add("nginx", port, [program, "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        for index, command in enumerate(arguments.commands):
            mark = f" {index + 1}" if len(arguments.commands) > 1 else ""
            pipeline = configuration(folder, pathlib.Path(command).resolve().parent)
            for name, options in [("sluice, empty", []), ("sluice, five C stages", ["-c", pipeline])]:
                port = free_port()
                add(name + mark, port, [
                    command, "serve", "--listen", port, "--to", f"http://127.0.0.1:{origin}", "--quiet"] + options)

        costs = {name: [] for name in proxies}
        for turn in range(arguments.rounds + 1):
            for name in random.sample(list(proxies), len(proxies)):
                port, pid = proxies[name]
                before = nanoseconds(pid)
                load = start(0, [peer, "load", port, arguments.connections, arguments.requests])
                if load.wait(timeout=300) != 0:
                    sys.exit(f"measure-serve: the load on {name} failed")
                if turn > 0:
                    costs[name].append((nanoseconds(pid) - before) / arguments.requests / 1000)
        floor = statistics.median(costs["floor"])
        print(f"{'':28} {'µs/request':>10}  {'spread':>13}  of the floor")
        for name, values in costs.items():
            quarters = statistics.quantiles(values, n=4)
            median = statistics.median(values)
            print(f"{name:28} {median:10.2f}  {quarters[0]:6.2f}-{quarters[2]:<6.2f}  {median / floor:.2f}")
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
