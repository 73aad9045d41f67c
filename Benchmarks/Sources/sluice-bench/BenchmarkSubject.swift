/// Something that sends requests, and is compared with other subjects that do the same work.
protocol BenchmarkSubject: AnyObject {
  var name: String { get }

  /// Sends this many requests, with the concurrency of the plan, and returns when the last has ended.
  /// - Returns: how many failed.
  func run(requests: Int) throws -> Int
}

/// The work that every subject does.
struct Plan {
  var url = ""
  var connections = 32
  var requests = 40_000
  var rounds = 9
  /// The number of C stages in the engine, each of which sets one custom header; the headers stage sets two more.
  var headerCount = 5
  var isSecure = false
  /// Names of the subjects to run; if it is empty, all run.
  var subjects: [String] = []
  var certificateAuthority: String?

  /// The folder of the built plugins.
  var plugins = "../.build/release"

  /// The headers that the engine's C stages set, one each.
  var stageHeaders: [(name: String, value: String)] {
    (0..<headerCount).map { ("X-Benchmark-Header-\($0)", "value-of-header-\($0)") }
  }

  /// The headers of every request: those of the C stages, and headers with the lengths of those that the headers stage
  /// makes.
  var headers: [(name: String, value: String)] {
    stageHeaders + [
      ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
      ("X-Request-ID", "6f1ed002-ab5c-4d0f-9f4c-0b6f8e3a2d51"),
    ]
  }
}
