/// How much of a body has been transferred in one hop.
public struct TransferProgress: Sendable, Hashable {
  /// The bytes so far, counted on the wire, where a body is still encoded.
  public let bytes: Int
  /// The bytes of the whole body; nil if the length is not known.
  public let total: Int?

  package init(bytes: Int, total: Int?) {
    self.bytes = bytes
    self.total = total
  }

  /// From 0 to 1; nil if the length is not known.
  public var fraction: Double? {
    total.map { $0 > 0 ? min(1, Double(bytes) / Double($0)) : 1 }
  }
}
