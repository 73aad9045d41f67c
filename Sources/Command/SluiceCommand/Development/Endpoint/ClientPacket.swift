/// A message from the engine's process to the supervisor about a client: ten bytes. A packet of the kind ``Kind/began``
/// also carries the descriptor of the connection.
struct ClientPacket: Equatable {
  enum Kind: UInt8 {
    /// The client's request is about to be given to the engine.
    case began
    /// The response is about to be written.
    case answered
  }

  static let byteCount = 10

  let kind: Kind
  /// Identifies the request within the process.
  let id: UInt64
  /// Whether the response must have no body (HEAD).
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
