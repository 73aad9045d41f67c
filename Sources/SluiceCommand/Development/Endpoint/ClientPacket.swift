/// What the engine's process tells the supervisor about a client: ten bytes, together with the connection's descriptor
/// for ``Kind/began``.
struct ClientPacket: Equatable {
  enum Kind: UInt8 {
    /// The request of the client goes into the engine.
    case began
    /// The response is about to be written.
    case answered
  }

  static let byteCount = 10

  let kind: Kind
  /// Identifies the request within the process.
  let id: UInt64
  /// The request wants no body.
  var isHead = false

  var bytes: [UInt8] {
    [kind.rawValue, isHead ? 1 : 0] + (0..<8).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
  }
}

extension ClientPacket {
  /// nil when the bytes are not a packet.
  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount, let kind = Kind(rawValue: bytes[0]) else { return nil }
    let id = bytes[2...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    self.init(kind: kind, id: id, isHead: bytes[1] == 1)
  }
}
