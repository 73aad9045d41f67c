import OTLPRules
import SluiceMessages
import SluicePlugin
import SluiceSupport

/// Collects spans and durations, and sends them: spans when a batch is full or the oldest span has waited long enough,
/// durations periodically.
final class Exporter: Sendable {
  private enum Phase: Equatable, Sendable {
    case idle
    /// Spans wait for further spans, until the batch is full or the delay with this number ends.
    case waiting(Int)
    case exporting
  }

  private struct State: Sendable {
    var queue: SpanQueue
    var metrics = MetricTable()
    var phase = Phase.idle
    var delays = 0
    /// The number of spans that are being sent.
    var underWay = 0
    /// The number of spans that could not be sent since the last success.
    var lost = 0
    var isOver = false
    var hasSentLastMetrics = false
    /// The signals whose last export failed.
    var failing: Set<Signal> = []
  }

  private enum Step {
    case nothing
    case wait(Int)
    case export
  }

  private let settings: ExportSettings
  private let signals: Set<Signal>
  private let document: ExportDocument
  private let collectors: [Signal: Collector]
  private let host: PluginHost
  private let counter: Counter
  private let state: Monitor<State>
  private let started = Clock.unixNow
  /// The time at which the first instance of this name began. The host's counts continue across swaps, so they count
  /// from this time.
  private let engineStart: UInt64

  init(
    _ settings: ExportSettings, _ schedule: RetrySchedule, _ signals: Set<Signal>, _ host: PluginHost
  ) throws {
    self.settings = settings
    self.host = host
    engineStart = Self.engineStart(host, started)
    self.signals = settings.isDisabled || host.isTrial ? [] : signals
    document = ExportDocument(
      resource: settings.resource, scopeName: "sluice.otlp", scopeVersion: OTLP.information.version)
    collectors = settings.routes.mapValues { Collector($0, schedule, host) }
    counter = try host.counter(
      "spans", "Spans by outcome: exported, rejected, dropped, failed", unit: "{span}",
      labels: ["outcome"])
    state = Monitor(State(queue: SpanQueue(capacity: settings.queueSpans)))
  }

  private static func engineStart(_ host: PluginHost, _ now: UInt64) -> UInt64 {
    let kept = host.values.compareExchange("started", expected: 0, desired: Int64(clamping: now))
    guard let kept, !kept.exchanged else { return now }
    return UInt64(clamping: kept.original)
  }

  /// Starts the periodic export of durations.
  func start() {
    guard signals.contains(.metrics) else { return }
    host.task { [self] in
      // When the instance ends, its timers are cancelled, and `sleep` throws.
      while true {
        try await host.sleep(for: settings.metricsInterval)
        await exportMetrics()
      }
    }
  }

  func add(_ span: ExportedSpan) {
    guard signals.contains(.traces) else { return }
    let (isTaken, step) = state.withLock { state in
      let isTaken = !state.isOver && state.queue.append(span)
      return (isTaken, isTaken ? next(&state) : .nothing)
    }
    if !isTaken { counter.add(1, "dropped") }
    perform(step)
  }

  func record(_ name: MetricTable.Name, _ attributes: [Attribute], _ duration: Duration) {
    guard signals.contains(.metrics) else { return }
    state.withLock { $0.metrics.record(name, attributes, seconds: duration / .seconds(1)) }
  }

  private func next(_ state: inout State) -> Step {
    switch state.phase {
    case .exporting: return .nothing
    case .idle, .waiting:
      if state.queue.count >= settings.batchSpans {
        state.phase = .exporting
        return .export
      }
      guard state.phase == .idle else { return .nothing }
      state.delays += 1
      state.phase = .waiting(state.delays)
      return .wait(state.delays)
    }
  }

  private func perform(_ step: Step) {
    switch step {
    case .nothing: break
    case .export: host.task { [self] in await exportSpans() }
    case .wait(let number):
      host.task { [self] in
        try await host.sleep(for: settings.delay)
        let isDue = state.withLock { state in
          guard state.phase == .waiting(number) else { return false }
          state.phase = .exporting
          return true
        }
        if isDue { await exportSpans() }
      }
    }
  }

  /// Sends all waiting spans, one batch after the other. Called only by the task that has changed the phase to
  /// `exporting`.
  private func exportSpans() async {
    guard let collector = collectors[.traces] else { return }
    while true {
      let batch = state.update { state in
        let batch = state.isOver ? [] : state.queue.take(settings.batchSpans)
        state.underWay = batch.count
        if batch.isEmpty { state.phase = .idle }
        return batch
      }
      guard !batch.isEmpty else { return }
      let outcome = await collector.send(document.traces(batch)) { failed(.traces, collector, $0) }
      note(outcome, of: batch.count, collector)
    }
  }

  private func note(_ outcome: Collector.Outcome, of count: Int, _ collector: Collector) {
    switch outcome {
    case .accepted(let rejected, let reason):
      let rejected = min(rejected, count)
      counter.add(Double(count - rejected), "exported")
      if rejected > 0 { counter.add(Double(rejected), "rejected") }
      if rejected > 0 || !reason.isEmpty {
        host.log(.warning, "\(collector.shown) rejected \(rejected) of \(count) spans: \(reason)")
      }
      let (lost, drops) = state.withLock { state in
        defer { state.lost = 0 }
        return (state.lost, state.queue.takeDrops())
      }
      recovered(.traces, collector)
      if lost > 0 { host.log(.warning, "\(lost) earlier spans could not be sent and are lost") }
      if drops > 0 { host.log(.warning, "\(drops) spans were dropped, because \(settings.queueSpans) were waiting") }
    case .failed(let reason):
      counter.add(Double(count), "failed")
      state.withLock { $0.lost += count }
      failed(.traces, collector, reason)
    }
  }

  private func exportMetrics() async {
    guard let collector = collectors[.metrics] else { return }
    let table = state.withLock { $0.metrics }
    let reported = host.metricsReport().map { EngineReport($0).metrics } ?? []
    // Sends nothing before the first transaction, so that trying out a configuration exports nothing.
    guard !table.isEmpty || reported.contains(where: \.hasHappened) else { return }
    let sent = document.metrics(table, from: started, at: Clock.unixNow, reported, since: engineStart)
    switch await collector.send(sent, unreachable: { failed(.metrics, collector, $0) }) {
    case .accepted(let rejected, let reason):
      recovered(.metrics, collector)
      if rejected > 0 || !reason.isEmpty {
        host.log(.warning, "\(collector.shown) rejected \(rejected) data points: \(reason)")
      }
    case .failed(let reason): failed(.metrics, collector, reason)
    }
  }

  /// Logs a failure, unless one was logged since the last successful export of this signal.
  private func failed(_ signal: Signal, _ collector: Collector, _ reason: String) {
    guard state.withLock({ $0.failing.insert(signal).inserted }) else { return }
    host.log(.warning, "cannot export \(signal.rawValue) to \(collector.shown): \(reason)")
  }

  private func recovered(_ signal: Signal, _ collector: Collector) {
    guard state.withLock({ $0.failing.remove(signal) != nil }) else { return }
    host.log(.info, "exports \(signal.rawValue) to \(collector.shown) again")
  }

  /// Sends the remaining data, and waits at most this long.
  func stop(within limit: Duration) {
    guard !signals.isEmpty, !host.isTrial else { return }
    let mustExport = state.withLock { state in
      guard state.phase != .exporting, !state.queue.isEmpty else { return false }
      state.phase = .exporting
      return true
    }
    if mustExport { perform(.export) }
    if signals.contains(.metrics) {
      host.task { [self] in
        await exportMetrics()
        state.update { $0.hasSentLastMetrics = true }
      }
    } else {
      state.update { $0.hasSentLastMetrics = true }
    }
    // Waits slightly less than the limit after which the host gives up on the instance.
    _ = state.wait(upTo: limit * 0.9) { state in
      state.hasSentLastMetrics && state.phase != .exporting && state.queue.isEmpty ? true : nil
    }
    let (missing, drops) = state.withLock { state in
      state.isOver = true
      return (state.queue.count + state.underWay + state.lost, state.queue.takeDrops())
    }
    if missing > 0 {
      let words = missing == 1 ? "1 span is missing: it" : "\(missing) spans are missing: they"
      host.log(.warning, "\(words) could not be sent, or not in time")
    }
    if drops > 0 { host.log(.warning, "\(drops) spans were dropped, because \(settings.queueSpans) were waiting") }
  }
}
