import CLinux
import CMicrohttpd
import Glibc

/// One client connection, borrowed from libmicrohttpd.
// Unchecked: only the connection's worker uses the pointer. The one exception is `ConnectionParking`, which uses it on
// other threads under its lock.
struct Connection: @unchecked Sendable {
  let pointer: OpaquePointer

  init(pointer: OpaquePointer) { self.pointer = pointer }

  /// The connection with this id, which must be open.
  init?(_ id: OpenConnections.ID) {
    guard let pointer = OpaquePointer(bitPattern: id) else { return nil }
    self.pointer = pointer
  }

  /// The id of the connection, which is valid while the connection is open.
  var id: OpenConnections.ID { UInt(bitPattern: pointer) }
  var descriptor: Int32 { sluice_mhd_descriptor(pointer) }

  func lines(_ kind: MHD_ValueKind) -> [HeaderLine] {
    var lines: [HeaderLine] = []
    withUnsafeMutablePointer(to: &lines) { lines in
      _ = MHD_get_connection_values_n(
        pointer, kind,
        { context, _, name, nameBytes, value, valueBytes in
          let lines = context?.assumingMemoryBound(to: [HeaderLine].self)
          lines?.pointee.append(
            HeaderLine(
              String(decoding: Connection.bytes(name, nameBytes), as: UTF8.self),
              bytes: Connection.withoutTrailingBlanks(Connection.bytes(value, valueBytes))))
          return .YES
        }, lines)
    }
    return lines
  }

  /// Checks the fields of the request's head without copying them.
  var headCheck: RequestHeadCheck {
    var check = RequestHeadCheck()
    withUnsafeMutablePointer(to: &check) { check in
      _ = MHD_get_connection_values_n(
        pointer, .HEADER_KIND,
        { context, _, name, nameBytes, value, valueBytes in
          let name = UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameBytes)
          let value = UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueBytes)
          context?.assumingMemoryBound(to: RequestHeadCheck.self).pointee.take(
            name.assumingMemoryBound(to: UInt8.self).span, value.assumingMemoryBound(to: UInt8.self).span)
          return .YES
        }, check)
    }
    return check
  }

  /// More than the memory that libmicrohttpd uses for the fields of the request's head.
  var headBytes: Int {
    var bytes = 0
    withUnsafeMutablePointer(to: &bytes) { bytes in
      _ = MHD_get_connection_values_n(
        pointer, .HEADER_KIND,
        { context, _, _, nameBytes, _, valueBytes in
          // The text of the line, and an entry of libmicrohttpd's list.
          context?.assumingMemoryBound(to: Int.self).pointee += nameBytes + valueBytes + 128
          return .YES
        }, bytes)
    }
    return bytes
  }

  /// The declared length of the body; nil if the body is chunked, or the length is absent or not a number.
  var contentLength: UInt64? {
    MHD_lookup_connection_value(pointer, .HEADER_KIND, "Content-Length").flatMap { UInt64(String(cString: $0)) }
  }

  var peer: String {
    guard let address = sluice_mhd_peer(pointer) else { return "" }
    return SocketAddress.text(of: address) ?? ""
  }

  /// The id of the user whose process has connected; nil over TCP.
  var peerUser: UInt32? {
    guard let address = sluice_mhd_peer(pointer), Int32(address.pointee.sa_family) == AF_UNIX else { return nil }
    var peer = sluice_socket_peer()
    return sluice_socket_peer_of(descriptor, &peer) == 1 ? peer.user : nil
  }

  /// The blanks around a value do not belong to it (RFC 9112 §5.1). libmicrohttpd 0.9.75 removes only those before it.
  private static func withoutTrailingBlanks(_ value: [UInt8]) -> [UInt8] {
    guard let end = value.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return [] }
    return end + 1 == value.count ? value : Array(value[...end])
  }

  private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }
}
