import SluiceAssembly
public import SluiceJSON
import SluiceMessages
public import SluicePipeline

extension StageCall {
  /// The document of the call:
  ///
  ///     {"attempt": 0, "hop": 0, "stage": "auth", "callback": "on_request", "verdict": "continue",
  ///      "changes": [{"side": "request", "part": "header", "name": "x-a", "before": [], "after": ["1"]}]}
  ///
  /// It has `"suspended": true` if the stage suspended the call and resumed it later, `retryAfterNs`, `code` and
  /// `message` if the verdict has them, and `name` for headers, trailers and limits.
  public var document: JSONValue {
    let document: JSONValue = [
      "attempt": JSONValue(Int64(attempt)), "hop": JSONValue(Int64(hop)), "stage": JSONValue(stage),
      "callback": JSONValue(callback.rawValue), "verdict": JSONValue(verdict.word),
    ]
    switch verdict {
    case .retry(let delay): document["retryAfterNs"] = JSONValue(Int64(clamping: delay.nanoseconds))
    case .fail(let failure), .fault(let failure):
      document["code"] = JSONValue(failure.code.rawValue)
      document["message"] = JSONValue(failure.message)
    case .proceed, .respond, .suspended, .gatherBody: break
    }
    if wasSuspended { document["suspended"] = true }
    if !changes.isEmpty { document["changes"] = .array(of: changes.map(\.document)) }
    return document
  }

  /// The accepted numbers of attempts and hops. No transaction has so many.
  private static let numbers: ClosedRange<Int64> = 0...1_000_000

  /// Nil if the value is not a ``document``.
  package init?(_ document: JSONValue) {
    guard let attempt = document["attempt"]?.integer, let hop = document["hop"]?.integer,
      let stage = document["stage"]?.string,
      let callback = document["callback"]?.string.flatMap({ Callback(rawValue: $0) }),
      let verdict = Verdict(document), Self.numbers.contains(attempt), Self.numbers.contains(hop)
    else { return nil }
    self.init(
      attempt: Int(attempt), hop: Int(hop), stage: stage, callback: callback, verdict: verdict,
      wasSuspended: document["suspended"]?.bool ?? false, changes: StageChange.list(document["changes"]))
  }
}

extension Verdict {
  fileprivate var word: String {
    switch self {
    case .proceed: "continue"
    case .respond: "respond"
    case .retry: "retry"
    case .fail: "fail"
    case .suspended: "suspended"
    case .gatherBody: "gather_body"
    case .fault: "fault"
    }
  }

  fileprivate init?(_ document: JSONValue) {
    let failure = StageFailure(
      code: ErrorCode(rawValue: document["code"]?.string ?? ""), message: document["message"]?.string ?? "")
    switch document["verdict"]?.string {
    case "continue": self = .proceed
    case "respond": self = .respond
    case "retry": self = .retry(after: .nanoseconds(document["retryAfterNs"]?.integer ?? 0))
    case "fail": self = .fail(failure)
    case "suspended": self = .suspended
    case "gather_body": self = .gatherBody
    case "fault": self = .fault(failure)
    default: return nil
    }
  }
}

extension StageChange {
  /// The change as a document: one element of `changes` in ``StageCall/document``. Only headers, trailers and limits
  /// have a `name`.
  public var document: JSONValue {
    let document: JSONValue = ["side": side == .request ? "request" : "response", "part": JSONValue(word)]
    switch part {
    case .header(let name), .trailer(let name), .limit(let name): document["name"] = JSONValue(name)
    default: break
    }
    document["before"] = .array(of: before)
    document["after"] = .array(of: after)
    return document
  }

  private var word: String {
    switch part {
    case .method: "method"
    case .url: "url"
    case .status: "status"
    case .header: "header"
    case .trailer: "trailer"
    case .body: "body"
    case .limit: "limit"
    }
  }

  static func list(_ document: JSONValue?) -> [StageChange] { document?.elements.compactMap { StageChange($0) } ?? [] }

  private init?(_ document: JSONValue) {
    let name = document["name"]?.string ?? ""
    let parts: [String: Part] = [
      "method": .method, "url": .url, "status": .status, "header": .header(name), "trailer": .trailer(name),
      "body": .body, "limit": .limit(name),
    ]
    guard let part = document["part"]?.string.flatMap({ parts[$0] }) else { return nil }
    self.init(
      document["side"]?.string == "request" ? .request : .response, part,
      before: document["before"]?.elements.compactMap(\.string) ?? [],
      after: document["after"]?.elements.compactMap(\.string) ?? [])
  }
}

extension ReplayedExchange {
  package var document: JSONValue {
    let document: JSONValue = [
      "calls": .array(of: calls.map(\.document)), "attempts": JSONValue(Int64(attempts)),
      "response": .array(of: response.map(\.document)),
    ]
    document["error"] = error.map { ResultDocument.Failure($0).document() }
    if !callOuts.isEmpty {
      document["callOuts"] = .array(
        of: callOuts.map { ["name": JSONValue($0.name), "request": .array(of: $0.request.map(\.document))] })
    }
    if !unansweredCallOuts.isEmpty { document["unanswered"] = .array(of: unansweredCallOuts) }
    return document
  }

  package init?(_ document: JSONValue) {
    guard let attempts = document["attempts"]?.integer else { return nil }
    let error = document["error"].map {
      TransactionError(
        code: ErrorCode(rawValue: $0["code"]?.string ?? ""), message: $0["message"]?.string ?? "",
        stage: $0["stage"]?.string)
    }
    self.init(
      calls: document["calls"]?.elements.compactMap { StageCall($0) } ?? [], attempts: Int(clamping: attempts),
      error: error, response: StageChange.list(document["response"]))
    callOuts =
      document["callOuts"]?.elements.compactMap { call in
        call["name"]?.string.map { ReplayedCallOut(name: $0, request: StageChange.list(call["request"])) }
      } ?? []
    unansweredCallOuts = document["unanswered"]?.elements.compactMap(\.string) ?? []
  }
}
