import SluiceMessages

// Explains what happened to the headers of a hop, if the request wants an explanation.
extension Exchange {
  /// Adds to the explanation of this hop; does nothing if no explanation is wanted. [loop]
  package func explain(_ decision: HeaderDecision) {
    guard let last = explanation?.indices.last else { return }
    explanation?[last].decisions.append(decision)
  }

  /// Like ``explain(_:)-(HeaderDecision)``, but not about a particular header. [loop]
  package func explain(note: String) {
    guard let last = explanation?.indices.last else { return }
    explanation?[last].notes.append(note)
  }

  /// Called before each call of a request stage. The changes of the stage are found when the next stage is called, or
  /// when the first hop begins.
  func explainRequestStage(_ name: String, _ headers: HeaderFields) {
    let explanation = explanationOfAttempt
    explanation.endStage(headers)
    explanation.called = (name, headers)
  }

  func explainRequest(note: String) { explanationOfAttempt.notes.append(note) }

  private var explanationOfAttempt: RequestExplanation {
    if let known = requestExplanation, known.attempt == attempt { return known }
    let new = RequestExplanation(attempt: attempt)
    requestExplanation = new
    return new
  }

  /// Begins the explanation of a hop; the first hop of an attempt also has what the request stages have done.
  func beginExplanation() {
    let request = explanationOfAttempt
    request.endStage(requestForms.native.headers)
    var next = HopExplanation(
      attempt: attempt, hop: hop, method: requestForms.native.method, url: requestForms.native.url)
    (next.decisions, next.notes) = (request.decisions, request.notes)
    requestExplanation = nil
    explanation?.append(next)
  }
}

/// What the request stages of an attempt have done to the headers, until its first hop begins. Confined to the loop.
final class RequestExplanation {
  let attempt: Int
  private(set) var decisions: [HeaderDecision] = []
  var notes: [String] = []
  /// The stage that was called last, and the headers before this call.
  var called: (stage: String, headers: HeaderFields)?

  init(attempt: Int) { self.attempt = attempt }

  func endStage(_ headers: HeaderFields) {
    guard let called else { return }
    self.called = nil
    decisions += HeaderDecision.sent(by: called.stage, from: called.headers, to: headers)
  }
}

extension HeaderDecision {
  /// One decision for each field that a stage has added or changed.
  static func sent(by stage: String, from before: HeaderFields, to after: HeaderFields) -> [HeaderDecision] {
    var after = after
    for index in after.indices { after.unmark(at: index, .addedByStage) }
    after.markAdded(since: before)
    return after.indices.filter { after.marks(at: $0).contains(.addedByStage) }.map {
      HeaderDecision(stage: stage, header: after.name(at: $0), reason: .sent)
    }
  }
}
