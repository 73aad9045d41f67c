/// Why the head of a request is refused: two readers could take different parts of what follows for its body, and so for the
/// next request.
public struct HeadFault: Sendable, Hashable {
  /// 400; 501 for a transfer coding that this server does not know.
  public let status: Int
  /// What is wrong, without a full stop: `two values of Content-Length that differ: 0 and 44`.
  public let reason: String
}
