public import SluiceMessages

/// What happened to the headers that stages set in one hop, and why. Headers that request stages have set are in the
/// explanation of the attempt's first hop. Only requests that want an explanation
/// (``Request/wantsExplanation``) get one.
public struct HopExplanation: Sendable, Hashable {
  /// The attempt of the hop, counted from 0.
  public let attempt: Int
  /// The number of the hop in its attempt, counted from 0.
  public let hop: Int
  /// The method of this hop, which a redirect may have changed.
  public let method: String
  /// The origin of the URL. It decides which headers a hop gets.
  public let origin: Origin
  /// The path of the URL, percent-encoded. The query, which can hold secrets, is left out.
  public let path: String
  /// The decisions in the order in which the stages made them.
  public package(set) var decisions: [HeaderDecision] = []
  /// Notes about a whole stage, or about the caller's trace.
  public package(set) var notes: [String] = []

  package init(attempt: Int, hop: Int, method: String, url: HTTPURL) {
    self.attempt = attempt
    self.hop = hop
    self.method = method
    origin = url.origin
    path = url.path
  }
}

/// Why a header was sent or was not.
public struct HeaderDecision: Sendable, Hashable {
  /// The reason as a code for programs; the raw value is the code in documents.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    case sent
    /// The configuration switches this header off, or no trace begins at this hop.
    case disabled
    case hostNotListed = "host_not_listed"
    /// The configuration lists the host for other kinds of headers, but not for this kind.
    case kindNotForHost = "kind_not_for_host"
    /// The host is an endpoint of the program's own telemetry, or the configuration excludes it.
    case excludedEndpoint = "excluded_endpoint"
    /// The request has a signature, which another header could make invalid.
    case signedRequest = "signed_request"
    /// The request already has this header, or the main header of its family.
    case alreadyPresent = "already_present"
    /// The request already has the header, and so the hop fails.
    case refused
    case unsampled
    /// The parent trace that the caller gave is invalid.
    case invalidParent = "invalid_parent"
    case nothingToSend = "nothing_to_send"
  }

  /// The instance's name in the configuration.
  public let stage: String
  /// The name of the header, as the stage spells it.
  public let header: String
  /// ``Reason/sent``, or why the header was not sent.
  public let reason: Reason
  /// The sent value; `REDACTED` for a secret, nil if it was not sent or is unknown.
  public let value: String?
  /// Details, for people.
  public let detail: String?

  package init(stage: String, header: String, reason: Reason, value: String? = nil, detail: String? = nil) {
    self.stage = stage
    self.header = header
    self.reason = reason
    self.value = value
    self.detail = detail
  }
}
