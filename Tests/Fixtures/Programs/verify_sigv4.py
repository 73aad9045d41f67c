"""Checks the signature of a request (AWS Signature Version 4) as a server does, from what has arrived.

Reads {"method", "target", "headers": [[NAME, VALUE], ...], "body": HEX, "secret"} from standard input. Prints "valid", or
what is wrong.
"""

import hashlib
import hmac
import json
import re
import sys
from urllib.parse import quote, unquote_to_bytes

SAFE = "-._~"


def encoded(text):
    return quote(unquote_to_bytes(text), safe=SAFE)


def path_of(path, service):
    if service == "s3":
        return quote(unquote_to_bytes(path), safe="/" + SAFE)
    parts = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    end = "/" if parts and path.endswith("/") else ""
    return quote("/" + "/".join(parts) + end, safe="/" + SAFE)


def query_of(query):
    pairs = [part.partition("=") for part in query.split("&") if part]
    return "&".join("=".join(pair) for pair in sorted((encoded(name), encoded(value)) for name, _, value in pairs))


def check(request):
    fields = {}
    for name, value in request["headers"]:
        fields.setdefault(name.lower(), []).append(" ".join(value.split()))
    if len(fields.get("authorization", [])) != 1:
        return "not one authorization: %r" % fields.get("authorization")
    pattern = r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=(\S+), Signature=([0-9a-f]{64})"
    found = re.fullmatch(pattern, fields["authorization"][0])
    if not found:
        return "authorization has another form: %r" % fields["authorization"]
    _, day, region, service, names, signature = found.groups()
    names = names.split(";")
    if names != sorted(names) or "host" not in names:
        return "wrong names: %r" % names
    unsigned = [name for name in fields if name.startswith("x-amz-") and name not in names]
    if unsigned:
        return "not signed: %r" % unsigned
    dates = fields.get("x-amz-date", [])
    if len(dates) != 1 or not dates[0].startswith(day):
        return "wrong dates: %r" % dates
    actual = hashlib.sha256(bytes.fromhex(request["body"])).hexdigest()
    hashes = fields.get("x-amz-content-sha256", [actual])
    if hashes not in ([actual], ["UNSIGNED-PAYLOAD"]) or service == "s3" and "x-amz-content-sha256" not in fields:
        return "wrong hash of the body: %r" % hashes
    path, _, query = request["target"].partition("?")
    lines = ["%s:%s\n" % (name, ",".join(fields[name])) for name in names]
    canonical = "\n".join(
        [request["method"], path_of(path, service), query_of(query), "".join(lines), ";".join(names), hashes[0]]
    )
    scope = [day, region, service, "aws4_request"]
    key = ("AWS4" + request["secret"]).encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", dates[0], "/".join(scope), digest])
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return "valid" if expected == signature else "another signature for:\n" + canonical


print(check(json.load(sys.stdin)))
