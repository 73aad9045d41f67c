/// The work that every subject does.
struct Plan {
  var url = ""
  var port = 0
  var connections = 32
  var requests = 40_000
  var rounds = 9
  /// The number of stages that set one custom header each; the headers stage sets two more.
  var headerCount = 5
  var isSecure = false
  /// Whether the requests go over HTTP/2, which needs TLS; the raw loop has only HTTP/1.1.
  var usesHTTP2 = false
  /// The maximum number of streams on an HTTP/2 connection; nil if all requests in flight share one connection.
  var streams: Int?
  /// The names of the subjects to run, in this order; if this is empty, the usual subjects run.
  var subjects: [String] = []
  /// The subject with which the others are compared; if nil, they are compared with the first subject.
  var against: String?
  var certificateAuthority: String?
  /// The number of transactions in flight when their memory is measured.
  var inFlight = 4000

  /// The folder of the shipped plugins.
  var plugins = "../.build/release"
  /// The folder of the programs that `scripts/build-peers.sh` builds.
  var peers: String?

  /// The headers that stages set, one header for each stage.
  var stageHeaders: [(name: String, value: String)] {
    (0..<headerCount).map { ("X-Benchmark-Header-\($0)", "value-of-header-\($0)") }
  }

  /// Headers that are as long as those that the headers stage makes.
  var hopHeaders: [(name: String, value: String)] {
    [
      ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
      ("X-Request-ID", "6f1ed002-ab5c-4d0f-9f4c-0b6f8e3a2d51"),
    ]
  }

  /// The headers of every request on the wire, besides those of the transport.
  var headers: [(name: String, value: String)] { stageHeaders + hopHeaders }
}
