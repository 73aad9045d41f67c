/// Why the head of a request is refused: two programs could take different parts of the following bytes for its body,
/// and so disagree on where the next request begins.
public struct HeadFault: Sendable, Hashable {
  /// 400, or 501 for a transfer coding that this server does not know.
  public let status: Int
  /// What is wrong, without a full stop, such as `two values of Content-Length that differ: 0 and 44`.
  public let reason: String
}
