import Glibc
import Sluice
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Everything that one scrape shows has a name of its own, whatever the instances and their metrics are called.
@Suite struct PrometheusNamesTests {
  /// An instance of the fixture `defines-metrics`, and its metrics as (kind, name, unit).
  private typealias Instance = (name: String, metrics: [(kind: String, name: String, unit: String)])

  private static func text(_ instances: [Instance], builtins: [String] = []) async throws -> String {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("defines-metrics")
    chmod(product.path, 0o755)
    let plugins = JSONValue.object()
    for instance in instances {
      let metrics = instance.metrics.map { metric -> JSONValue in
        [
          "kind": JSONValue(metric.kind), "name": JSONValue(metric.name), "unit": JSONValue(metric.unit),
          "description": "Defined by the test.",
        ]
      }
      plugins[instance.name] = ["library": JSONValue(product.path), "config": ["metrics": .array(of: metrics)]]
    }
    for name in builtins { plugins[name] = ["builtin": "metrics"] }
    plugins["work"] = [
      "library": JSONValue(BuiltProducts.library("swift-work")),
      "config": ["schedules": [["name": "take", "periodMs": 3_600_000, "deadlineMs": 1000]]],
    ]
    let document: JSONValue = [
      "plugins": plugins, "tracers": .array(of: builtins.map { JSONValue($0) }), "serviceName": "test",
    ]
    let engine = try Engine(Configuration(text: document.serialized()))
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/")))
    let text = engine.prometheusText()
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return text
  }

  @Test func `a description keeps its characters, and a line break is escaped once`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("defines-metrics")
    chmod(product.path, 0o755)
    let metric: JSONValue = [
      "kind": "gauge", "name": "depth", "description": "a\nb\\n\"q\"\r\n\u{2028}c",
    ]
    let document: JSONValue = [
      "plugins": ["a": ["library": JSONValue(product.path), "config": ["metrics": .array(of: [metric])]]]
    ]
    let engine = try Engine(Configuration(text: document.serialized()))
    let text = engine.prometheusText()
    await engine.shutdown()
    withExtendedLifetime(product) {}
    let line = text.unicodeScalars.split(separator: "\n").first { String($0).hasPrefix("# HELP a_depth ") }
    #expect(line.map { String($0) } == "# HELP a_depth a\\nb\\\\n\"q\"\r\\n\u{2028}c")
  }

  /// What a scraper would refuse: a family that is described twice, a name that belongs to two families, a sample
  /// without a family, a sample that occurs twice.
  private static func faults(_ text: String) -> [String] {
    var faults: [String] = []
    var owners: [String: String] = [:]
    var samples: Set<String> = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if line.hasPrefix("# TYPE ") {
        let (name, type) = (String(words[2]), String(words[3]))
        let suffixes =
          ["histogram": ["", "_bucket", "_sum", "_count"], "summary": ["", "_sum", "_count"]][type] ?? [""]
        for suffix in suffixes {
          if let other = owners.updateValue(name, forKey: name + suffix) {
            faults.append("\(name)\(suffix) of \(name) is a name of \(other)")
          }
        }
      } else if !line.hasPrefix("#") {
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        if owners[name] == nil { faults.append("\(name) has no type") }
        let key = String(line[..<(line.lastIndex(of: " ") ?? line.endIndex)])
        if !samples.insert(key).inserted { faults.append("\(key) occurs twice") }
      }
    }
    return faults
  }

  private static let conflicting: [[Instance]] = [
    [("process", [("gauge", "open_fds", ""), ("gauge", "resident.memory", "By"), ("gauge", "max.fds", "")])],
    [("target", [("gauge", "info", "")])],
    [
      (
        "sluice_engine",
        [
          ("counter", "retries", ""), ("histogram", "duration", "s"), ("gauge", "duration.seconds.sum", ""),
          ("counter", "responses", ""), ("gauge", "active_transactions", ""),
        ]
      )
    ],
    [("sluice.engine", [("counter", "hops.total", "")]), ("sluice-engine", [("counter", "hops", "")])],
    [
      (
        "sluice",
        [("histogram", "time_to_head", "s"), ("counter", "scheduled.work", ""), ("counter", "stage.faults", "")]
      ),
      ("http", [("gauge", "client.active_requests", ""), ("histogram", "client.request.duration", "s")]),
      ("http.client", [("gauge", "request.duration.seconds.bucket", "")]),
    ],
    [("a", [("histogram", "wait", "s"), ("gauge", "wait.seconds.count", ""), ("gauge", "wait.seconds.bucket", "")])],
    [("a", [("gauge", "wait.seconds.count", ""), ("gauge", "wait.seconds.sum", ""), ("histogram", "wait", "s")])],
    [("a", [("histogram", "wait", "s")]), ("a.wait", [("gauge", "seconds.count", ""), ("gauge", "seconds_2", "")])],
    [("a-b", [("histogram", "c", "")]), ("a.b", [("histogram", "c", "")]), ("a_b", [("gauge", "c.2.sum", "")])],
    [("scrape", [("gauge", "duration", "s"), ("gauge", "samples_scraped", "")]), ("1", [("gauge", "a", "")])],
  ]

  @Test(arguments: conflicting.indices)
  func `names of plugins never collide with other names of the scrape`(_ index: Int) async throws {
    let text = try await Self.text(Self.conflicting[index], builtins: ["metrics", "more"])
    #expect(Self.faults(text) == [], "\(text)")
    let count = Self.conflicting[index].reduce(0) { $0 + $1.metrics.count }
    #expect(text.split(separator: "\n").count { $0.hasSuffix("Defined by the test.") } == count)
    for name in ["scrape_duration_seconds", "scrape_samples_scraped", "up"] {
      #expect(!text.contains("\n\(name) "), "\(name) is written by the scraper")
    }
    guard Promtool.isAvailable else { return }
    let result = try await Promtool.check(text)
    #expect(result.status == 0 || result.status == 3, "\(result.errorText)\(text)")
  }

  @Test(.enabled(if: Promtool.isAvailable)) func `promtool finds no fault in the metrics of an engine`() async throws {
    let plain = try await Self.text([
      ("auth", [("counter", "tokens", ""), ("histogram", "wait", "s"), ("gauge", "a", "")])
    ])
    for text in [plain, try await Self.text([], builtins: ["metrics", "more"])] {
      let result = try await Promtool.check(text)
      // A plugin need not describe its metrics.
      let words = (result.errorText + result.outputText).split(separator: "\n").filter { !$0.hasSuffix("no help text") }
      #expect(words.isEmpty && [0, 3].contains(result.status), "\(result.status) \(words)")
    }
  }

  @Test func `a metric has the same name with and without the metrics of stages, of which the engine may have none`()
    async throws
  {
    let instances: [Instance] = [("sluice", [("counter", "stage.faults", ""), ("counter", "hops", "")])]
    for builtins in [[], ["metrics"]] {
      let text = try await Self.text(instances, builtins: builtins)
      #expect(text.contains("\nsluice_stage_faults_total_2 1.0\n") && text.contains("\nsluice_hops_total_2 1.0\n"))
    }
  }

  @Test func `a label that a sample has itself is not added to it`() async throws {
    let engine = try Engine(
      Configuration(
        text: Array(
          """
          {"plugins": {"work": {"library": "\(BuiltProducts.library("swift-work"))", "config": {"schedules": [
             {"name": "take", "periodMs": 3600000, "deadlineMs": 1000}]}}, "metrics": {"builtin": "metrics"}}, "tracers": ["metrics"]}
          """.utf8)))
    let report = try #require(engine.metricsReports["metrics"])
    let text = report.prometheusText(labels: ["stage": "mine", "job-name": "x"])
    await engine.shutdown()
    #expect(text.contains(#"sluice_scheduled_work_left_out_total{job_name="x",stage="work",name="take"} 0"#), "\(text)")
    #expect(text.contains(#"http_client_active_requests{job_name="x",stage="mine"} 0"#))
    #expect(Self.faults(text) == [])
  }
}
