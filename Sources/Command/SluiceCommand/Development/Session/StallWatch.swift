import SluiceAssembly
import SluiceJSON

/// Finds out from the pulses of an engine's process whether one of its loops or the whole process is stuck. All times
/// are read from the clock of the watching process.
struct StallWatch {
  /// A loop or a process that makes no progress.
  struct Stall: Equatable {
    /// Nil if the whole process is silent.
    var loop: Int?
    /// The call that the loop is in; nil if it is not in a call of a plugin.
    var call: Call?
    var age: Duration
  }

  /// A call of a plugin.
  struct Call: Equatable {
    var loop: Int
    var plugin: String
    var pluginID: String
    var generation: Int64
    var callback: String
    var transaction: String?
  }

  /// If two checks of the watcher are further apart than this, the watcher itself was stopped. The time between them
  /// then does not count as a stall.
  private static let longestPause = Duration.seconds(1)

  private var turns: [Int64] = []
  /// The time at which each loop was last seen to turn.
  private var turned: [Duration] = []
  private var calls: [Call] = []
  private var lastPulse: Duration
  private var lastLook: Duration

  init(at now: Duration) {
    lastPulse = now
    lastLook = now
  }

  /// - Parameter turns: for each loop, a number that changes when the loop turns.
  mutating func note(turns new: [Int64], calls: [Call], at now: Duration) {
    forgivePause(at: now)
    lastPulse = now
    self.calls = calls
    if new.count != turns.count { turned = new.map { _ in now } }
    for index in new.indices where index < turns.count && new[index] != turns[index] { turned[index] = now }
    turns = new
  }

  /// Returns the longest stall, if it has lasted for at least the limit; otherwise nil.
  mutating func stall(at now: Duration, limit: Duration) -> Stall? {
    forgivePause(at: now)
    if now - lastPulse >= limit { return Stall(loop: nil, call: nil, age: now - lastPulse) }
    guard let (loop, since) = turned.enumerated().min(by: { $0.element < $1.element }), now - since >= limit else {
      return nil
    }
    return Stall(loop: loop, call: calls.first { $0.loop == loop }, age: now - since)
  }

  private mutating func forgivePause(at now: Duration) {
    let pause = now - lastLook
    lastLook = now
    guard pause > Self.longestPause else { return }
    lastPulse += pause
    turned = turned.map { $0 + pause }
  }
}

extension StallWatch {
  /// Takes a pulse, in the form in which the process sends it.
  mutating func note(_ document: JSONValue, at now: Duration) {
    let turns = document["turns"]?.elements.compactMap(\.integer) ?? []
    let calls = document["calls"]?.elements.compactMap { Call($0) } ?? []
    note(turns: turns, calls: calls, at: now)
  }
}

extension StallWatch.Call {
  init?(_ document: JSONValue) {
    guard let loop = document["loop"]?.integer.flatMap({ Int(exactly: $0) }) else { return nil }
    self.init(
      loop: loop, plugin: document["plugin"]?.string ?? "", pluginID: document["pluginId"]?.string ?? "",
      generation: document["generation"]?.integer ?? 0, callback: document["callback"]?.string ?? "a function",
      transaction: document["transaction"]?.string)
  }
}

extension StallWatch.Stall {
  /// Uses the same names as the status document of an engine.
  var document: JSONValue {
    let document: JSONValue = ["ageMs": .milliseconds(age)]
    document["loop"] = loop.map { JSONValue(Int64($0)) }
    guard let call else { return document }
    document["plugin"] = JSONValue(call.plugin)
    document["pluginId"] = JSONValue(call.pluginID)
    document["generation"] = JSONValue(call.generation)
    document["callback"] = JSONValue(call.callback)
    document["transaction"] = call.transaction.map { JSONValue($0) }
    return document
  }

  /// `plugin "auth" (bearer-auth, generation 3) blocked loop 0 in on_request for 5.1 s`
  var headline: String {
    let time = Figures.time(nanoseconds: UInt64(max(0, age / .nanoseconds(1))))
    guard let loop else { return "the engine did not respond for \(time)" }
    guard let call else { return "loop \(loop) did not turn for \(time), outside of the calls of plugins" }
    return "plugin \"\(call.plugin)\" (\(call.pluginID), generation \(call.generation)) blocked loop \(loop) "
      + "in \(call.callback) for \(time)"
  }
}
