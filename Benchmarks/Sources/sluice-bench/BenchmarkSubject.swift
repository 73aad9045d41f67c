/// Something that sends requests and is compared with others on the same work.
protocol BenchmarkSubject: AnyObject {
  var name: String { get }

  /// Sends this many requests, as many at a time as the plan says, and returns when the last has ended.
  /// - Returns: how many failed.
  func run(requests: Int) throws -> Int
}

/// The work that every subject does.
struct Plan {
  var url = ""
  var connections = 32
  var requests = 40_000
  var rounds = 9
  /// C stages of the engine, and so custom headers besides the two that the headers stage makes.
  var headerCount = 5
  var isSecure = false
  /// Names of the subjects that run; all where empty.
  var subjects: [String] = []
  var certificateAuthority: String?

  /// The folder of the built plugins.
  var plugins = "../.build/release"

  /// The headers that the engine's C stages set, one each.
  var stageHeaders: [(name: String, value: String)] {
    (0..<headerCount).map { ("X-Benchmark-Header-\($0)", "value-of-header-\($0)") }
  }

  /// What every request carries: those of the C stages, and what the headers stage makes, in the same lengths.
  var headers: [(name: String, value: String)] {
    stageHeaders + [
      ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
      ("X-Request-ID", "6f1ed002-ab5c-4d0f-9f4c-0b6f8e3a2d51"),
    ]
  }
}
