#!/usr/bin/env python3
"""Runs the clients of others through "sluice serve": curl, git, Chromium, gRPC, slow clients and many idle ones.

  scripts/check-clients.py [--only NAME...] [--quick] [--require] [--python PYTHON] [SLUICE]

SLUICE is the command, by default .build/release/sluice; libstatic-headers.so is beside it. Each check starts its own
gateway and service, and has a limit of time. Its line says what was measured.

A check whose client is not installed is skipped, and named at the end with the package that has the client. With
--require this is a failure. The status is 1 if a check fails. --quick sends less, for less time.

grpc and websockets are modules of Python. --python names a Python that has them; to install them:

  python3 -m venv FOLDER && FOLDER/bin/pip install grpcio websockets    # then --python FOLDER/bin/python

Some checks run parts of this script in processes of their own, with --part.
"""
import argparse, concurrent.futures, contextlib, hashlib, http.client, http.server, json, os, pathlib, random
import re, resource, shutil, signal, socket, ssl, subprocess, sys, tempfile, threading, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# No single answer takes longer, also on a busy machine.
PATIENCE = 60
# The bounds of memory, in bytes: each idle connection, and the gateway while it passes a large body.
IDLE_BYTES, PEAK_BYTES = 8 * 1024, 34_000_000
BLOCK = random.Random(1).randbytes(1 << 20)
PACKAGES = {
    "chromium": "Debian: chromium", "curl": "Debian: curl", "git": "Debian: git",
    "grpc": "PyPI: grpcio", "h2load": "Debian: nghttp2-client", "nginx": "Debian: nginx-light",
    "openssl": "Debian: openssl", "slowhttptest": "Debian: slowhttptest", "websockets": "PyPI: websockets",
}
MODULES = ("grpc", "websockets")

NGINX = """
daemon off; master_process off;
pid FOLDER/nginx.pid; error_log FOLDER/nginx.error;
events { worker_connections 4096; }
http {
  types { text/html html; text/javascript js; image/svg+xml svg; }
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3; uwsgi_temp_path FOLDER/t4;
  scgi_temp_path FOLDER/t5;
  server {
    listen unix:FOLDER/nginx.sock;
    root FOLDER/files;
    location = /hello { return 200 "hello\\n"; }
    # The body is read before the answer.
    location = /form { proxy_pass http://unix:FOLDER/inner.sock:; }
  }
  server { listen unix:FOLDER/inner.sock; location / { return 200 "read\\n"; } }
}
"""


class Failure(Exception):
    """What a check found."""


def expect(holds, *words):
    if not holds:
        raise Failure(" ".join(str(word) for word in words))


# MARK: The service


class Service(http.server.BaseHTTPRequestHandler):
    """Sends bytes, counts what it receives, waits, and serves repositories of git."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words):
        pass

    def pieces(self):
        """The body of the request."""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return
        left = int(self.headers.get("Content-Length", 0))
        while left > 0:
            piece = self.rfile.read(min(left, 1 << 16))
            if not piece:
                raise ConnectionError("the body has broken off")
            left -= len(piece)
            yield piece

    def begin(self, status, fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, str(value))
        self.end_headers()

    def handle_expect_100(self):
        if self.path != "/refuse":
            return super().handle_expect_100()
        self.close_connection = True
        self.begin(413, {"Content-Length": 0, "Connection": "close"})
        return False

    def answer(self):
        words = self.path.split("/")
        if words[1] == "git":
            return self.git()
        digest, size = hashlib.sha256(), 0
        for piece in self.pieces():
            digest.update(piece)
            size += len(piece)
        if words[1] == "blocks":
            # So many blocks of 1 MiB
            self.begin(200, {"Content-Length": int(words[2]) * len(BLOCK)})
            for _ in range(int(words[2])):
                self.wfile.write(BLOCK)
            return
        if words[1] == "part":
            # The head and a part of the body, and then nothing
            self.begin(200, {"Content-Length": 2 * len(BLOCK)})
            self.wfile.write(BLOCK)
            time.sleep(PATIENCE)
        if words[1] == "wait":
            time.sleep(0.05)
        text = json.dumps({"size": size, "sha256": digest.hexdigest()}).encode()
        self.begin(200, {"Content-Type": "application/json", "Content-Length": len(text)})
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = answer

    def git(self):
        """Runs git's own CGI program (RFC 3875)."""
        path, _, query = self.path.partition("?")
        environment = os.environ | {
            "GIT_PROJECT_ROOT": str(self.server.folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path.removeprefix("/git"),
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": "check", "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        with tempfile.TemporaryFile() as body:
            for piece in self.pieces():
                body.write(piece)
            environment["CONTENT_LENGTH"] = str(body.tell())
            body.seek(0)
            program = subprocess.Popen(["git", "http-backend"], stdin=body, stdout=subprocess.PIPE, env=environment)
        with program:
            fields = {"Transfer-Encoding": "chunked"}
            while line := program.stdout.readline().decode().strip():
                name, value = line.split(": ", 1)
                fields[name] = value
            self.begin(int(fields.pop("Status", "200").split()[0]), fields)
            while piece := program.stdout.read1(1 << 16):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024

    def handle_error(self, request, address):
        """A client of a check goes away now and then."""


# MARK: Parts in processes of their own


def part_service(port):
    Server(("127.0.0.1", int(port)), Service).serve_forever()


def part_idle(port, count):
    """Opens connections, makes a request on each, and another one when it is told to."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    clients, failed = [], 0

    def ask(client):
        client.request("GET", "/", headers={"User-Agent": "check", "Accept": "*/*"})
        response = client.getresponse()
        return response.read() and response.status == 200

    for _ in range(int(count)):
        clients.append(http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE))
        failed += not ask(clients[-1])
        # An answer that is waited for in vain must not open the connection again.
        clients[-1].auto_open = 0
    print(failed, flush=True)
    sys.stdin.readline()
    for client in clients:
        try:
            failed += not ask(client)
        except (OSError, http.client.HTTPException):
            failed += 1
    print(failed, flush=True)
    sys.stdin.readline()


def part_websockets(port, certificate):
    """Prints what the handshake was answered with, in clear text and over TLS."""
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    trust = ssl.create_default_context(cafile=certificate)
    ports = port.split(",")
    for url, context in [(f"ws://127.0.0.1:{ports[0]}/", None), (f"wss://127.0.0.1:{ports[1]}/", trust)]:
        try:
            connect(url, ssl=context, open_timeout=PATIENCE).close()
            print(json.dumps([101, ""]))
        except InvalidStatus as error:
            print(json.dumps([error.response.status_code, (error.response.body or b"").decode()]))


GRPC_STATUS, GRPC_DETAILS = "FAILED_PRECONDITION", "100 % of the wrög state"
GRPC_FIELDS = [("x-check", "a, b"), ("x-check-bin", bytes(range(256)))]


def part_grpc_service():
    """Echoes messages, without generated code. Prints its port."""
    import grpc

    cancelled = threading.Semaphore(0)

    def begin(context):
        """Returns the fields of the client in the head and in the trailers."""
        fields = [field for field in context.invocation_metadata() if field[0].startswith("x-check")]
        context.send_initial_metadata(fields)
        context.set_trailing_metadata(fields)

    def unary(request, context):
        begin(context)
        return request

    def stream(requests, context):
        begin(context)
        yield from requests

    def fail(requests, context):
        begin(context)
        for _, message in zip(range(3), requests):
            yield message
        context.abort(grpc.StatusCode[GRPC_STATUS], GRPC_DETAILS)

    def was_cancelled(request, context):
        return b"%d" % cancelled.acquire(timeout=PATIENCE / 2)

    def hang(request, context):
        ended = threading.Event()
        context.add_callback(ended.set)
        if ended.wait(PATIENCE):
            cancelled.release()
        return b""

    def split(request, context):
        begin(context)
        size = len(request) // 100
        for place in range(0, len(request), size):
            yield request[place:place + size]

    def join(requests, context):
        begin(context)
        return b"".join(requests)

    handlers = {
        "Unary": grpc.unary_unary_rpc_method_handler(unary), "Join": grpc.stream_unary_rpc_method_handler(join),
        "Split": grpc.unary_stream_rpc_method_handler(split), "Stream": grpc.stream_stream_rpc_method_handler(stream),
        "Fail": grpc.stream_stream_rpc_method_handler(fail), "Hang": grpc.unary_unary_rpc_method_handler(hang),
        "Cancelled": grpc.unary_unary_rpc_method_handler(was_cancelled),
    }
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(64))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("check.Echo", handlers)])
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


def part_grpc_client(port, certificate):
    """Calls each method, over TLS if there is a certificate. Prints how many calls it made, or what was wrong."""
    import grpc, queue

    address = f"127.0.0.1:{port}"
    if certificate:
        trust = grpc.ssl_channel_credentials(pathlib.Path(certificate).read_bytes())
        channel = grpc.secure_channel(address, trust)
    else:
        channel = grpc.insecure_channel(address)
    calls = 0

    def ask(kind, name, message, seconds=PATIENCE):
        nonlocal calls
        calls += 1
        method = getattr(channel, kind)(f"/check.Echo/{name}")
        options = {"timeout": seconds, "metadata": GRPC_FIELDS}
        return method.with_call(message, **options) if kind.endswith("_unary") else method(message, **options)

    def same_fields(name, call):
        for place, fields in [("head", call.initial_metadata()), ("trailers", call.trailing_metadata())]:
            expect(set(GRPC_FIELDS) <= {tuple(field) for field in fields}, name, "has the", place, fields)

    large = BLOCK + BLOCK
    for message in (b"", b"abc", large):
        answer, call = ask("unary_unary", "Unary", message)
        expect(answer == message and call.code() == grpc.StatusCode.OK, "unary:", len(answer), "bytes", call.code())
        same_fields("unary", call)
    answer, call = ask("stream_unary", "Join", (large[place:place + 20000] for place in range(0, len(large), 20000)))
    expect(answer == large, "client streaming:", len(answer), "bytes")
    same_fields("client streaming", call)
    call = ask("unary_stream", "Split", large)
    messages = list(call)
    expect(b"".join(messages) == large and len(messages) > 99, "server streaming:", len(messages), "messages")
    same_fields("server streaming", call)

    # Each message is sent only when the answer to the one before has arrived.
    sent = queue.Queue()
    call = ask("stream_stream", "Stream", iter(sent.get, None))
    for number in range(100):
        sent.put(b"%d" % number)
        expect(next(call) == b"%d" % number, "bidirectional: message", number)
    sent.put(None)
    expect(list(call) == [] and call.code() == grpc.StatusCode.OK, "bidirectional:", call.code())
    same_fields("bidirectional", call)

    for count in (0, 3):
        call, received = ask("stream_stream", "Fail", iter([b"x"] * count)), 0
        try:
            for _ in call:
                received += 1
        except grpc.RpcError:
            pass
        wanted = (count, grpc.StatusCode[GRPC_STATUS], GRPC_DETAILS)
        expect((received, call.code(), call.details()) == wanted, "a status after", count, "messages:", received,
               call.code(), call.details())
        same_fields("a status", call)
    try:
        ask("unary_unary", "Hang", b"", 1)
        expect(False, "a call beyond its deadline has an answer")
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, "a call beyond its deadline:", error.code())
    expect(ask("unary_unary", "Cancelled", b"")[0] == b"1", "the service does not learn that the client gave up")

    method = channel.unary_unary("/check.Echo/Unary")
    futures = [method.future(b"%d" % number, timeout=PATIENCE) for number in range(500)]
    calls += len(futures)
    expect(all(future.result() == b"%d" % number for number, future in enumerate(futures)), "calls at the same time")
    channel.close()
    print(calls)


# MARK: What a check starts


class Gateway:
    """A running "sluice serve", with a port in clear text and one over TLS."""

    def __init__(self, process, log):
        self.process, self.log = process, log
        end = time.monotonic() + PATIENCE
        while len(ports := dict(re.findall(r" (https?)://127\.0\.0\.1:(\d+) serves ", log.read_text()))) < 2:
            expect(process.poll() is None, "sluice serve ended with", process.returncode)
            expect(time.monotonic() < end, "sluice serve did not listen within", PATIENCE, "s")
            time.sleep(0.02)
        self.port, self.tls_port = int(ports["http"]), int(ports["https"])
        self.clear, self.tls = f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{self.tls_port}"

    def memory(self, name):
        """A line of /proc/PID/status, in bytes."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M)[1]) * 1024

    def end(self):
        expect(self.process.poll() is None, "sluice serve ended with", self.process.returncode)
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        expect(status == 0, "sluice serve ended with", status, "after SIGTERM")


class Check:
    """One check, with its folder and the processes that it has started."""

    def __init__(self, arguments, folder):
        self.command, self.quick, self.python = arguments.command, arguments.quick, arguments.python
        self.folder, self.processes, self.gateways = folder, [], []
        self.environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.environment |= {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
        self.certificate = folder / "certificate.pem"

    def start(self, *command, **options):
        """Starts a program, in a group of its own, which ends with the check."""
        process = subprocess.Popen(
            [str(word) for word in command], env=self.environment, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def run(self, *command, seconds=PATIENCE, **options):
        """Runs a program to its end, and returns what it has printed."""
        process = self.start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{command[0]} did not end within {seconds} s")
        expect(process.returncode == 0, command[0], "ended with", process.returncode, (output + errors)[-1000:])
        self.errors = errors
        return output

    def part(self, name, *words, **options):
        return [self.python if name.startswith(("grpc", "websockets")) else sys.executable, __file__, "--part", name, *words]

    def serve(self, to, pipeline={}, limits={}, words=()):
        """Starts a gateway."""
        if not self.certificate.exists():
            self.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                     "-keyout", self.certificate, "-out", self.certificate)
        number = len(self.gateways)
        path, log = self.folder / f"{number}.json", self.folder / f"{number}.log"
        listen = [{"at": "0"}, {"at": "0", "tls": {"cert": str(self.certificate)}}]
        path.write_text(json.dumps({"serve": {"listen": listen, "to": to, "limits": limits}} | pipeline))
        with open(log, "w") as file:
            process = self.start(
                self.command, "serve", "-c", path, "--no-progress", *words, stdout=file, stderr=file)
        self.gateways.append(Gateway(process, log))
        return self.gateways[-1]

    def service(self):
        """Starts the service of this script in a thread, and returns its URL."""
        server = Server(("127.0.0.1", 0), Service)
        server.folder = self.folder
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    def nginx(self, files={}):
        """Starts nginx with these files, and returns its URL."""
        (self.folder / "files").mkdir()
        for name, content in files.items():
            (self.folder / "files" / name).write_bytes(content)
        path, place = self.folder / "nginx.conf", self.folder / "nginx.sock"
        path.write_text(NGINX.replace("FOLDER", str(self.folder)))
        process = self.start(find("nginx"), "-p", self.folder, "-c", path, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not place.exists():
            expect(process.poll() is None and time.monotonic() < end, "nginx did not start")
            time.sleep(0.02)
        return f"unix:{place}"

    def end(self):
        """Ends everything that the check has started."""
        for process in self.processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
        end = time.monotonic() + 10
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.01, end - time.monotonic()))
            # Also what a program such as a browser leaves behind.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin")


class Loop:
    """A client that makes one request after the other in a thread, on one connection, until it is told to stop."""

    def __init__(self, port):
        self.port, self.times, self.failures, self.stopped = port, [], [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        while not self.stopped.wait(0.002):
            begin = time.monotonic()
            try:
                client.request("GET", "/hello")
                response = client.getresponse()
                if response.read() != b"hello\n" or response.status != 200:
                    self.failures.append(response.status)
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                client.close()
            self.times.append(time.monotonic() - begin)

    def stop(self):
        self.stopped.set()
        self.thread.join(PATIENCE + 5)
        expect(self.times and not self.failures, len(self.failures), "of", len(self.times), "requests failed:",
               self.failures[:3])
        p99 = sorted(self.times)[len(self.times) * 99 // 100]
        return f"{len(self.times):,} requests beside them, 0 failed, p99 {p99 * 1000:.1f} ms"


# MARK: Checks

CHECKS = {}


def check(seconds, *needs):
    """Registers a check, with the limit of its time and what must be installed."""

    def register(function):
        CHECKS[function.__name__] = (function, seconds, ("openssl", *needs))
        return function

    return register


@check(180, "curl")
def curl(check):
    """HTTP/1.1, HTTP/2 over TLS and with prior knowledge; uploads; Expect: 100-continue."""
    gateway = check.serve(check.service())
    file = check.folder / "upload"
    file.write_bytes(random.Random(2).randbytes(10_000_000))
    sent = {"size": 10_000_000, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    versions = [(gateway.clear, "1.1", []), (gateway.tls, "1.1", ["--http1.1"]), (gateway.tls, "2", []),
                (gateway.clear, "2", ["--http2-prior-knowledge"])]

    def ask(url, version, words, status=200, **options):
        format = "%{stderr}\n%{http_version} %{response_code} %{size_upload}"
        output = check.run("curl", "-sS", "-k", "-v", "--max-time", PATIENCE, "-w", format, *words, url, **options)
        answer = check.errors.split()[-3:]
        expect(answer[:2] == [version, str(status)], url, *words, "is answered with", *answer)
        return output, int(answer[2])

    for url, version, words in versions:
        body, _ = ask(url + "/blocks/3", version, [*words, "-o", check.folder / "got"])
        expect((check.folder / "got").read_bytes() == BLOCK * 3, "the download over", version, "differs")
        # A file has a length, and the standard input has none.
        for name in (file, "-"):
            with open(file) as stdin:
                body, _ = ask(url + "/up", version, [*words, "-T", name, "-H", "Expect:"], stdin=stdin)
            expect(json.loads(body) == sent, "the upload of", name, "over", version, "differs:", body)
        # Without the interim response, curl would wait longer than the check.
        expectation = ["-H", "Expect: 100-continue", "--expect100-timeout", 2 * PATIENCE, "-T", file]
        body, _ = ask(url + "/up", version, [*words, *expectation])
        expect(json.loads(body) == sent, "the upload after 100 differs:", body)
        expect(re.search(rf"< HTTP/{version} 100", check.errors), "no 100 over", version)
        # Over HTTP/2, the answer is followed by RST_STREAM (RFC 9113, section 8.1). Then curl 7.88 often
        # loses the answer, also that of nginx.
        if version == "1.1":
            _, uploaded = ask(url + "/refuse", version, [*words, *expectation], 413)
            expect(uploaded == 0, "after 413,", uploaded, "bytes are sent")
    return (f"{len(versions)} ways: 3 MiB down; 10 MB up with and without a length, and after 100; over HTTP/1.1, 413 in "
            "place of 100")


@check(180, "h2load", "nginx")
def h2load(check):
    """10,000 requests over HTTP/2."""
    gateway = check.serve(check.nginx())
    return load(check, gateway, ["-n", 10_000])


def load(check, gateway, words, seconds=PATIENCE * 2):
    """Runs h2load, which ends with 0 even if requests fail."""
    output = check.run("h2load", "-t", 1, "-c", 16, "-m", 10, *words, gateway.tls + "/hello", seconds=seconds)
    counts = re.search(r"requests: (\d+) total, .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", output)
    good = re.search(r"status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx", output)
    expect(counts and good and "protocol: h2\n" in output, "h2load prints:", output[-1500:])
    total, succeeded, *bad = map(int, counts.groups())
    expect(succeeded == int(good[1]) == total > 0 and not any(bad), "h2load prints:", output[-1500:])
    rate = re.search(r"finished in .*?, (.*?) req/s", output)[1]
    return f"{total:,} requests over HTTP/2, 0 failed, {float(rate):,.0f}/s"


@check(240, "git")
def git(check):
    """Clones a repository with git's smart protocol, and pushes to it."""
    gateway = check.serve(check.service())
    origin, source = check.folder / "origin.git", check.folder / "source"
    rng = random.Random(3)

    def run(*words, of=source):
        return check.run(
            "git", "-C", of, "-c", "user.name=check", "-c", "user.email=check@localhost", "-c", "http.sslVerify=false",
            *words)

    def commit(count):
        for number in range(count):
            (source / f"{rng.randrange(300)}.bin").write_bytes(rng.randbytes(rng.randrange(100_000)))
            if number % 20 == 19:
                run("add", "-A")
                run("commit", "-qm", f"change {number}")

    check.run("git", "init", "-q", "-b", "main", source)
    commit(200)
    check.run("git", "clone", "-q", "--bare", source, origin)
    run("config", "http.receivepack", "true", of=origin)
    for place, url in [("clear", gateway.clear), ("tls", gateway.tls)]:
        clone = check.folder / place
        run("clone", "-q", f"{url}/git/origin.git", clone, of=check.folder)
        # The pack is larger than http.postBuffer, so it is pushed in chunks.
        commit(60)
        run("push", "-q", f"{url}/git/origin.git", "main")
        run("pull", "-q", of=clone)
        for repository in (clone, origin):
            run("fsck", "--full", "--strict", of=repository)
            heads = [run("rev-parse", "HEAD", of=of) for of in (source, repository)]
            expect(heads[0] == heads[1], "over", place, repository.name, "is at", heads[1])
    size = sum(path.stat().st_size for path in origin.rglob("*") if path.is_file())
    return f"clone, push and pull in clear text and over TLS, {size / 1e6:.0f} MB, fsck finds nothing"


@check(240, "chromium", "nginx")
def chromium(check):
    """A page of 100 images and scripts over HTTP/2."""
    # Both halves of the count are of the browser: what it has decoded or run, and over which protocol it came.
    page = ["<!DOCTYPE html><title>check</title><link rel=icon href=data:,><script>var ran = 0</script>"]
    files = {}
    for number in range(50):
        files[f"{number}.svg"] = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--{"x" * 100 * number}--></svg>').encode()
        files[f"{number}.js"] = f"ran++ // {'x' * 2000 * number}\n".encode()
        page.append(f"<img src={number}.svg><script src={number}.js></script>")
    page.append("""<p id=result></p><script>addEventListener("load", () => {
      const images = [...document.images].filter(image => image.naturalWidth == 9).length
      const over = performance.getEntriesByType("resource").filter(entry => entry.nextHopProtocol == "h2").length
      document.getElementById("result").textContent = `${images} images, ${ran} scripts, ${over} over h2`
    })</script>""")
    gateway = check.serve(check.nginx(files | {"page.html": "\n".join(page).encode()}))
    dom = check.run(
        find("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--ignore-certificate-errors",
        f"--user-data-dir={check.folder}/chromium", "--dump-dom", gateway.tls + "/page.html", seconds=180)
    result = re.search("<p id=\"result\">(.*?)</p>", dom)
    expect(result, "the page was not loaded:", dom[-500:], check.errors[-500:])
    expect(result[1] == "50 images, 50 scripts, 100 over h2", "the page counts", result[1])
    return result[1]


@check(240, "grpc")
def grpc(check):
    """Calls of all four kinds, with trailers, statuses, a deadline and 500 calls at the same time."""
    service = check.start(*check.part("grpc_service"), stdout=subprocess.PIPE, text=True)
    port = service.stdout.readline().strip()
    gateway = check.serve(f"http://127.0.0.1:{port}", {"transport": {"httpVersion": "2-prior-knowledge"}})
    results = []
    for name, words in [("in clear text", (gateway.port, "")), ("over TLS", (gateway.tls_port, check.certificate))]:
        try:
            results.append(f"{int(check.run(*check.part('grpc_client', *words), seconds=100)):,} calls {name}")
        except Failure as failure:
            raise Failure(f"{name}: {failure}")
    return ", ".join(results)


@check(120, "websockets")
def websockets(check):
    """The handshake is refused, and the answer names the upgrade."""
    gateway = check.serve(check.service())
    output = check.run(*check.part("websockets", f"{gateway.port},{gateway.tls_port}", check.certificate))
    for status, body in map(json.loads, output.splitlines()):
        expect(status == 501 and "upgrade" in body, "the handshake is answered with", status, body)
    return f"501 in clear text and over TLS: {json.loads(body)['error']['message']}"


@check(400, "slowhttptest", "nginx")
def slowhttptest(check):
    """Slow heads, slow bodies and slow readers do not disturb another client."""
    seconds, results = 5 if check.quick else 20, []
    gateway = check.serve(check.nginx({"large.html": BLOCK * 8}))
    modes = {"slow heads": ["-H", "-i", 1, "-u", gateway.clear + "/hello"],
             "slow bodies": ["-B", "-i", 1, "-s", 8192, "-u", gateway.clear + "/form"],
             "slow reads": ["-X", "-w", 512, "-y", 1024, "-n", 1, "-z", 32, "-u", gateway.clear + "/large.html"]}
    for name, words in modes.items():
        loop = Loop(gateway.port)
        begin = time.monotonic()
        output = check.run("slowhttptest", "-c", 200, "-r", 200, "-l", seconds, "-p", PATIENCE, *words, seconds=seconds + 90)
        # It ends early once the gateway has closed all of its connections.
        while time.monotonic() < begin + seconds:
            time.sleep(0.1)
        answer = loop.stop()
        output = re.sub("\x1b\\[[0-9;]*m", "", output)
        # The counts are printed every 5 s, so the last ones are older than the end.
        counts = {key: int(value) for key, value in re.findall(r"(\w+): +(\d+)\n", output)}
        end = re.search(r"Test ended on (\d+)\w+ second\s+Exit status: +([^\n]+)", output)
        available = re.findall(r"service available: +(\w+)", output)
        expect(end and available and set(available) == {"YES"} and counts["connected"] + counts["closed"] == 200,
               name, "did not get 200 connections:", output[-800:])
        results.append(f"200 {name}, until {end[1]} s ({end[2].strip().lower()}): {answer}")
    return "; ".join(results)


@check(600)
def idle(check):
    """Memory of connections that wait after a request."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = 1000 if check.quick else min(10_000, limit - 500)
    gateway = check.serve(check.service(), limits={"idle": "10m", "connections": count + 100})

    def settled():
        """The resident memory, when it has not changed for a while."""
        memory, since = gateway.memory("VmRSS"), time.monotonic()
        while time.monotonic() < since + 2:
            time.sleep(0.1)
            if gateway.memory("VmRSS") != memory:
                memory, since = gateway.memory("VmRSS"), time.monotonic()
        return memory

    def clients(count):
        process = check.start(
            *check.part("idle", gateway.port, count), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        failed = process.stdout.readline().strip()
        expect(failed == "0", failed, "of", count, "requests failed")
        return process

    # The first connections and requests make what serves all later ones.
    clients(20).communicate("\n\n")
    before = settled()
    process = clients(count)
    each = (settled() - before) / count
    process.stdin.write("\n")
    process.stdin.flush()
    failed = process.stdout.readline().strip()
    expect(failed == "0", failed, "of", count, "later requests failed")
    process.communicate("\n")
    expect(each <= IDLE_BYTES, f"{each / 1024:.2f} KiB for each of {count:,} connections")
    return f"{each / 1024:.2f} KiB for each of {count:,} connections, which all serve a second request"


@check(900, "curl")
def large(check):
    """Large bodies pass in both directions, in little memory."""
    blocks = 64 if check.quick else 1024
    digest = hashlib.sha256()
    for _ in range(blocks):
        digest.update(BLOCK)
    results, service = [], check.service()
    for name, words in [("HTTP/1.1", []), ("HTTP/2 over TLS", ["-k"])]:
        gateway = check.serve(service)
        base = gateway.tls if words else gateway.clear
        words = ["curl", "-sS", "-f", *words]
        begin = time.monotonic()
        got, down = hashlib.sha256(), check.start(*words, f"{base}/blocks/{blocks}", stdout=subprocess.PIPE)
        while piece := down.stdout.read(1 << 16):
            got.update(piece)
        expect(down.wait(PATIENCE) == 0 and got.digest() == digest.digest(), "the download over", name, "differs:",
               "curl ended with", down.returncode)
        middle = time.monotonic()
        up = check.start(*words, "-T", "-", base + "/up", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with contextlib.suppress(BrokenPipeError):
            for _ in range(blocks):
                up.stdin.write(BLOCK)
        body = up.communicate()[0]
        expect(up.returncode == 0 and json.loads(body) == {"size": blocks << 20, "sha256": digest.hexdigest()},
               "the upload over", name, "differs: curl ended with", up.returncode, body)
        seconds = [middle - begin, time.monotonic() - middle]
        peak = gateway.memory("VmHWM")
        expect(peak <= PEAK_BYTES, f"peak memory over {name}: {peak / 1e6:.1f} MB")
        results.append(f"over {name} {seconds[0]:.1f} s down, {seconds[1]:.1f} s up, peak {peak / 1e6:.1f} MB")
    return f"{blocks} MiB, hashes are equal; " + "; ".join(results)


@check(300, "h2load", "nginx")
def swaps(check):
    """Builds of a plugin are exchanged under load."""
    seconds = 10 if check.quick else 60
    library, content = check.folder / "libheaders.so", (check.command.parent / "libstatic-headers.so").read_bytes()

    def build(number):
        """Another build, which does the same. The file is replaced at once."""
        new = check.folder / "new.so"
        new.write_bytes(content + b"%d" % number)
        new.chmod(0o755)
        new.rename(library)

    build(0)
    stages = {"request": {"x-check": "1"}, "response": {"x-check": "1"}}
    pipeline = {"plugins": {"headers": {"library": str(library), "config": stages}}, "request": ["headers"],
                "response": ["headers"], "store": str(check.folder / "store")}
    control = check.folder / "control"
    # h2load does not open a connection again that the gateway has closed after its last request.
    gateway = check.serve(check.nginx(), pipeline, {"requestsPerConnection": 1_000_000_000}, ["--control", control])
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        answer, count = executor.submit(load, check, gateway, ["-D", seconds], seconds + 120), 0
        while not answer.done():
            next_one = time.monotonic() + 0.1
            count += 1
            build(count)
            report = json.loads(check.run(check.command, "ctl", "swap", "--json", "--socket", control))
            expect((report.get("outcome"), report.get("snapshot")) == ("published", count + 1), "swap", count, report)
            time.sleep(max(0, next_one - time.monotonic()))
        return f"{count} swaps, {count / seconds:.1f}/s; {answer.result()}"


@check(300)
def killed(check):
    """A service that is killed: each request has a result, and a part of a body is not taken for the whole."""
    port, rounds = port_to_keep(), 2 if check.quick else 5

    def start():
        process = check.start(*check.part("service", port))
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return process
            time.sleep(0.02)
        raise Failure("the service did not start")

    service = start()
    gateway = check.serve(f"http://127.0.0.1:{port}")
    results, stopped = [], threading.Event()

    def ask(client, method, path):
        begin = time.monotonic()
        try:
            client.request(method, path, b"x" * 1000 if method == "POST" else None)
            response = client.getresponse()
            response.read()
            result = response.status
        except (OSError, http.client.HTTPException) as error:
            result = repr(error)
            client.close()
        results.append((begin, time.monotonic(), method, path, result))

    def loop(number):
        client = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
        while not stopped.is_set():
            ask(client, ("GET", "POST")[number % 2], ("/wait", "/")[number // 2 % 2])

    def wait(holds, name):
        end = time.monotonic() + PATIENCE
        while not holds():
            expect(time.monotonic() < end, "within", PATIENCE, "s,", name)
            time.sleep(0.02)

    threads = [threading.Thread(target=loop, args=(number,), daemon=True) for number in range(8)]
    for thread in threads:
        thread.start()
    up, cut = [], 0
    try:
        for _ in range(rounds):
            begin = time.monotonic()
            wait(lambda: sum(result[0] > begin for result in results) > 200, "not enough requests had a result")
            partial = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
            partial.request("GET", "/part")
            response = partial.getresponse()
            response.read(1000)
            up.append((begin, time.monotonic()))
            service.kill()
            try:
                response.read()
            except (OSError, http.client.HTTPException):
                cut += 1
            service.wait(PATIENCE)
            dead = time.monotonic()
            wait(lambda: sum(result[0] > dead for result in results) > 50, "requests had no result")
            service = start()
        begin = time.monotonic()
        wait(lambda: sum(result[0] > begin for result in results) > 200, "not enough requests had a result")
        up.append((begin, time.monotonic()))
    finally:
        stopped.set()
        for thread in threads:
            thread.join(PATIENCE)
    other = [result for result in results if result[4] not in (200, 502, 504)]
    expect(not other, len(other), "requests have another result:", other[:3])
    early = [result for begin, end in up for result in results
             if begin < result[0] and result[1] < end and result[4] != 200]
    expect(not early, len(early), "requests to a running service failed:", early[:3])
    expect(cut == rounds, "a part of a body was taken for the whole", rounds - cut, "times")
    counts = [sum(result[4] == status for result in results) for status in (200, 502, 504)]
    return (f"{rounds} kills, {len(results):,} requests: {counts[0]:,} 200, {counts[1]:,} 502, {counts[2]:,} 504; cut "
            "bodies are noticed")


def port_to_keep():
    """A free port that no connection gets by itself, as one to a port without a listener can."""
    for port in random.sample(range(20000, 30000), 1000):
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port
    raise Failure("no port is free")


# MARK: All checks


def missing(arguments, needs):
    """The first of these that is not installed."""
    for need in needs:
        if need in MODULES:
            found = subprocess.run([arguments.python, "-c", f"import {need}"], stderr=subprocess.DEVNULL).returncode == 0
        else:
            found = find(need)
        if not found:
            return f"{need} ({PACKAGES[need]})"


def run_check(arguments, name):
    """Runs a check, and returns whether it passed."""
    function, seconds, _ = CHECKS[name]

    def late(*_):
        raise Failure(f"did not end within {seconds} s")

    folder = pathlib.Path(tempfile.mkdtemp(prefix="check-clients-"))
    check, failure = Check(arguments, folder), None
    signal.signal(signal.SIGALRM, late)
    try:
        try:
            signal.alarm(seconds)
            result = function(check)
            for gateway in check.gateways:
                gateway.end()
        except Exception as error:
            failure = error if isinstance(error, Failure) else repr(error)
        signal.alarm(0)
        if failure is None:
            print(f"check-clients: {name}: {result}", flush=True)
            return True
        print(f"check-clients: {name}: FAILED: {failure}", flush=True)
        for log in folder.glob("*.log"):
            print(log.read_text(errors="replace")[-2000:], end="", flush=True)
        return False
    finally:
        signal.alarm(0)
        check.end()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if sys.argv[1:2] == ["--part"]:
        try:
            return globals()[f"part_{sys.argv[2]}"](*sys.argv[3:])
        except Failure as failure:
            sys.exit(str(failure))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", nargs="+", default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("command", nargs="?", default=str(ROOT / ".build/release/sluice"), metavar="SLUICE")
    arguments = parser.parse_args()
    # "--only" takes all words that follow it.
    if arguments.only and arguments.only[-1] not in CHECKS:
        arguments.command = arguments.only.pop()
    if unknown := set(arguments.only) - set(CHECKS):
        parser.error(f"unknown checks: {', '.join(unknown)}; available: {', '.join(CHECKS)}")
    if not shutil.which(arguments.command):
        parser.error(f"{arguments.command} is not a program")
    arguments.command = pathlib.Path(shutil.which(arguments.command)).resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    skipped, failed = [], []
    for name in arguments.only or CHECKS:
        if need := missing(arguments, CHECKS[name][2]):
            skipped.append(f"{name}, which needs {need}")
        elif not run_check(arguments, name):
            failed.append(name)
    for text in skipped:
        print(f"check-clients: skipped {text}")
    if failed or (skipped and arguments.require):
        sys.exit(f"check-clients: {len(failed)} failed, {len(skipped)} skipped")
    print(f"check-clients: passed, {len(skipped)} skipped")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
