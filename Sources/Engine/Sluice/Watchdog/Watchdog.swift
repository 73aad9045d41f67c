import SluiceAssembly
import SluiceLoop
import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// Logs the name of a stage that blocks its loop, and directs new requests to other loops. The engine cannot interrupt
/// such a stage. The watchdog's own thread checks which call each loop is in and whether the loop makes progress. This
/// costs the loops nothing.
final class Watchdog: Sendable {
  /// The settings of a configuration for stuck loops.
  struct Settings: Sendable {
    /// How long a call can block its loop before it is logged. If it is zero, no call is logged.
    var limit: Duration
    /// How long a loop can be stuck before its transactions are ended.
    var abandon: Duration
  }

  /// The actions for a stuck loop at each check, on the watchdog's thread.
  struct Response: Sendable {
    /// Marks a loop as stuck or not stuck. New transactions go to other loops as long as the loop is stuck.
    var mark: @Sendable (_ loop: Int, _ isStuck: Bool) -> Void
    /// Moves or ends the transactions of the stuck loop.
    var relieve: @Sendable (_ obstacle: LoopObstacle, _ settings: Settings) -> Void
  }

  private struct State {
    var detector = StallDetector()
    var pulses = PulseDetector()
    var stuck: Set<Int> = []
    var isStopping = false
    var isOver = false
  }

  /// The number of checks within the time that a call may take.
  private static let looks = 4
  /// How long a turn of a loop may take if no limit is set.
  private static let patience = Duration.seconds(1)

  private let loops: [Loop]
  private let indices: [ObjectIdentifier: Int]
  private let settings: @Sendable () -> Settings
  private let log: @Sendable (LogLine) -> Void
  private let state = Monitor(State())

  /// - Parameter settings: read before each check.
  init(
    _ loops: [Loop], settings: @escaping @Sendable () -> Settings, log: @escaping @Sendable (LogLine) -> Void
  ) {
    self.loops = loops
    indices = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0), $0.index) })
    self.settings = settings
    self.log = log
  }

  func start(response: Response) {
    guard !SystemThread.start("sluice-watchdog", { [self] in run(response) }) else { return }
    state.withLock { $0.isOver = true }
    log(LogLine(level: .warning, message: "no thread for the watchdog: stages that block their loop are not named"))
  }

  /// After this call the watchdog logs nothing. Waits at most `limit` for a log function that does not return.
  func stop(within limit: Duration) {
    state.update { $0.isStopping = true }
    _ = state.wait(upTo: limit) { $0.isOver ? () : nil }
  }

  /// The calls that currently block a loop.
  var stalls: [EngineStatus.Stall] { state.withLock { $0.detector.stalls.map(EngineStatus.Stall.init) } }

  /// Loops that were stuck at the last check.
  var stuckLoops: Set<Int> { state.withLock { $0.stuck } }

  /// The reason why a loop does not answer a caller.
  /// - Parameter age: how long the caller has waited. It becomes the age of the obstacle, unless the watchdog has seen
  ///   the loop stuck for longer.
  func obstacle(on loop: Int, waiting age: Duration) -> LoopObstacle {
    let call = LoopCall.current(on: indices).first { $0.loop == loop }
    let standstill = state.withLock { state in state.pulses.standstills.first { $0.loop == loop } }
    let pulse = loops[loop].pulse
    return LoopObstacle(
      loop: loop, hasDied: pulse.hasDied, hasLostDescriptors: pulse.hasLostDescriptors,
      age: max(age, standstill?.age ?? .zero), call: call.map { LoopObstacle.Call($0) })
  }

  private func run(_ response: Response) {
    while !isStopped(within: period) {
      let calls = LoopCall.current(on: indices)
      let settings = settings()
      let now = MonotonicClock.now
      let pulses = loops.map(\.pulse)
      let (findings, standstills, before) = state.withLock { state in
        state.pulses.note(pulses, at: now, limit: Self.patience(settings))
        let before = state.stuck
        state.stuck = Set(state.pulses.standstills.map(\.loop))
        return (state.detector.findings(calls, at: now, limit: settings.limit), state.pulses.standstills, before)
      }
      for finding in findings { say(finding) }
      for loop in before.subtracting(standstills.map(\.loop)) { response.mark(loop, false) }
      for standstill in standstills {
        let call = calls.first { $0.loop == standstill.loop }
        let obstacle = LoopObstacle(standstill, call.map { LoopObstacle.Call($0) })
        if standstill.hasDied, !before.contains(standstill.loop) { say(obstacle) }
        response.mark(standstill.loop, true)
        response.relieve(obstacle, settings)
      }
    }
    state.update { $0.isOver = true }
  }

  private func say(_ obstacle: LoopObstacle) {
    let rule =
      obstacle.hasLostDescriptors
      ? "close only descriptors that it has opened (sluice plugin validate finds such a plugin)"
      : "not end a thread of the host"
    log(
      LogLine(
        level: .error, plugin: obstacle.call?.pluginID, generation: obstacle.call?.generation,
        stage: obstacle.call?.plugin,
        message: "\(obstacle); its transactions fail with \"stalled\", and requests go to the other loops: a plugin "
          + "must \(rule); restart the program"))
  }

  private static func patience(_ settings: Settings) -> Duration {
    settings.limit > .zero ? settings.limit : Self.patience
  }

  private var period: Duration { max(Self.patience(settings()) / Self.looks, .milliseconds(1)) }

  private func isStopped(within limit: Duration) -> Bool {
    state.wait(upTo: limit) { $0.isStopping ? true : nil } ?? false
  }

  private func say(_ finding: StallDetector.Finding) {
    switch finding {
    case .began(let stall):
      say(
        stall.call, .warning,
        "has blocked loop \(stall.call.loop) in \(stall.call.callback) for \(stall.age.milliseconds) "
          + "ms\(Self.of(stall.call)); all other work on that loop waits; \(Self.advice(stall.call.callback))")
    case .ended(let stall):
      say(
        stall.call, .info,
        "released loop \(stall.call.loop) after \(stall.age.milliseconds) ms in "
          + "\(stall.call.callback)\(Self.of(stall.call))")
    }
  }

  /// Only some callbacks can suspend, or run on another thread.
  private static func advice(_ callback: String) -> String {
    ["on_issue", "on_informational", "on_event"].contains(callback)
      ? "the stage must do slow work in another callback, such as on_request, or on a thread of its own"
      : "the stage must suspend during slow work, or set SLUICE_FLAG_BLOCKING"
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

extension Configuration {
  var watchdog: Watchdog.Settings { Watchdog.Settings(limit: stallLimit, abandon: stallAbandon) }
}
