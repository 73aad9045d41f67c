import Sluice
import SluiceJSON
import SluiceLoop
import SluicePluginHost
import SluiceSupport

/// Tells the supervisor several times a second which loops make progress, and which call of a plugin each loop is in.
/// The supervisor measures with its own clock how long a loop has been stuck, because a process that is completely
/// stuck cannot measure it.
final class EnginePulse: Sendable {
  /// The time between two pulses.
  static let period = Duration.milliseconds(250)

  private struct State: Sendable {
    /// The number of jobs of this object that each loop has run.
    var turns: [Int64]
    /// The loops that have not yet run the job that was last posted to them.
    var asked: Set<Int> = []
    var isStopping = false
  }

  private let loops: [Loop]
  private let indices: [ObjectIdentifier: Int]
  private let reporter: EngineReporter
  private let state: Monitor<State>

  init(_ engine: Engine, _ reporter: EngineReporter) {
    loops = engine.executors.compactMap { $0 as? Loop }
    indices = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0), $0.index) })
    self.reporter = reporter
    state = Monitor(State(turns: loops.map { _ in 0 }))
  }

  func start() throws(CommandError) { try SystemThread.begin("sluice-pulse") { [self] in run() }.detach() }

  func stop() { state.update { $0.isStopping = true } }

  private func run() {
    while state.wait(upTo: Self.period, { $0.isStopping ? () : nil }) == nil {
      ask()
      tell()
    }
  }

  private func ask() {
    for (place, loop) in loops.enumerated() where state.withLock({ $0.asked.insert(place).inserted }) {
      loop.post { [state] in
        state.withLock { state in
          state.turns[place] += 1
          state.asked.remove(place)
        }
      }
    }
  }

  private func tell() {
    let calls = LoopCall.current(on: indices).map { call in
      let document: JSONValue = [
        "loop": JSONValue(Int64(call.loop)), "plugin": JSONValue(call.stage), "pluginId": JSONValue(call.plugin),
        "generation": JSONValue(Int64(call.generation)), "callback": JSONValue(call.callback),
      ]
      document["transaction"] = call.transaction.map { JSONValue("\($0)") }
      return document
    }
    let turns = state.withLock { $0.turns }
    reporter.send("pulse", ["turns": .array(of: turns.map { JSONValue($0) }), "calls": .array(of: calls)])
  }
}
