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
  /// Facts whose presence depends on the time that a plugin takes, or follows from another fact.
  static let mayVary: Set<String> = ["suspended", "message"]
  static let result = Place(attempt: 0, hop: 0, stage: nil, callback: nil, occurrence: 0)

  /// The keys in the order in which the facts occurred.
  private(set) var keys: [Key] = []
  private(set) var values: [Key: String] = [:]
  /// For each fact, the part of the value that is always compared. The rest of the value is not compared if it varies
  /// between runs of one build.
  private(set) var forms: [Key: String] = [:]

  init(_ exchange: ReplayedExchange) {
    var seen: [Place: Int] = [:]
    for call in exchange.calls {
      var place = Place(
        attempt: call.attempt, hop: call.hop, stage: call.stage, callback: call.callback, occurrence: 0)
      let occurrence = seen[place] ?? 0
      seen[place] = occurrence + 1
      place.occurrence = occurrence
      add(place, Self.call, "")
      add(place, "verdict", call.verdict.text, form: call.verdict.form)
      if call.wasSuspended { add(place, "suspended", "yes") }
      add(call.changes, at: place)
    }
    let error = exchange.outcome.errorText
    add(Self.result, "error", error, form: error)
    add(Self.result, "message", exchange.error?.message)
    add(Self.result, "attempts", "\(exchange.attempts)", form: "\(exchange.attempts)")
    add(exchange.response, at: Self.result)
    let callOuts = Dictionary(grouping: exchange.callOuts, by: \.self).mapValues(\.count)
    for (name, count) in callOuts.sorted(by: { $0.key < $1.key }) {
      add(Self.result, "call-out \(name)", count == 1 ? "once" : "\(count) times")
    }
  }

  private mutating func add(_ changes: [StageChange], at place: Place) {
    for change in changes {
      let value = ReplayText.of(change.after)
      add(place, Self.name(change, at: place), value, form: change.part == .status ? value : nil)
    }
  }

  /// - Parameter form: nil for a fact of which only the presence is always compared.
  private mutating func add(_ place: Place, _ name: String, _ value: String?, form: String? = nil) {
    guard let value else { return }
    let key = Key(place: place, name: name)
    keys.append(key)
    values[key] = value
    forms[key] = form ?? ""
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

extension Verdict {
  /// The verdict without the parts that can vary: a delay, and a message.
  fileprivate var form: String {
    switch self {
    case .retry: "retry"
    case .fail(let failure): "fail with \(failure.code)"
    case .fault(let failure): "fault \(failure.code)"
    case .proceed, .respond, .gatherBody, .suspended: text
    }
  }
}

extension ReplayedExchange {
  var outcome: RecordedOutcome {
    let status = response.first { $0.part == .status }?.after.first.flatMap { Int($0) }
    return RecordedOutcome(status: status, error)
  }
}

extension RecordedOutcome {
  /// Nil if the transaction succeeded.
  var errorText: String? { error.map { error in stage.map { "\(error) of \($0)" } ?? error.rawValue } }
}
