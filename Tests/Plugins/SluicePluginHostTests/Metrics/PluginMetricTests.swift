import CSluice
import Glibc
import SluiceJSON
import SluicePipeline
import SluiceSupport
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// `sluice.metrics/1`, used by a plugin in C.
struct PluginMetricTests {
  private typealias RecordFunction = @Sendable @convention(c) (UnsafePointer<sluice_host>?, UInt32) -> Void

  private func metric(_ stage: StageFixture, _ name: String) throws -> PluginMetricSnapshot {
    try #require(stage.instance.metricSnapshots.first { $0.definition.name == name })
  }

  @Test func `a counter adds values, a gauge is set, and a histogram counts values between its bounds`() async throws {
    let stage = try await StageFixture("records-metrics")
    #expect(stage.told("in-create") == ["0"])
    #expect(stage.instance.metricSnapshots.map(\.definition.name) == ["requests", "queue.depth", "body", "calls"])
    _ = try stage.run(StageFixture.request())
    _ = try stage.run(StageFixture.request())
    let requests = try metric(stage, "requests")
    #expect(requests.stage == "stage" && requests.definition.labels == ["method", "status.class"])
    #expect(requests.series.map(\.labels) == [["GET", "a\"b\\c\nd"]])
    #expect(requests.series.map(\.value) == [5])
    #expect(try metric(stage, "queue.depth").series.map(\.value) == [-3])
    let body = try #require(try metric(stage, "body").series.first)
    // A value that is equal to a bound is counted in the bucket that ends with this bound.
    #expect(body.counts == [2, 2, 2, 2] && body.value == 2 * (1 + 1.5 + 100 + 1e6))
  }

  @Test func `malformed values and labels are INVALID, are not recorded, and are counted as violations`()
    async throws
  {
    let stage = try await StageFixture("records-metrics")
    _ = try stage.run(StageFixture.request())
    #expect(stage.told("invalid") == [String](repeating: "-1", count: 7))
    #expect(stage.instance.violations[.invalidArgument] == 7)
    #expect(try metric(stage, "calls").series.map(\.value) == [0])
    #expect(try metric(stage, "requests").series.count == 1)
  }

  @Test func `a metric can be defined only in create`() async throws {
    let stage = try await StageFixture("records-metrics")
    _ = try stage.run(StageFixture.request())
    #expect(stage.told("late") == ["-2"])
    #expect(stage.instance.violations[.lateDefinition] == 1)
    #expect(stage.instance.metricSnapshots.count == 4)
  }

  @Test func `malformed definitions are INVALID`() async throws {
    let stage = try await StageFixture("records-metrics", configuration: ["wrong": true])
    #expect(stage.told("wrong") == [String](repeating: "-1", count: 15))
    #expect(stage.instance.violations[.invalidArgument] == 15)
    #expect(stage.instance.metricSnapshots.count == 4)
  }

  @Test func `several threads can record without loss, and series beyond the limit become the overflow series`()
    async throws
  {
    let stage = try await StageFixture("records-metrics")
    let address = try #require("fixture.record".withCString { stage.generation.table.extension($0) })
    let record = address.load(as: RecordFunction.self)
    let hostHandle = stage.instance.hostHandle
    let (threads, rounds) = (8, 2000)
    await withTaskGroup { group in
      for _ in 0..<threads {
        group.addTask { for number in 0..<rounds { record(hostHandle.table, UInt32(number)) } }
      }
    }
    let total = Double(threads * rounds)
    #expect(try metric(stage, "calls").series.map(\.value) == [total])
    let requests = try metric(stage, "requests").series
    #expect(requests.count == 4 && requests.last?.labels == ["overflow", "overflow"])
    #expect(requests.map(\.value).reduce(0, +) == total)
    #expect(requests.dropLast().allSatisfy { $0.value == total / 5 })
    #expect(try metric(stage, "body").series.first?.counts.reduce(0, +) == UInt64(total))
  }

  @Test func `threads that add the last allowed series at the same time all record in it`() throws {
    let (threads, rounds) = (4, 5000)
    let definition = MetricDefinition(
      kind: .counter, name: "a", description: "", unit: "", labels: ["b"], seriesLimit: 1, bounds: [])
    let metrics = (0..<rounds).map { _ in PluginMetric(definition) }
    let barrier = ThreadBarrier(threads)
    let started = try (0..<threads).map { _ in
      try #require(
        SystemThread("sluice-test") {
          for metric in metrics {
            barrier.wait()
            "GET".withCString { text in
              withUnsafePointer(to: sluice_text(data: text, size: 3)) { _ = metric.record($0, 1) }
            }
          }
        })
    }
    for thread in started { thread.join() }
    let wrong = metrics.map { $0.snapshot(stage: "a").series.map(\.value) }.filter { $0 != [Double(threads)] }
    #expect(wrong == [])
  }

  @Test(arguments: [
    ("s", "a_b_seconds_total"), ("ms", "a_b_milliseconds_total"), ("By", "a_b_bytes_total"), ("1", "a_b_total"),
    ("", "a_b_total"), ("{request}", "a_b_total"), ("By/s", "a_b_bytes_per_second_total"),
    ("{packet}/min", "a_b_per_minute_total"), ("foo.bar", "a_b_foo_bar_total"),
  ])
  func `UCUM units become words in the names for Prometheus`(unit: String, name: String) throws {
    #expect(PrometheusName.metric("a", try Self.definition("b", unit)) == name)
  }

  @Test func `a unit that a name already contains is not repeated, and no name begins with a digit`() throws {
    #expect(PrometheusName.metric("my-log", try Self.definition("lines_total", "")) == "my_log_lines_total")
    #expect(PrometheusName.metric("2nd", try Self.definition("time.seconds", "s")) == "_2nd_time_seconds_total")
  }

  private static func definition(_ name: String, _ unit: String) throws -> MetricDefinition {
    try name.withCString { name in
      try unit.withCString { unit in
        var raw = sluice_metric_definition()
        raw.size = UInt32(MemoryLayout<sluice_metric_definition>.size)
        raw.kind = sluice_metric_kind(SLUICE_METRIC_COUNTER)
        raw.name = name
        raw.unit = unit
        return try MetricDefinition(&raw)
      }
    }
  }
}

/// Blocks threads until all of them have arrived.
private final class ThreadBarrier: @unchecked Sendable {
  private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)

  init(_ count: Int) { pthread_barrier_init(barrier, nil, UInt32(count)) }

  deinit {
    pthread_barrier_destroy(barrier)
    barrier.deallocate()
  }

  func wait() { pthread_barrier_wait(barrier) }
}
