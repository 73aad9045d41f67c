import SluiceEngine
import SluiceMessages
import SluicePipeline
import SluiceRecords

/// The facts of a replayed exchange, which are compared.
struct ReplayFacts {
  /// The call, or the result, that a fact is about.
  struct Place: Hashable {
    var attempt: Int
    var hop: Int
    /// The name of the stage; nil for the result.
    var stage: String?
    var callback: StageCall.Callback?
    /// The number of this call among the calls with which it shares all other members, counted from 0. There are
    /// several such calls in a hop with several challenges, for example.
    var occurrence: Int
  }

  struct Key: Hashable {
    var place: Place
    var name: String
  }

  /// The fact that a stage was called. The value of this fact is never shown.
  static let call = "call"
  static let result = Place(attempt: 0, hop: 0, stage: nil, callback: nil, occurrence: 0)

  /// The keys in the order in which the facts occurred.
  private(set) var keys: [Key] = []
  private(set) var values: [Key: String] = [:]

  init(_ exchange: ReplayedExchange) {
    var seen: [Place: Int] = [:]
    for call in exchange.calls {
      var place = Place(
        attempt: call.attempt, hop: call.hop, stage: call.stage, callback: call.callback, occurrence: 0)
      let occurrence = seen[place] ?? 0
      seen[place] = occurrence + 1
      place.occurrence = occurrence
      add(place, Self.call, "")
      add(place, "verdict", call.verdict.text)
      if call.wasSuspended { add(place, "suspended", "yes") }
      add(call.changes, at: place)
    }
    add(
      Self.result, "error",
      exchange.error.map { error in error.stage.map { "\(error.code) of \($0)" } ?? error.code.rawValue })
    add(Self.result, "message", exchange.error?.message)
    add(Self.result, "attempts", "\(exchange.attempts)")
    add(exchange.response, at: Self.result)
  }

  private mutating func add(_ changes: [StageChange], at place: Place) {
    for change in changes { add(place, Self.name(change, at: place), ReplayText.of(change.after)) }
  }

  private mutating func add(_ place: Place, _ name: String, _ value: String?) {
    guard let value else { return }
    let key = Key(place: place, name: name)
    keys.append(key)
    values[key] = value
  }

  /// Names the part that changed. The name includes the side only if the callback usually changes the other side.
  private static func name(_ change: StageChange, at place: Place) -> String {
    let isUsual =
      switch place.callback {
      case .response, .failure, .responseBody, nil: change.side == .response
      default: change.side == .request
      }
    let part = change.part.text
    return isUsual ? part : "\(change.side == .request ? "request" : "response") \(part)"
  }
}
