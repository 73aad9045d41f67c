import SluiceMessages
import SluicePipeline

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

    /// The name without the side of the message.
    var part: String {
      let side = ["request ", "response "].first { name.hasPrefix($0) }
      return side.map { String(name.dropFirst($0.count)) } ?? name
    }
  }

  /// The fact that a stage was called. The value of this fact is never shown.
  static let call = "call"
  /// Facts whose presence depends on the time that a plugin takes, or follows from another fact.
  static let mayVary: Set<String> = ["suspended", "message"]
  static let result = Place(attempt: 0, hop: 0, stage: nil, callback: nil, occurrence: 0)

  struct Fact {
    /// What the report shows.
    var text: String
    /// What must not vary between two runs of one build.
    var form: String
    var value: ReplayValue
  }

  /// The keys in the order in which the facts occurred.
  private(set) var keys: [Key] = []
  private(set) var facts: [Key: Fact] = [:]

  init(_ exchange: ReplayedExchange) {
    var seen: [Place: Int] = [:]
    for call in exchange.calls {
      var place = Place(
        attempt: call.attempt, hop: call.hop, stage: call.stage, callback: call.callback, occurrence: 0)
      let occurrence = seen[place] ?? 0
      seen[place] = occurrence + 1
      place.occurrence = occurrence
      add(place, Self.call, "")
      add(place, "verdict", call.verdict.text, form: call.verdict.form, call.verdict.value)
      if call.wasSuspended { add(place, "suspended", "yes") }
      add(call.changes, at: place)
    }
    let error = exchange.outcome.errorText
    add(Self.result, "error", error, form: error)
    add(Self.result, "message", exchange.error?.message)
    add(Self.result, "attempts", "\(exchange.attempts)", form: "\(exchange.attempts)")
    add(exchange.response, at: Self.result)
    let callOuts = Dictionary(grouping: exchange.callOuts, by: \.name)
    for (name, calls) in callOuts.sorted(by: { $0.key < $1.key }) {
      let count = calls.count == 1 ? "once" : "\(calls.count) times"
      let requests = calls.map(\.text).filter { !$0.isEmpty }
      let text = requests.isEmpty ? count : "\(count): \(requests.joined(separator: "; "))"
      add(Self.result, "call-out \(name)", text, form: count, .list(calls.map(\.value)))
    }
  }

  private mutating func add(_ changes: [StageChange], at place: Place) {
    for change in changes {
      let text = ReplayText.of(change.after)
      let form = change.part == .status ? text : nil
      add(place, Self.name(change, at: place), text, form: form, change.value)
    }
  }

  /// - Parameters:
  ///   - form: nil for a fact of which only the presence must not vary.
  ///   - value: nil if the text is the value.
  private mutating func add(
    _ place: Place, _ name: String, _ text: String?, form: String? = nil, _ value: ReplayValue? = nil
  ) {
    guard let text else { return }
    let key = Key(place: place, name: name)
    keys.append(key)
    facts[key] = Fact(text: text, form: form ?? "", value: value ?? .text(text))
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

extension Verdict {
  fileprivate var value: ReplayValue {
    switch self {
    case .retry(let delay): .delay(delay.nanoseconds)
    case .fail(let failure), .fault(let failure): .text(failure.message)
    case .proceed, .respond, .gatherBody, .suspended: .text(text)
    }
  }
}

extension StageChange {
  /// The part after the call.
  fileprivate var value: ReplayValue {
    guard part == .body else { return .list(after.map { .text($0) }) }
    return .list(
      after.map { text in
        text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
          ? .text(String(text.dropFirst().dropLast())) : .digest(text)
      })
  }
}

extension ReplayedCallOut {
  /// The query and the fields of the request.
  private var parts: [(name: String, texts: [String])] {
    request.compactMap { change in
      guard change.part == .url else { return (change.part.text, change.after) }
      let queries = change.after.map { String($0.drop { $0 != "?" }) }.filter { !$0.isEmpty }
      return queries.isEmpty ? nil : ("query", queries)
    }
  }

  fileprivate var value: ReplayValue { .parts(request.map(\.part.text), request.map(\.value)) }

  fileprivate var text: String { parts.map { "\($0.name) \(ReplayText.of($0.texts))" }.joined(separator: ", ") }
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
