import CLinux
import Glibc
import SluicePipeline

/// An address that a socket can connect to.
struct SocketAddress: Sendable {
  private let storage: sockaddr_storage
  private let size: socklen_t
  /// The address in the form that errors and logs show: a numeric address, or the path of a Unix socket.
  let text: String

  var family: Int32 { Int32(storage.ss_family) }

  /// Reads a numeric IPv4 address, or a numeric IPv6 address with or without a zone; nil for any other text.
  init?(_ address: String, port: UInt16) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = sluice_socket_stream
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, "\(port)", &hints, &first) == 0, let found = first else { return nil }
    defer { freeaddrinfo(found) }
    var storage = sockaddr_storage()
    guard Int(found.pointee.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size else { return nil }
    memcpy(&storage, found.pointee.ai_addr, Int(found.pointee.ai_addrlen))
    self.storage = storage
    size = found.pointee.ai_addrlen
    text = address
  }

  /// The address of a Unix socket; nil if the path is empty or too long for the system.
  init?(unixSocket path: String) {
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
      return nil
    }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    var storage = sockaddr_storage()
    memcpy(&storage, &address, MemoryLayout<sockaddr_un>.size)
    self.storage = storage
    size = socklen_t(MemoryLayout<sockaddr_un>.size)
    text = path
  }

  /// The 4 bytes of an IPv4 address, or the 16 bytes of an IPv6 address; empty for a Unix socket.
  var bytes: [UInt8] {
    withUnsafeBytes(of: storage) { storage in
      switch family {
      case AF_INET: Array(storage.load(as: sockaddr_in.self).sin_addr.s_addr.bytes)
      case AF_INET6: withUnsafeBytes(of: storage.load(as: sockaddr_in6.self).sin6_addr) { Array($0) }
      default: []
      }
    }
  }

  func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  /// Sorts the addresses of one name into the order in which they are tried: the families alternate, beginning with the
  /// family of the first address (RFC 8305 §4).
  static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    var same = addresses.filter { $0.family == first.family }[...]
    var other = addresses.filter { $0.family != first.family }[...]
    var order: [SocketAddress] = []
    while !same.isEmpty || !other.isEmpty {
      if let address = same.popFirst() { order.append(address) }
      if let address = other.popFirst() { order.append(address) }
    }
    return order
  }
}

extension in_addr_t {
  fileprivate var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}

extension SocketSettings.AddressFamily {
  func includes(_ family: Int32) -> Bool {
    switch self {
    case .any: true
    case .ipv4: family == AF_INET
    case .ipv6: family == AF_INET6
    }
  }
}
