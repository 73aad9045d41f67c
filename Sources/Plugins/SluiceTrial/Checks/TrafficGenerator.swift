import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Random messages with many edge cases: empty and long values, repeated fields, bytes that are not UTF-8, bodies that
/// do not fit their media type. The same seed gives the same messages.
struct TrafficGenerator {
  private var random: RandomBits

  init(_ random: RandomBits) { self.random = random }

  mutating func request() -> Request {
    let path = pick(["/", "/v1/items?x=1&y=%20", "/a/b/../c", "/" + String(repeating: "long/", count: 200), "/%00"])
    let host = pick(["example.com", "api.example.com:8443", "127.0.0.1", "[::1]"])
    let url = (try? HTTPURL("\(pick(["http", "https"]))://\(host)\(path)")) ?? Self.url
    let method = pick(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "M-SEARCH"])
    var headers = headers()
    let body = body(&headers)
    return Request(method: method, url: url, headers: headers, body: body)
  }

  mutating func response() -> Response {
    var headers = headers()
    let body = body(&headers)
    let trailers: HeaderFields = chance(10) ? ["x-checksum": "1"] : [:]
    return Response(
      status: pick([200, 200, 200, 201, 204, 304, 400, 404, 429, 500, 503, 599, 999]), headers: headers, body: body,
      trailers: trailers)
  }

  /// A random JSON value of limited depth.
  mutating func document(depth: Int = 3) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 7), using: &random) {
    case 0: return .null
    case 1: return JSONValue(Bool.random(using: &random))
    case 2: return JSONValue(pick([0, 1, -1, Int64.max, Int64.min, 4096]))
    case 3: return JSONValue(pick([0.5, -1.5e300, 1e-300]))
    case 4: return JSONValue("")
    case 5: return JSONValue(pick(["a", "ä\u{1F600}", "../../etc/passwd", "http://[", "-1s", "\r\nX: y", "%s%n"]))
    case 6: return JSONValue(String(repeating: "x", count: Int.random(in: 0...5000, using: &random)))
    case 7:
      let array = JSONValue.array()
      for _ in 0..<Int.random(in: 0...4, using: &random) { array.append(document(depth: depth - 1)) }
      return array
    default:
      let object = JSONValue.object()
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        object[pick(["a", "hosts", "token", "", "headers", "file", "ä"])] = document(depth: depth - 1)
      }
      return object
    }
  }

  /// A configuration with at most one random change: a value is replaced, added or removed.
  mutating func variation(of configuration: JSONValue) -> JSONValue {
    guard configuration.isObject, let copy = try? configuration.deepCopy(), chance(80) else { return document() }
    let keys = copy.members.map(\.0)
    switch Int.random(in: 0..<3, using: &random) {
    case 0 where !keys.isEmpty: copy[pick(keys)] = document()
    case 1 where !keys.isEmpty: copy[pick(keys)] = nil
    default: copy[pick(["x-unknown", "hosts", "output", "path", ""])] = document()
    }
    return copy
  }

  private mutating func headers() -> HeaderFields {
    var headers = HeaderFields()
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      let name = pick(["accept", "Cookie", "x-a", "X-A", "authorization", "!#$%&'*+-.^_`|~", "etag", "cache-control"])
      if chance(10) {
        headers.append(name.utf8.span, [0xff, 0xfe, 0x80].span)
      } else {
        headers.append(name, pick(["", "1", "a, b", "max-age=60", String(repeating: "v", count: 8000), "\"\t\""]))
      }
    }
    return headers
  }

  private mutating func body(_ headers: inout HeaderFields) -> Body {
    let kind = pick(["application/json", "text/plain; charset=utf-8", "application/octet-stream", "a/b; c"])
    if chance(80) { headers.append("content-type", kind) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .empty
    case 1: return .text((try? document().serializedText()) ?? "null")
    case 2: return .text(#"{"broken": "#)
    case 3: return .bytes([0, 0xff, 0xc3, 0x28, 0])
    case 4: return .bytes([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
    default: return .text(#"{"a": {"b": [1, 2.5, null, "c"]}, "a b": ""}"#)
    }
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &random)]
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private static let url: HTTPURL = "http://example.com/"

  /// A request without anything special.
  static var plainRequest: Request { Request(method: "GET", url: url) }

  /// Answers a request with the request's body.
  static let echo: TrialHost.Answer = { request in
    var headers = HeaderFields()
    if let type = request.headers["content-type"] { headers.append("content-type", type) }
    return .response(Response(status: 200, headers: headers, body: request.body))
  }

  /// Random answers to requests, sometimes an error instead. The same seed and the same order of requests on a loop
  /// give the same answers.
  static func random(_ seed: UInt64) -> TrialHost.Answer {
    let generator = RandomAnswers(TrafficGenerator(RandomBits(seed: seed)))
    return { _ in generator.next() }
  }
}
