import SluiceLocks
import SluicePipeline
import SluicePluginHost
import SluiceTransport

/// Names a stage that keeps its loop, since nobody in the process can take the loop from it. Looks from a thread of its own at what
/// each loop calls at the moment; the loops pay nothing for it.
final class Watchdog: Sendable {
  private struct State {
    var detector = StallDetector()
    var isStopping = false
    var isOver = false
  }

  /// Looks in the time that a call may take.
  private static let looks = 4
  /// While there is nothing to look for, since a new configuration may ask for it.
  private static let rest = Duration.seconds(1)

  private let loops: [ObjectIdentifier: Int]
  private let limit: @Sendable () -> Duration
  private let log: @Sendable (LogLine) -> Void
  private let state = Monitor(State())

  /// - Parameter limit: how long a call may keep its loop; asked before each look.
  init(_ loops: [Loop], limit: @escaping @Sendable () -> Duration, log: @escaping @Sendable (LogLine) -> Void) {
    self.loops = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0), $0.index) })
    self.limit = limit
    self.log = log
  }

  func start() {
    guard !DetachedThread.start("sluice-watchdog", { [self] in run() }) else { return }
    state.withLock { $0.isOver = true }
    log(LogLine(level: .warning, message: "no thread for the watchdog: stages that keep their loop are not named"))
  }

  /// Nothing is said after it. Blocks for as long as the log does.
  func stop() {
    state.update { $0.isStopping = true }
    state.wait { $0.isOver ? () : nil }
  }

  /// What keeps a loop at the moment.
  var stalls: [EngineStatus.Stall] { state.withLock { $0.detector.stalls.map(EngineStatus.Stall.init) } }

  private func run() {
    while !isStopped(within: period) {
      let calls = LoopCall.current(on: loops)
      let limit = limit()
      let findings = state.withLock { $0.detector.look(calls, at: MonotonicClock.now, limit: limit) }
      for finding in findings { say(finding) }
    }
    state.update { $0.isOver = true }
  }

  private var period: Duration {
    let limit = limit()
    return limit > .zero ? max(limit / Self.looks, .milliseconds(1)) : Self.rest
  }

  private func isStopped(within period: Duration) -> Bool {
    state.wait(upTo: period) { $0.isStopping ? () : nil } != nil
  }

  private func say(_ finding: StallDetector.Finding) {
    switch finding {
    case .began(let stall):
      say(
        stall.call, .warning,
        "keeps loop \(stall.call.loop) in \(stall.call.callback) for \(stall.age.milliseconds) ms by now\(Self.of(stall.call));"
          + " whatever else is on that loop waits: it has to suspend what takes long, or to be SLUICE_BLOCKING")
    case .ended(let stall):
      say(
        stall.call, .info,
        "let go of loop \(stall.call.loop) after \(stall.age.milliseconds) ms in \(stall.call.callback)\(Self.of(stall.call))"
      )
    }
  }

  private func say(_ call: LoopCall, _ level: LogLine.Level, _ words: String) {
    let plugin = call.plugin.isEmpty ? nil : call.plugin
    let name = call.stage.isEmpty ? call.plugin : call.stage
    log(
      LogLine(
        level: level, plugin: plugin, generation: call.generation, stage: call.stage.isEmpty ? nil : call.stage,
        message: "\"\(name)\" \(words)"))
  }

  private static func of(_ call: LoopCall) -> String { call.transaction.map { ", transaction \($0)" } ?? "" }
}

extension EngineStatus.Stall {
  fileprivate init(_ stall: StallDetector.Stall) {
    self.init(
      loop: stall.call.loop, plugin: stall.call.stage, pluginID: stall.call.plugin, generation: stall.call.generation,
      callback: stall.call.callback, transaction: stall.call.transaction, age: stall.age)
  }
}
