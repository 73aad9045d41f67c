"""A service for the suite of W3C Trace Context. It makes its calls with `sluice send`, and passes the trace headers of its
own request in environment variables. With --attach, it makes the calls with curl under `sluice attach`.

usage: send_service.py SLUICE CONFIGURATION [--attach]        prints the URL at which it listens
"""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLUICE, CONFIGURATION = sys.argv[1:3]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        calls = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        statuses = [self._send(call) for call in calls]
        body = json.dumps(statuses).encode()
        self.send_response(200 if not any(statuses) else 502)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send(self, call):
        environment = dict(os.environ)
        for name in ("traceparent", "tracestate", "baggage"):
            environment.pop(name.upper(), None)
            # A variable has one value, so several lines of a header are joined (RFC 9110 §5.3). If a request has
            # several traceparent lines, the joined value is invalid.
            if values := self.headers.get_all(name):
                environment[name.upper()] = ",".join(values)
        if sys.argv[3:] == ["--attach"]:
            program = [SLUICE, "attach", "-q", "-c", CONFIGURATION, "--", "curl", "-f"]
        else:
            program = [SLUICE, "send", "-c", CONFIGURATION]
        arguments = [*program, "-s", "-H", "Content-Type: application/json"]
        data = json.dumps(call["arguments"])
        return subprocess.run([*arguments, "--data-binary", data, call["url"]], env=environment, check=False,
                              stdout=subprocess.DEVNULL).returncode

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
