/// What one call of a stage did. It is recorded only for requests that want a journal
/// (``Request/wantsJournal``).
public struct StageCall: Sendable, Hashable {
  /// The stage's callbacks; the names are those of the C interface.
  public enum Callback: String, Sendable, Hashable, CaseIterable {
    case request = "on_request"
    case issue = "on_issue"
    case redirect = "on_redirect"
    case challenge = "on_challenge"
    case response = "on_response"
    case failure = "on_failure"
    /// All pieces of a request body that went through the stage in one hop.
    case requestBody = "on_chunk(request)"
    case responseBody = "on_chunk(response)"
  }

  /// Counted from 0; each retry adds one.
  public var attempt: Int
  /// The hop within the attempt, counted from 0.
  public var hop: Int
  /// The instance's name in the configuration.
  public var stage: String
  /// The callback that was called. All pieces of a body in one hop share one entry.
  public var callback: Callback
  /// The call's final answer; ``Verdict/suspended`` if it was never resumed, ``Verdict/fault(_:)`` if the stage broke a
  /// rule.
  public var verdict: Verdict
  /// Whether the stage suspended the call, and answered when it resumed the call.
  public var wasSuspended: Bool
  /// The changes in the order of the message: line, fields, body; limits come last.
  public var changes: [StageChange]

  package init(
    attempt: Int = 0, hop: Int = 0, stage: String, callback: Callback, verdict: Verdict = .proceed,
    wasSuspended: Bool = false, changes: [StageChange] = []
  ) {
    self.attempt = attempt
    self.hop = hop
    self.stage = stage
    self.callback = callback
    self.verdict = verdict
    self.wasSuspended = wasSuspended
    self.changes = changes
  }
}

/// One part of a message that a call changed. A secret is shown as `REDACTED` with a number, so that different secrets
/// can be distinguished.
public struct StageChange: Sendable, Hashable {
  /// The part of a message that changed. All header or trailer fields of one name are one part.
  public enum Part: Sendable, Hashable {
    case method
    case url
    case status
    /// A name in lower case, with all fields of that name.
    case header(String)
    case trailer(String)
    case body
    /// A limit that the stage has lowered: `timeout`, `attempt timeout`, `response bytes` or `attempts`.
    case limit(String)
  }

  /// Whether the part belongs to the request or the response.
  public var side: MessageSide
  /// What changed in that message.
  public var part: Part
  /// The part before the call: one text, or one text for each line if the part is a header or trailer field. Empty if
  /// the part did not exist.
  public var before: [String]
  /// The part after the call; empty if the part was removed.
  public var after: [String]

  package init(_ side: MessageSide, _ part: Part, before: [String], after: [String]) {
    self.side = side
    self.part = part
    self.before = before
    self.after = after
  }
}
