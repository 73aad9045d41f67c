/// Why the head of a request is refused.
///
/// With such a head, two programs could disagree on where the request's body ends, and therefore on where the next
/// request begins.
public struct HeadFault: Sendable, Hashable {
  /// The status of the answer: 501 for a transfer coding that this server does not know, otherwise 400.
  public let status: Int
  /// What is wrong, without a full stop, such as `two values of Content-Length that differ: 0 and 44`.
  public let reason: String

  package init(status: Int, reason: String) {
    self.status = status
    self.reason = reason
  }
}
