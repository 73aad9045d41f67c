import CLinux
// Without this import, optimized builds do not find the members of sockaddr.
import CMicrohttpd
import Glibc

/// Socket addresses in the text form of URLs.
enum SocketAddress {
  /// Returns the address as text, such as `127.0.0.1:80` or `[::1]:80`, or nil if the address family has no port.
  static func text(of address: UnsafePointer<sockaddr>) -> String? {
    guard let (host, port) = parts(of: address) else { return nil }
    return join(host: host, port: port)
  }

  /// An IPv6 literal is written in brackets (RFC 3986 §3.2.2).
  static func join(host: String, port: UInt16) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  static func parts(of address: UnsafePointer<sockaddr>) -> (host: String, port: UInt16)? {
    let length: Int
    switch Int32(address.pointee.sa_family) {
    case AF_INET: length = MemoryLayout<sockaddr_in>.size
    case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
    default: return nil
    }
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var service = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let status = getnameinfo(
      address, socklen_t(length), &host, socklen_t(host.count), &service, socklen_t(service.count),
      NI_NUMERICHOST | NI_NUMERICSERV)
    guard status == 0, let port = UInt16(text(service)) else { return nil }
    return (text(host), port)
  }

  /// The path of a Unix socket; nil for another family.
  static func path(of address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String? {
    guard Int32(address.pointee.sa_family) == AF_UNIX else { return nil }
    let bytes = UnsafeRawBufferPointer(start: address, count: Int(length)).dropFirst(MemoryLayout<sa_family_t>.size)
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
