#!/usr/bin/env python3
"""Checks that "sluice serve" forwards only requests that the service behind it counts in the same way.

  scripts/check-heads.py [--count N] [--seed S] SLUICE

Mutated heads and bodies go through two gateways: one before nginx, one before apache2. The gateway writes an event for each
request that it sends, and the service a line for each request that it reads. Each request has an id, which the gateway
makes, and the service logs and returns. These must be the same requests, and the client must get their answers. A request
that only the service sees is a smuggled one.

SLUICE is the command, such as .build/release/sluice. nginx and apache2 must be installed; Debian's packages nginx-light and
apache2-bin are enough. The same seed makes the same heads.

A service can refuse a valid request. Such refusals are no differences if they are of a kind in KNOWN, where each has its
reason; the number of each kind is printed.
"""
import argparse, asyncio, collections, ctypes, dataclasses, itertools, json, os, pathlib, random, re, shutil, signal
import socket, subprocess, sys, tempfile, time

BATCH = 500
# The services and the gateways start anew after so many heads, because their logs grow.
ROUND = 20000
CONNECTIONS = 100
# How long a batch waits for the logs, and a client for the end of its connection.
SETTLE = CLIENT = 10
# The gateway ends a connection itself after this time without a byte. So a client that waits cuts nothing off.
SILENCE = "300ms"
# So many differences of a batch are printed, and so many are traced to their heads. All are counted.
TRACED = 5
FRAMING = ("Content-Length", "Transfer-Encoding")
MODULES = pathlib.Path("/usr/lib/apache2/modules")

NGINX = """
daemon off; master_process off; worker_processes 1;
pid FOLDER/nginx.pid; error_log FOLDER/nginx.error info;
events { worker_connections 4096; }
http {
  log_format check escape=json '{"id":"$http_x_check","method":"$request_method","target":"$request_uri","line":"$request",'
    '"status":"$status","connection":"$connection",'
    '"fields":["$http_host","$http_content_length","$http_transfer_encoding"]}';
  access_log FOLDER/log check;
  client_body_temp_path FOLDER/t1; proxy_temp_path FOLDER/t2; fastcgi_temp_path FOLDER/t3; uwsgi_temp_path FOLDER/t4;
  scgi_temp_path FOLDER/t5;
  keepalive_timeout 1h; keepalive_requests 1000000000;
  client_max_body_size 0; client_header_buffer_size 16k; large_client_header_buffers 8 256k;
  default_type text/plain;
  server {
    listen 127.0.0.1:PORT backlog=4096;
    add_header X-Seen $http_x_check always;
    # The answer comes before the body was read.
    location / { return 200 "ok\\n"; }
    location = /r { return 200 "ok\\n"; }
    # The body is read before the answer.
    location /r/ { add_header X-Seen $http_x_check always; proxy_pass http://unix:FOLDER/inner:; }
  }
  server { listen unix:FOLDER/inner; access_log off; location / { return 200 "read\\n"; } }
}
"""

# Apache reads the body before the answer.
APACHE = """
ServerRoot FOLDER
ServerName localhost
Listen 127.0.0.1:PORT
ListenBacklog 4096
PidFile FOLDER/apache2.pid
DefaultRuntimeDir FOLDER
Mutex posixsem
ErrorLog FOLDER/apache2.error
LogLevel info core:debug
LoadModule mpm_event_module MODULES/mod_mpm_event.so
LoadModule authz_core_module MODULES/mod_authz_core.so
LoadModule alias_module MODULES/mod_alias.so
LoadModule headers_module MODULES/mod_headers.so
StartServers 1
ServerLimit 1
ThreadsPerChild 128
MaxRequestWorkers 128
MinSpareThreads 1
MaxSpareThreads 128
AsyncRequestWorkerFactor 16
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
Timeout 60
LimitRequestFields 0
LimitRequestFieldSize 200000
LimitRequestBody 0
LimitRequestLine 200000
LogFormat "%{X-Check}i\\t%m\\t%>s\\t%{remote}p\\t%{Host}i\\t%{Content-Length}i\\t%{Transfer-Encoding}i\\t%r" check
CustomLog FOLDER/log check
Header always set X-Seen "expr=%{req:X-Check}"
ErrorDocument 404 "ok"
RedirectMatch 404 "^"
"""


# MARK: Heads


@dataclasses.dataclass
class Head:
    """What one client sends, in pieces, and what it does then."""

    number: int
    pieces: list
    ending: str
    changes: list

    def __post_init__(self):
        self.bytes = b"".join(self.pieces)

    def __str__(self):
        cuts = list(itertools.accumulate(len(piece) for piece in self.pieces))[:-1]
        sent = f", sent in pieces that end at {cuts}" if cuts else ""
        made = f"head {self.number}, made by {', '.join(self.changes)}{sent}"
        return f"{made}; then the client {self.ending}s: {shown(self.bytes)}"


def shown(data):
    """The bytes as an expression of Python, in which long runs of one byte are short."""
    parts, place = [], 0
    for run in re.finditer(rb"(.)\1{63,}", data, re.S):
        parts += [repr(data[place:run.start()])] if run.start() > place else []
        parts.append(f"{run[1]!r} * {len(run[0])}")
        place = run.end()
    return " + ".join(parts + [repr(data[place:])] if place < len(data) or not parts else parts)


class Message:
    """One request before its bytes are joined."""

    def __init__(self, method, target):
        self.method, self.target, self.version = method, target, b"HTTP/1.1"
        self.before, self.gaps, self.line_end, self.head_end = b"", [b" ", b" "], b"\r\n", b"\r\n"
        # Name, separator, value, line end
        self.fields = []
        self.data = b""
        # Size line, line end, data, line end
        self.chunks = []
        # What follows the size line of the last chunk
        self.trailers = b"\r\n"

    def add(self, name, value, place=None):
        self.fields.insert(len(self.fields) if place is None else place, [name, b": ", value, b"\r\n"])

    def add_anywhere(self, rng, name, value):
        self.add(name, value, rng.randrange(len(self.fields) + 1))

    def find(self, name):
        return [field for field in self.fields if field[0].lower() == name.lower()]

    def body(self):
        return self.data + b"".join(b"".join(chunk) for chunk in self.chunks) + (self.trailers if self.chunks else b"")

    def __bytes__(self):
        line = self.method + self.gaps[0] + self.target + self.gaps[1] + self.version + self.line_end
        return self.before + line + b"".join(b"".join(field) for field in self.fields) + self.head_end + self.body()


def hidden(rng, number):
    """A request that hides in a body."""
    end = rng.choice([b"\r\n\r\n", b"\r\nHost: a\r\n\r\n", b"\r\nHost: a\r\nContent-Length: 5\r\n\r\n", b"\r\nX: "])
    method = rng.choice([b"GET", b"GET", b"POST", b"HEAD"])
    return b"%s /smuggled/%d HTTP/1.1%s" % (method, number, end)


def payload(rng, number):
    kind = rng.randrange(12)
    if kind < 3:
        return hidden(rng, number)
    if kind < 5:
        return b"0\r\n\r\n" + hidden(rng, number)
    if kind == 5:
        return b"\r\n" + hidden(rng, number)
    if kind == 6:
        inner = hidden(rng, number)
        return b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner)
    if kind == 7 and rng.random() < 0.1:
        # More than what the gateway receives before it sends a request.
        return b"x" * rng.choice([65535, 65536, 65537, 70000])
    return rng.choice([b"", b"x", b"hello", b"a=1&b=2", b"\r\n", b"0", b"\0" * 3, b"x" * 300])


def valid(rng, number):
    body = rng.choice(["none", "length", "length", "chunked", "chunked"])
    method = rng.choice([b"GET", b"GET", b"HEAD", b"DELETE"] if body == "none" else [b"POST", b"POST", b"PUT", b"GET"])
    target = rng.choice([b"/h/%d", b"/h/%d", b"/r/%d", b"/r/%d", b"/h/%d?a=b&c", b"/h/%d/a%%20b"]) % number
    message = Message(method, target)
    message.add(b"Host", rng.choice([b"a", b"127.0.0.1:8080", b"example.com"]))
    if rng.random() < 0.3:
        message.add(b"User-Agent", b"check")
    if body == "length":
        message.data = payload(rng, number)
        message.add(b"Content-Length", b"%d" % len(message.data))
    if body == "chunked":
        message.add(b"Transfer-Encoding", b"chunked")
        for _ in range(rng.randrange(3)):
            data = payload(rng, number)
            if data:
                message.chunks.append([b"%x" % len(data), b"\r\n", data, b"\r\n"])
        message.chunks.append([b"0", b"\r\n", b"", b""])
    if rng.random() < 0.3:
        message.add(b"Accept", b"*/*")
    return message


# MARK: Mutations

CHANGES = []
CONTROLS = [bytes([byte]) for byte in (0, 1, 7, 8, 9, 10, 11, 12, 13, 14, 27, 31, 127, 128, 133, 160, 255)]
CODINGS = [
    b"chunked", b"Chunked", b"CHUNKED", b"chunked, chunked", b"chunked,chunked", b"xchunked", b"chunkedx", b"x chunked",
    b"chunked x", b"\x0bchunked", b"chunked\x0b", b"\x0cchunked", b"chunked\x0c", b"\tchunked", b"chunked\t",
    b"\tchunked\t", b"identity", b"identity, chunked", b"chunked, identity", b"gzip, chunked", b"chunked, gzip", b"gzip",
    b"deflate, chunked", b"", b" ", b",", b",chunked", b"chunked,", b", chunked ,", b"chunked;q=1", b"chunked;a=b",
    b'"chunked"', b"'chunked'", b"chunked\0", b"\0chunked", b"chu\0nked", b"chunked\x00, identity", b"chunked\xa0",
    b"\xa0chunked", b"chunked\x85", b"chun\rked", b"chunked\r", b"chunked\n", b"chunked\r\n\t", b"\r\n chunked",
    b"\r\n\tchunked", b"x\r\n chunked", b"chunked\r\n , identity", b"cow", b"cow, chunked", b"trailers", b"ch\xc3\xbcnked",
    b"chunke", b"chunked\x1f", b"%63hunked", b"chunked \t", b"chunked\x7f", b"chunked chunked", b"null", b"false",
    b"x-chunked", b"compress, chunked", b"chunKed",
]
METHODS = [
    b"get", b"Get", b"post", b"head", b"HEAD", b"OPTIONS", b"CONNECT", b"connect", b"TRACE", b"PATCH", b"PUT", b"DELETE",
    b"GETX", b"GE T", b"GET\t", b"G\0T", b"G@T", b"", b"!#$%&'*+-.^_`|~", b"X-A", b"X_A", b"M" * 70, b"G\xc3\x89T", b"PRI",
    b"PROPFIND", b"LOCK", b"QUERY", b"HTTP/1.1", b"GET/", b'"GET"', b"GET:", b"1", b"SSTP_DUPLEX_POST", b"\x16\x03\x01",
]
VERSIONS = [
    b"HTTP/1.0", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.9", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.10", b"HTTP/01.1", b"HTTP/1.01",
    b"http/1.1", b"Http/1.1", b"HTTP/1", b"HTTP/1.", b"HTTP/.1", b"HTTP/11", b"HTTP/3.0", b"HTTP /1.1", b"HTTP/ 1.1",
    b"HTTP/1 .1", b"HTTP/1.1 ", b"HTTP/1.1\t", b"HTTP/1.1x", b"HTTP/1.1 HTTP/1.1", b"", b"HTTPS/1.1", b"HTTP\\1.1",
    b"HTTP/1,1", b"HTTP/-1.1", b"HTTP/+1.1", b"HTTP/1.1\0", b"HTTP/1.\xb1", b"ICY/1.1", b"HTTP/9.9",
]
HOSTS = [
    b"", b" ", b"a, b", b"a b", b"a/b", b"a@b", b"u:p@a", b"a:80", b"a:x", b"a:", b":80", b"a:99999", b"[::1]", b"[::1",
    b"::1", b"[::1]x", b"a\tb", b"a\0b", b"a%00b", b"a%41", b"\xc3\xa4", b"a_b", b"a..b", b".a", b"a.", b"-a", b"a" * 300,
    b"a?b", b"a#b", b"a\\b", b"*", b"a;b", b"127.0.0.1", b"1.2.3.4.5", b"localhost", b"http://a", b"a:80:80", b"a,a",
    b"a\x7f", b"'a'", b'"a"', b"a<b>", b"a|b", b"a^b", b"a`b", b"a{b}", b"(a)", b"a!b", b"a$b&c", b"a+b=c", b"a~b", b"%",
    b"%zz", b"[v1.a]", b"[::1%25a]",
]
TARGETS = [
    b"*", b"", b"?", b"?/h/%d", b"h/%d", b"//a/h/%d", b"///h/%d", b"/h/%d#x", b"/h/%d\\x", b"\\h\\%d", b"/h/%d/../x",
    b"/h/%d/./x", b"/../h/%d", b"/h/%d/..", b"/h/%d/%%2e%%2e/x", b"/h/%d/..%%2fx", b"/h/%d/%%5c..", b"/h/%d/..;/x",
    b"/h/%d;a=b", b"/h/%d%%00", b"/h/%d%%0d%%0aX:%%20y", b"/h/%d%%", b"/h/%d%%z", b"/h/%d%%zz", b"/h/%d%%u0041",
    b"/h/%d%%20HTTP/1.1", b"/h/%d HTTP/1.1", b"/h/%d\tx", b"/h/%d\x00", b"/h/%d\x7f", b"/h/%d\xc3\xa4", b"/h/%d\xff",
    b"/h/%d\r", b"/h/%d\n", b"/h/%d\x0b", b"/h/%d\x0cx", b'/h/%d"', b"/h/%d<>", b"/h/%d{}", b"/h/%d|", b"/h/%d^", b"/h/%d`",
    b"/h/%d[]", b"/h/%d'", b"/h/%d?%%", b"/h/%d?a b", b"/h/%d?a#b", b"/h/%d?\x80", b"/h/%d?/../..", b"/h/%d??", b"/h/%d@a",
    b"/h/%d:80", b"/h/%d//x", b"/%%68/%d", b"/h%%2f%d", b"/r/%d//..//x", b"http://a/h/%d", b"http://b:81/h/%d",
    b"HTTP://a/h/%d", b"https://a/h/%d", b"ftp://a/h/%d", b"http:/h/%d", b"http:h/%d", b"http:///h/%d", b"http://u@a/h/%d",
    b"http://u:p@a/h/%d", b"http://a?x=%d", b"http://a:99999/h/%d", b"http://a:/h/%d", b"http://[::1]/h/%d",
    b"http://a\\b/h/%d", b"http://a b/h/%d", b"http://a%%20b/h/%d", b"http://*/h/%d", b"http://a/h/%d/../..",
    b"http://a//h/%d", b"a:80", b"a:80/h/%d", b"/http://a/h/%d", b"unix:/h/%d", b"http://a#/h/%d", b"http://_/h/%d",
    b"http://.../h/%d", b"http://a,b/h/%d", b"http://xn--a/h/%d", b"http://\xc3\xa4/h/%d", b"http://a'b/h/%d",
    b"http://a\"b/h/%d", b"ws://a/h/%d",
]
OPTIONS = [
    b"close", b"keep-alive", b"content-length", b"transfer-encoding", b"host", b"Content-Length, Transfer-Encoding",
    b"x-check", b"close, content-length", b"keep-alive, transfer-encoding", b"upgrade", b"Upgrade, HTTP2-Settings", b"te",
    b"trailer", b"expect", b"via", b"x-forwarded-for", b"forwarded", b"connection", b"close, keep-alive", b"", b",",
    b", ".join([b"x"] * 40), b"clos\x65 ", b"close\x0b", b"\x0bclose", b"keep-alive\0", b"close;a", b'"close"',
    b"user-agent, accept", b"cookie", b"date", b"x y", b"close close",
]
EXPECTATIONS = [
    b"100-continue", b"100-continue", b"100-Continue", b"100-continue, 100-continue", b"x 100-continue", b"100-continue x",
    b"", b"200-ok", b"100-continue;a=b", b"100-continue, x", b"\t100-continue\t", b"\x0b100-continue", b"100-continue\0",
    b"100", b'"100-continue"', b"\r\n 100-continue", b"100-\r\n continue", b",100-continue", b"100-continue,",
]
OTHERS = [
    (b"Upgrade", b"h2c"), (b"Upgrade", b"websocket"), (b"Upgrade", b"TLS/1.2, HTTP/1.1"), (b"Upgrade", b""),
    (b"Upgrade", b"HTTP/2.0"), (b"HTTP2-Settings", b"AAMAAABkAAQAAP__"), (b"Trailer", b"Content-Length"),
    (b"Trailer", b"X-T"), (b"Trailer", b""), (b"TE", b"trailers"), (b"TE", b"chunked"), (b"TE", b"trailers, deflate;q=0.5"),
    (b"Keep-Alive", b"timeout=0, max=0"), (b"Proxy-Connection", b"close"), (b"Max-Forwards", b"0"), (b"Via", b"1.1 a"),
    (b"Forwarded", b"for=a;host=b"), (b"Forwarded", b'for="a'), (b"X-Forwarded-For", b"1.2.3.4\x0b"),
    (b"X-Forwarded-Host", b"b"), (b"X-HTTP-Method-Override", b"HEAD"), (b"Range", b"bytes=0-0"),
    (b"Range", b"bytes=0-,0-,0-"), (b"If-None-Match", b"*"), (b"If-Match", b"*"), (b"If-Modified-Since", b"x"),
    (b"Accept-Encoding", b"gzip"), (b"Content-Encoding", b"gzip"), (b"Content-Type", b"multipart/form-data; boundary=a"),
    (b"Content-Type", b"multipart/byteranges; boundary=a"), (b"Content-Range", b"bytes 0-0/1"), (b"Cookie", b"a=b; c=\xff"),
    (b"Authorization", b"Basic YTpi"), (b"Proxy-Authorization", b"Basic YTpi"), (b"X-Original-URL", b"/smuggled/0"),
    (b"X-Accel-Redirect", b"/smuggled/0"), (b"X", b""), (b"X", b"\xff\xfe"), (b"X", b"a\r\n b"), (b"X", b"a\r\n\tb"),
    (b"X", b"a\r b"), (b"X", b"a\rGET /smuggled/0 HTTP/1.1\r\r"), (b"X", b"a\n\nGET /smuggled/0 HTTP/1.1\n\n"),
    (b"Set-Cookie", b"a"), (b"Date", b"x"), (b"traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    (b"Sec-WebSocket-Key", b"dGhlIHNhbXBsZSBub25jZQ=="),
]


def change(weight=1):
    """Registers a mutation, which takes the source of randomness, the message and its number."""

    def register(function):
        CHANGES.extend([function] * weight)
        return function

    return register


def pick(rng, message):
    """A field, rather one that frames or routes."""
    if not message.fields:
        message.add(b"X", b"y")
    framing = [field for field in message.fields if field[0] in (b"Content-Length", b"Transfer-Encoding", b"Host")]
    return rng.choice(framing if framing and rng.random() < 0.7 else message.fields)


def lengths(rng, message):
    """A valid Content-Length for the message, which can be wrong, and any other."""
    body = message.body()
    first = body.find(b"\r\n") + 2
    count = rng.choice([
        len(body), len(body), 0, 1, 5, first, first, max(0, len(body) - 1), len(body) + 1, rng.randrange(400),
    ])
    text = b"%d" % count
    other = b"%d" % rng.choice([0, count + 1, count + 5])
    return text, rng.choice([
        text, text, b"+" + text, b"-" + text, b"0" + text, b"0" * 30 + text, b"0x" + text, b"0x%x" % count,
        b"%x" % (count + 10), text + b" ", b" " + text, b"\t" + text + b"\t", text + b", " + text, text + b"," + text,
        text + b", " + other, text + b" " + other, text + b";" + other, b"," + text, text + b",", b", ," + text,
        text + b".0", text + b"e0", b"1_0", b"", b" ", b"x", b"\x0b" + text, text + b"\x0b", text + b"\x0c", text + b"\0",
        b"\0" + text, text + b"\0" + other, text + b"\xa0", text + b"\r", text + b"\r ", text + b"\n", text + b"\r\n ",
        b"\r\n " + text, text + b"\r\n 0", text[:1] + b"\r\n " + text[1:], b'"' + text + b'"', b"%d" % (2**31 + count),
        b"%d" % (2**32 + count), b"%d" % (2**63 - 1), b"%d" % (2**63), b"%d" % (2**64 + count), b"9" * 25, b"9" * 5000,
        b"\xef\xbc\x95", b"\xd9\xa5", b"(%s)" % text, text + b"#", b"--" + text, b"+-" + text, b"NaN", other,
    ])


@change(5)
def length_value(rng, message, number):
    value = lengths(rng, message)[1]
    if message.find(b"Content-Length") and rng.random() < 0.6:
        rng.choice(message.find(b"Content-Length"))[2] = value
    else:
        message.add_anywhere(rng, b"Content-Length", value)


@change(3)
def length_twice(rng, message, number):
    for _ in range(rng.choice([1, 2, 2, 3])):
        name = rng.choice([b"Content-Length", b"Content-Length", b"content-length", b"CONTENT-LENGTH"])
        message.add_anywhere(rng, name, rng.choice(lengths(rng, message)))


@change(6)
def coding(rng, message, number):
    present = message.find(b"Transfer-Encoding")
    if present and rng.random() < 0.6:
        rng.choice(present)[2] = rng.choice(CODINGS)
    else:
        message.add_anywhere(rng, b"Transfer-Encoding", rng.choice(CODINGS))


@change(2)
def coding_twice(rng, message, number):
    for _ in range(2):
        name = rng.choice([b"Transfer-Encoding", b"transfer-encoding", b"TRANSFER-ENCODING", b"Transfer-encoding"])
        message.add_anywhere(rng, name, rng.choice([b"chunked", b"identity", rng.choice(CODINGS)]))


@change(4)
def length_and_coding(rng, message, number):
    """The classic forms of smuggling: one reader believes the length, the other one the coding."""
    inner = hidden(rng, number)
    message.fields = [field for field in message.fields if field[0].decode("latin-1") not in FRAMING]
    message.chunks = []
    message.method = b"POST"
    size = b"%x\r\n" % len(inner)
    message.data = rng.choice([b"0\r\n\r\n" + inner, size + inner + b"\r\n0\r\n\r\n", b"1\r\nZ\r\nQ", inner])
    value = rng.choice([len(message.data), len(size), 5, 0, 6])
    names = rng.choice([(0, 1), (1, 0), (0, 1, 0), (1, 0, 1)])
    for name in names:
        text = rng.choice([b"chunked", b"chunked", rng.choice(CODINGS)]) if name else b"%d" % value
        message.add(FRAMING[name].encode(), text)
    mangle = rng.choice(message.fields[-len(names):])
    if rng.random() < 0.7:
        mangle[0] = rng.choice(spellings(mangle[0]))


def spellings(name):
    return [
        name, name.lower(), name.upper(), name.replace(b"-", b"_"), name.replace(b"-", b" "), name.replace(b"-", b""),
        name + b" ", name + b"\t", b" " + name, b"\t" + name, name + b"\0", b"\0" + name, name + b"\x0b", name + b"\r",
        name + b"\n", name + b"\r\n", b"X: y\r" + name, b"X: y\n" + name, b"X: y\r\n " + name, name + b":", b":" + name,
        name + b",", name + b";", name.replace(b"-", b"\xad"), name.replace(b"-", b"\x96"), name + b"\xa0",
        name.replace(b"-", b"--"), name + b"_", b"X-" + name, name + b"-X", name.replace(b"n", b"\xc3\xb1"),
        name.swapcase(), name[:-1], name + b"s", name.replace(b"-", b"."), b'"' + name + b'"', name + b"(x)", name + b"[]",
        b"$" + name, name + b"\x7f", name.replace(b"C", b"\xe2\x84\x82"), name.replace(b"-", b"%2d"),
        b"\xef\xbb\xbf" + name,
    ]


@change(4)
def spelling(rng, message, number):
    field = pick(rng, message)
    field[0] = rng.choice(spellings(field[0]))


@change(2)
def spelled_copy(rng, message, number):
    name = rng.choice(FRAMING).encode()
    value = rng.choice([b"chunked", b"identity"]) if name == b"Transfer-Encoding" else rng.choice(lengths(rng, message))
    message.add_anywhere(rng, rng.choice(spellings(name)), value)


@change(2)
def line_end(rng, message, number):
    other = rng.choice([
        b"\n", b"\n", b"\r", b"\r\r\n", b"\n\r", b"\r\n\r\n", b"", b" \r\n", b"\0\r\n", b"\x0b\r\n", b"\x85", b"\r \n",
        b"\n\n",
    ])
    place = rng.randrange(4)
    if place == 0:
        message.line_end = other
    elif place == 1:
        message.head_end = other
    elif place == 2:
        pick(rng, message)[3] = other
    else:
        message.line_end = message.head_end = other
        for field in message.fields:
            field[3] = other


@change(2)
def separator(rng, message, number):
    choices = [
        b":", b" : ", b" :", b"\t: ", b":\t", b":  ", b":\x0b", b":\0", b"", b" ", b"=", b";", b"::", b": : ", b":\r\n ",
        b"\0: ", b"\r: ", b"\n: ", b"\r\n: ",
    ]
    pick(rng, message)[1] = rng.choice(choices)


@change(2)
def folded(rng, message, number):
    field = pick(rng, message)
    fold = rng.choice([b"\r\n ", b"\r\n\t", b"\n ", b"\r ", b"\r\n\r\n ", b"\r\n  \r\n "])
    place = rng.randrange(len(field[2]) + 1)
    field[2] = field[2][:place] + fold + field[2][place:]


@change(1)
def first_line_blank(rng, message, number):
    name = rng.choice([b" ", b"\t", b" X", b" Content-Length", b" Transfer-Encoding"])
    message.fields.insert(0, [name, b": ", b"5", b"\r\n"])


@change(1)
def odd_line(rng, message, number):
    text = rng.choice([
        b"X", b"", b":", b": x", b"x y", b"GET /smuggled/0 HTTP/1.1", b"\0", b"=", b" ", b"HTTP/1.1 200 OK", b"X\0: y",
        b"\xff: x", b"X:",
    ])
    message.fields.insert(rng.randrange(len(message.fields) + 1), [text, b"", b"", b"\r\n"])


@change(3)
def control(rng, message, number):
    byte = rng.choice(CONTROLS)
    what = rng.randrange(4)
    insert = lambda text: (lambda place: text[:place] + byte + text[place:])(rng.randrange(len(text) + 1))
    if what == 0:
        message.target = insert(message.target)
    elif what == 1:
        message.method = insert(message.method)
    else:
        field = pick(rng, message)
        index = rng.choice([0, 2])
        field[index] = insert(field[index])


@change(3)
def target(rng, message, number):
    text = rng.choice(TARGETS)
    if rng.random() < 0.5:
        text = text.replace(b"/h/", b"/r/")
    message.target = text % number if b"%d" in text else text


@change(2)
def method(rng, message, number):
    message.method = rng.choice(METHODS)


@change(2)
def version(rng, message, number):
    message.version = rng.choice(VERSIONS)


@change(1)
def request_line(rng, message, number):
    what = rng.randrange(3)
    if what == 2:
        message.before = rng.choice([
            b"\r\n", b"\n", b"\r", b"\r\n\r\n", b" ", b"\t", b"\0", b"\r\n ", b"\x0b", b"\xef\xbb\xbf", b"x\r\n", b"\n\n\n",
        ])
    else:
        message.gaps[what] = rng.choice([
            b"  ", b"\t", b"", b" \t", b"\x0b", b"\x0c", b"\r", b"\0", b"\xa0", b"\r\n ", b"   ", b"\n",
        ])


@change(3)
def host(rng, message, number):
    what = rng.randrange(4)
    if what == 0:
        message.fields = [field for field in message.fields if field[0] != b"Host"]
    elif what == 1 or not message.find(b"Host"):
        message.add_anywhere(rng, rng.choice([b"Host", b"host", b"HOST", b"Host "]), rng.choice(HOSTS + [b"a"] * 9))
    else:
        rng.choice(message.find(b"Host"))[2] = rng.choice(HOSTS)


@change(2)
def connection(rng, message, number):
    name = rng.choice([b"Connection", b"Connection", b"connection", b"Proxy-Connection"])
    message.add_anywhere(rng, name, rng.choice(OPTIONS))


@change(2)
def expectation(rng, message, number):
    message.add_anywhere(rng, rng.choice([b"Expect", b"expect", b"Expect "]), rng.choice(EXPECTATIONS))


@change(4)
def other(rng, message, number):
    for name, value in rng.sample(OTHERS, rng.choice([1, 1, 2, 4])):
        message.add_anywhere(rng, name, value)


@change(1)
def upgrade(rng, message, number):
    message.add(b"Connection", b"Upgrade, HTTP2-Settings")
    message.add(b"Upgrade", rng.choice([b"h2c", b"h2c", b"h2c, websocket", b"HTTP/2.0"]))
    message.add(b"HTTP2-Settings", b"AAMAAABkAAQAAP__")
    if rng.random() < 0.3:
        message.method, message.target, message.version = b"PRI", b"*", b"HTTP/2.0"


@change(1)
def long(rng, message, number):
    size = rng.choice([5000, 9000, 20000, 60000, 66000, 70000])
    what = rng.randrange(5)
    if what == 0:
        message.target += b"?" + b"a" * size
    elif what == 1:
        message.add(b"X", b"a" * size)
    elif what == 2:
        message.add(b"X" * size, b"a")
    elif what == 3:
        for index in range(rng.choice([90, 150, 198, 199, 200, 201, 300])):
            message.add(b"X-%d" % index, b"y")
    else:
        message.add(b"X", b" " * size + b"y")


@change(2)
def name_characters(rng, message, number):
    name = rng.choice([
        b"Content_Length", b"Transfer_Encoding", b"X_Forwarded_For", b"X.Y", b"X!#$%&'*+-.^_`|~", b"X/Y", b"X(Y)", b"X@Y",
        b"X\\Y", b"X{Y}", b"X=Y", b"0", b"-", b"_", b"\xc3\xa4", b"X<Y>", b'X"Y', b"X?Y", b"X[Y]", b"X,Y",
    ])
    message.add_anywhere(rng, name, rng.choice([b"5", b"chunked", b"y"]))


@change(5)
def chunk(rng, message, number):
    if not message.chunks:
        message.fields = [field for field in message.fields if field[0] != b"Content-Length"]
        message.add(b"Transfer-Encoding", b"chunked")
        message.method, message.chunks = b"POST", [[b"5", b"\r\n", b"hello", b"\r\n"], [b"0", b"\r\n", b"", b""]]
        if message.data:
            message.chunks[0][:3] = [b"%x" % len(message.data), b"\r\n", message.data]
            message.data = b""
    part = rng.choice(message.chunks)
    size = part[0]
    what = rng.randrange(5)
    if what < 3:
        part[0] = rng.choice([
            size + b";a", size + b";a=b", size + b';a="b"', size + b';a="\r\n"', size + b";", size + b" ;a",
            size + b"; a = b", size + b" ", b" " + size, size + b"\t", b"\t" + size, b"0" + size, b"0" * 12 + size,
            b"0" * 20 + size, b"0" * 300 + size, b"0x" + size, b"+" + size, b"-" + size, size.upper(), size + b"h",
            size + b".0", size + b",", size + b"\0", b"\0" + size, size + b"\x0b", size + b"\r", size + b"\n",
            size + b";\n", size + b";\n" + hidden(rng, number), size + b";a\n0\r\n\r\n" + hidden(rng, number),
            size + b";a\rb", size + b";a\0b", size + b";a\x7f", size + b";\xff", size + b";" + b"x" * 20000,
            b"1" + b"0" * 16, b"1" + b"0" * 15 + size, b"f" * 16, b"f" * 15, b"ffffffff" + size.rjust(8, b"0"),
            b"8" + b"0" * 15, b"100000000" + size, b"", b"x", b"g", b"1" + size, b"7fffffffffffffff", b"\xef\xbc\x95",
            size + b" 0", size + b"\r\n" + size, size + b" x", size + b"  ", size + b'  ;a="\\""', size + b";a=\xc3\xa4",
            size + b"#", size + b"; " + b"Content-Length: 5",
        ])
    elif what == 3:
        part[rng.choice([1, 3])] = rng.choice([
            b"\n", b"\r", b"", b"\r\n\r\n", b"x\r\n", b"\n\r", b"\r\r\n", b"\0\0", b"ab", b" \r\n", b"\r\nx",
        ])
    else:
        place = rng.randrange(len(part[2]) + 1)
        part[2] = part[2][:place] + rng.choice([b"x", b"\r\n", b"\r\n0\r\n\r\n", b"\n0\n\n"]) + part[2][place:]


@change(3)
def trailer(rng, message, number):
    if not message.chunks:
        chunk(rng, message, number)
    line = rng.choice([
        b"X-T: y", b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity", b"Host: b",
        b"Connection: close", b"Expect: 100-continue", b"Content-Length : 5", b" X: y", b"X y", b"X-T: y\r\n z", b"X-T:y\0",
        b"X-T: y\rz", b"X-T: y\nz: a", b"X-T: y\n", b": y", b"", b"GET /smuggled/%d HTTP/1.1" % number,
        b"GET /smuggled/%d HTTP/1.1: x" % number, b"X-T: " + b"y" * rng.choice([9000, 70000]), b"X_T: y", b"Via: 1.1 a",
        b"Authorization: a", b"X-Forwarded-For: a", b"Content-Encoding: gzip", b"Trailer: x", b"X-T: \xff", b"X-T:",
        b"X-T: \x01", b"X-T: y\x7f", b"Upgrade: h2c", b"\0", b"X-T: y\r\n\tz",
    ])
    message.trailers = rng.choice([
        line + b"\r\n\r\n", line + b"\r\n" + line + b"\r\n\r\n", line + b"\n\n", line + b"\r\n\n", line + b"\r\n", line,
        b"X: y\r\n" + line + b"\r\n\r\n", b"\n", b"\r", b"",
    ])


@change(2)
def smuggle_after(rng, message, number):
    """A further request after the end of the body, or in the body of a request without one."""
    if message.chunks:
        message.trailers += hidden(rng, number)
    else:
        message.data += hidden(rng, number)


@change(1)
def body_of_bodiless(rng, message, number):
    message.method = rng.choice([b"HEAD", b"OPTIONS", b"CONNECT", b"TRACE", b"DELETE", b"GET"])
    if rng.random() < 0.3:
        message.target = rng.choice([b"*", b"a:80", b"/h/%d" % number])
    if not message.find(b"Content-Length") and not message.chunks:
        message.data = payload(rng, number)
        message.add(b"Content-Length", b"%d" % len(message.data))


WORDS = [
    b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b",", b";", b"0\r\n\r\n", b"\r\n\r\n", b"chunked",
    b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1", b"GET ", b"\x0b", b"\x0c", b"\xff", b"\x80",
    b"0", b"1", b"-", b"_", b"/", b"\r\n ", b"\x1b", b"%00", b"\\", b"#", b"?", b"\x7f",
]


def mutate_bytes(rng, data):
    """Changes bytes anywhere, rather in the head."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        limit = len(data) if rng.random() < 0.3 else min(len(data), 200)
        place = rng.randrange(limit + 1)
        what = rng.randrange(7)
        if what == 0 and data:
            place = min(place, len(data) - 1)
            data = data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1:]
        elif what == 1:
            data = data[:place] + data[place + rng.choice([1, 1, 1, 2, 5, 20]):]
        elif what == 2:
            data = data[:place] + bytes([rng.randrange(256)]) + data[place:]
        elif what == 3:
            data = data[:place] + rng.choice(WORDS) + data[place:]
        elif what == 4:
            data = data[:place] + data[place:place + rng.choice([1, 4, 20, 60])] * 2 + data[place + 60:]
        elif what == 5:
            word = rng.choice(WORDS)
            data = data[:place] + word + data[place + len(word):]
        elif rng.random() < 0.5:
            data = data[:place] if rng.random() < 0.3 else data[place:]
    return data


def make(seed, number):
    rng = random.Random(f"{seed} {number}")
    changes, parts = [], []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        message = valid(rng, number)
        for function in rng.choices(CHANGES, k=rng.choices([0, 1, 2, 3, 4], [15, 45, 22, 12, 6])[0]):
            function(rng, message, number)
            changes.append(function.__name__)
        parts.append(bytes(message))
    data = b"".join(parts)
    if rng.random() < 0.2:
        data = mutate_bytes(rng, data)
        changes.append("bytes")
    if rng.random() < 0.5:
        data += b"GET /h/%d/marker HTTP/1.1\r\nHost: a\r\n\r\n" % number
    pieces = [data]
    if rng.random() < 0.25 and len(data) > 1:
        cuts = sorted(rng.sample(range(1, len(data)), min(len(data) - 1, rng.choice([1, 1, 2, 4]))))
        pieces = [data[start:end] for start, end in zip([0] + cuts, cuts + [len(data)])]
    ending = rng.choices(["wait", "half-close", "close"], [84, 8, 8])[0]
    return Head(number, pieces, ending, changes or ["nothing"])


# MARK: The client


@dataclasses.dataclass
class Talk:
    """What a client got, and whether the gateway has ended the connection after complete answers."""

    answers: list = dataclasses.field(default_factory=list)
    ended: bool = False
    fault: str = ""
    data: bytes = b""


@dataclasses.dataclass
class Answer:
    status: int
    # The id that the service returned
    seen: str
    # Whether the gateway made it
    own: bool


async def talk(head, port):
    # Many addresses, so that no pair of ports is used again too early.
    place = (f"127.0.{head.number // 200 % 200 + 1}.{head.number % 200 + 1}", 0)
    result, data, writer = Talk(), bytearray(), None
    try:
        async with asyncio.timeout(CLIENT):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=place)
            for index, piece in enumerate(head.pieces):
                if index:
                    await asyncio.sleep(0.003)
                writer.write(piece)
                await writer.drain()
            if head.ending == "half-close":
                writer.write_eof()
            while head.ending != "close":
                piece = await reader.read(65536)
                if not piece:
                    result.ended = True
                    break
                data += piece
    except TimeoutError:
        result.fault = f"serve did not end the connection within {CLIENT} s" if head.ending == "wait" else ""
    except OSError:
        pass
    finally:
        if writer:
            writer.close()
    read_answers(bytes(data), result)
    return result


STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-9][0-9][0-9])(?: [^\r\n]*)?\r\n")


def read_answers(data, result):
    """Reads the responses. No body of this check begins with HTTP/1, so a body can be told from a further response."""
    place = 0
    while place < len(data):
        match = STATUS_LINE.match(data, place)
        end = data.find(b"\r\n\r\n", place)
        if not match or end < 0:
            # After the preface of HTTP/2, the gateway speaks HTTP/2.
            if result.ended and not data[place:].startswith(b"\0\0"):
                result.fault, result.data = "a client got an answer that is not HTTP", data[place:]
            result.ended = False
            return
        fields = collections.defaultdict(str)
        for line in data[match.end():end + 2].decode("latin-1").split("\r\n")[:-1]:
            name, _, value = line.partition(":")
            fields[name.lower()] += value.strip()
        place, status = end + 4, int(match[1])
        if status < 200:
            continue
        if status not in (204, 304) and not data.startswith(b"HTTP/1.", place):
            place = body_end(data, place, fields)
            if place is None:
                result.ended = False
                place = len(data)
        result.answers.append(Answer(status, fields["x-seen"], fields["proxy-status"].startswith("sluice")))


def body_end(data, place, fields):
    """Where a body ends; None if it is not complete."""
    if "chunked" in fields["transfer-encoding"]:
        while match := re.compile(rb"([0-9a-f]+)\r\n", re.I).match(data, place):
            size = int(match[1], 16)
            if size == 0:
                end = data.find(b"\r\n\r\n", match.end() - 2)
                return end + 4 if end >= 0 else None
            place = match.end() + size + 2
        return None
    if fields["content-length"] and place < len(data):
        # Without a byte at the end of the connection, it is the answer to a HEAD.
        end = place + int(fields["content-length"])
        return end if end <= len(data) else None
    return len(data)


# MARK: The service and its gateway


@dataclasses.dataclass
class Sent:
    """A transaction of the gateway."""

    id: str
    method: str = ""
    target: str = ""
    events: int = 0
    # How many times it was sent, and how many of these the service has answered
    hops: int = 0
    answered: int = 0
    status: int = 0
    outcome: str = ""
    # The lines of the service, and whether they were compared
    lines: list = dataclasses.field(default_factory=list)
    compared: bool = False

    def __str__(self):
        return f"{self.method} {self.target}, sent {self.hops} times, {self.outcome} with {self.status}"

    def misses_line(self):
        return len(self.lines) < self.hops


@dataclasses.dataclass
class Line:
    """A request in the log of a service."""

    id: str
    method: str
    target: str
    line: str
    status: int
    connection: str
    # Host, Content-Length and Transfer-Encoding
    fields: list

    def __str__(self):
        fields = [f", {name} {value!r}" for name, value in zip(("Host", *FRAMING), self.fields) if value not in ("", "-")]
        return f"{self.line!r} on connection {self.connection}{''.join(fields)}; answered with {self.status}"


class Tail:
    """Reads the lines that were appended to a file."""

    def __init__(self, path):
        self.path, self.file, self.rest = path, None, b""

    def lines(self):
        if self.file is None:
            if not self.path.exists():
                return []
            self.file = open(self.path, "rb")
        *lines, self.rest = (self.rest + self.file.read()).split(b"\n")
        return lines


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def end_with_parent():
    """The process gets SIGTERM if this program is killed (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def program(name):
    found = shutil.which(name) or f"/usr/sbin/{name}"
    if not os.path.exists(found):
        sys.exit(f"check-heads: {name} is not installed")
    return found


# The connection and the reason in a log of errors
REASON = {
    "nginx": re.compile(r"\*(\d+) (client sent .*?), client: "),
    "apache2": re.compile(r"\[client [0-9.]+:(\d+)\] (.*)"),
}


class Service:
    """A service with a gateway before it, and their logs."""

    def __init__(self, name, sluice):
        self.name, self.sluice = name, sluice
        self.folder, self.processes = None, []
        self.sent, self.strangers, self.late = {}, [], []

    def start(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="check-heads-"))
        self.sent, self.strangers, self.late = {}, [], []
        origin, self.port = free_port(), free_port()
        if self.name == "nginx":
            self.write("nginx.conf", NGINX, origin)
            files = ["-c", self.folder / "nginx.conf", "-e", self.folder / "nginx.error"]
            self.run(origin, [program("nginx"), "-p", self.folder, *files])
        else:
            # The children of root run as another user.
            user = "User nobody\nGroup nogroup\n" if os.getuid() == 0 else ""
            self.write("apache2.conf", user + APACHE, origin)
            self.run(origin, [program("apache2"), "-f", self.folder / "apache2.conf", "-k", "start", "-DFOREGROUND"])
        self.start_address = f"http://127.0.0.1:{origin}"
        (self.folder / "serve.json").write_text(json.dumps({
            "plugins": {"headers": {"builtin": "headers", "config": {
                "hosts": ["*"], "propagators": [], "requestId": {"header": "X-Check"}, "existing": "replace"}}},
            "issue": ["headers"], "requestId": {"header": "X-Check"}, "transport": {"proxy": ""},
            "serve": {
                "listen": [{"at": f"127.0.0.1:{self.port}", "clients": "open"}], "to": self.start_address, "drain": "1s",
                "limits": {"headTimeout": SILENCE, "idle": SILENCE, "bodyIdle": SILENCE}}}))
        self.run(self.port, [
            self.sluice, "serve", "-c", self.folder / "serve.json", "--events", self.folder / "events", "--quiet"])
        self.log, self.events = Tail(self.folder / "log"), Tail(self.folder / "events")
        self.errors, self.reasons = Tail(self.folder / f"{self.name}.error"), {}

    def write(self, name, text, port):
        text = text.replace("FOLDER", str(self.folder)).replace("PORT", str(port)).replace("MODULES", str(MODULES))
        (self.folder / name).write_text(text)

    def run(self, port, command):
        with open(self.folder / "messages", "ab") as output:
            process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True, preexec_fn=end_with_parent)
        self.processes.append(process)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if process.poll() is not None:
                sys.exit(f"check-heads: {command[0]} ended with {process.returncode}\n{self.messages()}")
            with socket.socket() as client:
                # Without a listener, a connection can reach itself: both of its ends then have the same port.
                if client.connect_ex(("127.0.0.1", port)) == 0 and client.getsockname() != client.getpeername():
                    return
            time.sleep(0.02)
        sys.exit(f"check-heads: {command[0]} did not listen within 20 s\n{self.messages()}")

    def messages(self):
        texts = [self.folder / name for name in ("messages", "nginx.error", "apache2.error")]
        return "\n".join(text.read_text(errors="replace")[-1000:] for text in texts if text.exists())

    def stop_gateway(self):
        """Ends the process that was started last."""
        process = self.processes.pop()
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def stop(self):
        while self.processes:
            self.stop_gateway()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def ended(self):
        """The processes that have ended by themselves."""
        return [process for process in self.processes if process.poll() is not None]

    def read(self):
        """Reads the logs, and gives each line to the transaction that sent the request."""
        for text in self.events.lines():
            event = json.loads(text)
            id = event["transaction"]
            sent = self.sent.setdefault(id, Sent(id))
            sent.events += 1
            sent.method, sent.target = event["method"], event["url"].removeprefix(self.start_address)
            if event["event"] == "did_issue":
                sent.hops += 1
            if event["event"] == "did_end_hop" and "status" in event:
                sent.answered, sent.status = sent.answered + 1, event["status"]
            if event["event"] == "did_complete":
                sent.outcome = event["outcome"]
                sent.status = event.get("status", sent.status)
                if event["sequence"] + 1 != sent.events:
                    sent.outcome = "not known, because serve has dropped events"
        for text in self.errors.lines():
            if match := REASON[self.name].search(text.decode("latin-1")):
                self.reasons[match[1]] = match[2]
        for text in self.log.lines():
            line = self.line(text)
            if sent := self.sent.get(line.id):
                sent.lines.append(line)
                if sent.compared:
                    self.late.append(sent)
            else:
                self.strangers.append(line)

    def line(self, text):
        if self.name == "nginx":
            line = json.loads(text.decode("latin-1"), strict=False)
            return Line(**line | {"status": int(line["status"])})
        id, method, status, connection, *fields, line = [unescaped(part) for part in text.decode("latin-1").split("\t")]
        target = (line.split(" ") + [""])[1]
        return Line("" if id == "-" else id, method, target, line, int(status), connection, fields)

def unescaped(text):
    """A part of a line in Apache's log"""
    names = {"n": "\n", "r": "\r", "t": "\t", "v": "\v", "b": "\b", "f": "\f"}
    return re.sub(
        r"\\(?:x([0-9a-f]{2})|(.))",
        lambda match: chr(int(match[1], 16)) if match[1] else names.get(match[2], match[2]), text)


# MARK: Comparing


@dataclasses.dataclass
class Difference:
    kind: str
    # What each side has counted
    facts: list
    # The number of the head, if it is known
    number: int = -1


# What a service refuses although it has read the request as the gateway sent it. The pattern matches the method, the
# target and the service's reason. nginx gives one reason for everything in a request line, so the target must explain it.
KNOWN = [
    # RFC 9110 §9.1: a method is a token.
    ("nginx", r"client sent invalid method", "methods with characters other than A-Z, - and _"),
    # RFC 3986 §2.1 does not allow it. A gateway need not look at it (RFC 9110 §4.2.5).
    ("nginx", r"^[^ ]+ [^ ?]*%(?![0-9A-F]{2}).* client sent invalid request", "paths with a % without two digits"),
    ("apache2", r"^[^ ]+ [^ ?]*%(?![0-9A-F]{2}).* invalid URI path", "paths with a % without two digits"),
    ("nginx", r"^[^ ]+ [^ ?]*%00.* client sent invalid request", "paths with %00"),
    # RFC 3986 §5.2.4 removes the segments.
    ("nginx", r"^[^ ]+ [^ ?]*/\.\..* client sent invalid request", "paths with .. above the root"),
    ("apache2", r"^[^ ]+ [^ ?]*/\.\..* invalid URI path", "paths with .. above the root"),
    # RFC 3986 §3.2.2 and §3.2.3: a name can have these characters, and the port after a colon can be empty.
    ("apache2", r"malformed Host header: [A-Za-z0-9.:_~!$&'()*+,;=%-]+$", "hosts that are not names of DNS"),
    # RFC 9110 §5.3: a field that is not a list must not be sent twice. A gateway passes fields on that it does not know.
    ("nginx", r'duplicate header line: "authorization:', "several Authorization"),
]


async def exchange(service, heads):
    """Sends the heads through the gateway."""
    limit = asyncio.Semaphore(CONNECTIONS)

    async def one(head):
        async with limit:
            return head.number, await talk(head, service.port)

    return dict(await asyncio.gather(*map(one, heads)))


class Batch:
    """What a service and its gateway have counted for some heads."""

    def __init__(self, service, heads, settle=SETTLE):
        self.settle = settle
        self.service, self.heads = service, {head.number: head for head in heads}
        self.talks, self.refusals, self.forwarded = {}, collections.Counter(), set()
        self.requests = self.counted = self.cut = self.again = 0
        self.differences, self.numbers = [], {}

    def number(self, target):
        """The number of the only head that has this target; otherwise -1, because mutations also change numbers."""
        if target not in self.numbers:
            bytes = f"{target} ".encode("latin-1", "replace")
            found = [number for number, head in self.heads.items() if bytes in head.bytes]
            self.numbers[target] = found[0] if len(found) == 1 else -1
        return self.numbers[target]

    async def run(self):
        service = self.service
        if service.ended():
            service.stop()
            service.start()
        known = set(service.sent)
        self.talks = await exchange(service, self.heads.values())
        start = time.monotonic()
        while True:
            # There is always a moment for requests that only the service knows.
            await asyncio.sleep(0.1)
            service.read()
            self.sent = [sent for id, sent in service.sent.items() if id not in known]
            if not self.is_pending(time.monotonic() - start) or service.ended():
                break
        self.compare()
        return self

    def is_pending(self, time):
        """Whether there can be further lines. A request that was cut off perhaps never has one."""

        def limit(sent):
            if any(self.is_refusal(line, sent) for line in self.service.strangers):
                return 0
            return self.settle if len(sent.lines) < sent.answered else 1

        return any(
            not sent.outcome and time < self.settle or sent.misses_line() and time < limit(sent) for sent in self.sent)

    @staticmethod
    def is_refusal(line, sent):
        """Whether the line can be of a request that the service refused before it knew the fields."""
        is_same = line.line == f"{sent.method} {sent.target} HTTP/1.1"
        return is_same and line.status >= 400 and sent.status in (0, line.status)

    def report(self, kind, *facts, target="", number=-1):
        self.differences.append(Difference(kind, [str(fact) for fact in facts], max(number, self.number(target))))

    def compare(self):
        service, name = self.service, self.service.name
        for process in service.ended():
            self.report(f"{process.args[0]} ended with {process.returncode}", service.messages())
        for line in service.strangers:
            refused = next((sent for sent in self.sent if sent.misses_line() and self.is_refusal(line, sent)), None)
            if refused:
                refused.lines.append(dataclasses.replace(line, method=refused.method, target=refused.target))
                self.note_refusal(refused, line)
            else:
                smuggled = "a smuggled request" if "/smuggled/" in line.line else "a request"
                self.report(f"{name} counted {smuggled} that serve did not send", f"{name}: {line}", target=line.target)
        for sent in self.sent:
            facts = [f"serve: {sent}"] + [f"{name}: {line}" for line in sent.lines]
            if not sent.outcome:
                self.report("serve has not ended a request", *facts, target=sent.target)
            elif sent.outcome.startswith("not known"):
                self.report("serve has dropped events", *facts, target=sent.target)
            elif len(sent.lines) < sent.answered:
                self.report(f"{name} did not count a request that it answered", *facts, target=sent.target)
            elif len(sent.lines) > sent.hops:
                self.report(f"{name} counted a request more often than serve sent it", *facts, target=sent.target)
            for line in sent.lines:
                if (line.method, line.target) != (sent.method, sent.target):
                    self.report(f"{name} read another method or target", *facts, target=sent.target)
                if line.id and sent.answered:
                    self.note_refusal(sent, line)
            # If serve has cut a request off, the service can have seen it or not.
            self.counted += len(sent.lines)
            self.requests += max(sent.answered, min(len(sent.lines), sent.hops))
            self.cut += max(0, sent.hops - max(sent.answered, len(sent.lines)))
            self.again += max(0, sent.hops - 1)
            if sent.hops:
                self.forwarded.add(self.number(sent.target))
            sent.compared = True
        for sent in service.late:
            self.counted, self.requests = self.counted + 1, self.requests + 1
            is_other = any((line.method, line.target) != (sent.method, sent.target) for line in sent.lines)
            if len(sent.lines) > sent.hops or is_other:
                facts = [f"serve: {sent}"] + [f"{name}: {line}" for line in sent.lines]
                self.report(f"{name} counted a request late that serve did not send", *facts)
        service.strangers, service.late = [], []
        self.compare_answers()
        self.forwarded.discard(-1)

    def note_refusal(self, sent, line):
        """A service answers with 400 what it cannot read. Such a request was counted, but must be of a known kind."""
        if line.status in (200, 304, 404, 405):
            return
        name = self.service.name
        reason = self.service.reasons.get(line.connection, "not given")
        text = f"{sent.method} {sent.target} {reason}"
        known = [kind for service, pattern, kind in KNOWN if service == name and re.search(pattern, text, re.I)]
        if known:
            self.refusals[known[0]] += 1
        else:
            kind = f"{name} refused a request with {line.status}"
            self.report(kind, f"serve: {sent}", f"{name}: {line}; the reason: {reason}", target=sent.target)

    def compare_answers(self):
        """Each client must get the answers to its requests, once."""
        sent = {sent.id: sent for sent in self.sent}
        seen = collections.Counter()
        for number, result in self.talks.items():
            if result.fault:
                self.report(result.fault, f"client: {result.data!r}", number=number)
            for answer in result.answers:
                if answer.own or not answer.seen:
                    continue
                seen[answer.seen] += 1
                request = sent.get(answer.seen)
                if request is None:
                    self.report("a client got the answer to an unknown request", f"client: {answer}", number=number)
                elif self.number(request.target) not in (-1, number):
                    self.report("a client got the answer to another client", f"serve: {request}", number=number)
                else:
                    self.forwarded.add(number)
        for request in self.sent:
            number = self.number(request.target)
            if seen[request.id] > 1:
                self.report("clients got an answer twice", f"serve: {request}", number=number)
            # If the body turns out to be malformed while the service answers, the gateway's own answer can come first.
            complete = number >= 0 and self.heads[number].ending == "wait" and self.talks[number].ended
            is_own = complete and any(answer.own for answer in self.talks[number].answers)
            has_id = any(line.id for line in request.lines)
            if complete and not is_own and has_id and request.outcome == "succeeded" and not seen[request.id]:
                got = f"client: {', '.join(map(str, self.talks[number].answers)) or 'nothing'}"
                self.report("a client did not get an answer", f"serve: {request}", got, number=number)


async def probe(name, sluice, heads):
    """The differences that the heads cause alone, with a service and a gateway of their own."""
    service = Service(name, sluice)
    try:
        service.start()
        differences = (await Batch(service, heads, settle=2).run()).differences
        service.stop_gateway()
        return differences + (await Batch(service, [], settle=2).run()).differences
    finally:
        service.stop()


async def narrow(name, sluice, heads, hints):
    """The heads, as few as possible, that cause differences, and these; None if they do not come again."""
    for head in heads:
        if head.number in hints and (differences := await probe(name, sluice, [head])):
            return [head], differences
    differences = await probe(name, sluice, heads)
    while differences and len(heads) > 1:
        middle = len(heads) // 2
        for half in (heads[:middle], heads[middle:]):
            if found := await probe(name, sluice, half):
                heads, differences = half, found
                break
        else:
            break
    return (heads, differences) if differences else None


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.services = [Service(name, arguments.sluice) for name in ("nginx", "apache2")]
        self.kinds, self.refusals = collections.Counter(), {service.name: collections.Counter() for service in self.services}
        self.totals = {service.name: collections.Counter() for service in self.services}
        self.forwarded, self.heads, self.traced = set(), 0, collections.Counter()

    async def run(self):
        count, seed = self.arguments.count, self.arguments.seed
        try:
            for first in range(0, count, ROUND):
                for service in self.services:
                    service.start()
                end = min(first + ROUND, count)
                for start in range(first, end, BATCH):
                    await self.batch([make(seed, number) for number in range(start, min(start + BATCH, end))])
                # When the connections end, the services log what is left on them.
                for service in self.services:
                    service.stop_gateway()
                await self.batch([])
                for service in self.services:
                    service.stop()
        finally:
            for service in self.services:
                service.stop()
        if count >= 100 and len(self.forwarded) < count / 10:
            self.kinds["both", "too few heads were forwarded"] += 1

    async def batch(self, heads):
        batches = await asyncio.gather(*(Batch(service, heads).run() for service in self.services))
        for batch in batches:
            self.heads += len(heads)
            name = batch.service.name
            self.forwarded |= batch.forwarded
            self.refusals[name] += batch.refusals
            self.totals[name] += collections.Counter(
                requests=batch.requests, counted=batch.counted, cut=batch.cut, again=batch.again)
            self.kinds += collections.Counter((name, difference.kind) for difference in batch.differences)
            if batch.differences:
                await self.show(batch)

    async def show(self, batch):
        """Prints the differences of a batch, and the heads that cause them."""
        for difference in batch.differences[:TRACED]:
            self.say(batch, f"{difference.kind}\n  " + "\n  ".join(difference.facts))
        if len(batch.differences) > TRACED:
            self.say(batch, f"{len(batch.differences) - TRACED} further differences in this batch")
        heads, hints = list(batch.heads.values()), {difference.number for difference in batch.differences}
        while self.traced[batch.service.name] < TRACED and heads:
            found = await narrow(batch.service.name, self.arguments.sluice, heads, hints)
            if not found:
                break
            self.traced[batch.service.name] += 1
            causes, differences = found
            if len(causes) <= 5:
                self.say(batch, "the cause is " + "\n  and ".join(map(str, causes)))
            else:
                first, last = causes[0].number, causes[-1].number
                self.say(batch, f"the cause is in the heads {first} to {last}, but not in one half of them alone")
            for difference in differences[:5]:
                print(f"  {difference.kind}\n    " + "\n    ".join(difference.facts))
            heads = [head for head in heads if head not in causes]
            if not hints - {head.number for head in causes}:
                break
        else:
            return
        if len(heads) == len(batch.heads) and heads:
            self.say(batch, "the differences did not come again when the batch was sent again")

    @staticmethod
    def say(batch, text):
        print(f"check-heads: before {batch.service.name}: {text}", flush=True)

    def summary(self):
        both = lambda key: " and ".join(dict.fromkeys(str(total[key]) for total in self.totals.values()))
        counted = ", ".join(f"{name} counted {total['counted']}" for name, total in self.totals.items())
        heads = self.heads // len(self.services)
        for name, total in self.totals.items():
            refused = "; ".join(f"{count} refused: {kind}" for kind, count in self.refusals[name].items())
            unseen = f"{total['cut']} cut off unseen, {total['again']} sent again"
            print(f"check-heads: before {name}: {unseen}{refused and '; ' + refused}")
        for (name, kind), count in self.kinds.items():
            print(f"check-heads: before {name}: {count} differences: {kind}")
        print(f"check-heads: {heads} heads, {len(self.forwarded)} forwarded as {both('requests')} requests; {counted}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("sluice")
    arguments = parser.parse_args()
    if not shutil.which(arguments.sluice):
        parser.error(f"{arguments.sluice} is not a program")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    check = Check(arguments)
    try:
        asyncio.run(check.run())
    except KeyboardInterrupt:
        sys.exit(130)
    check.summary()
    sys.exit(1 if check.kinds else 0)


if __name__ == "__main__":
    main()
