import CLinux
import Glibc
import SluiceMessages
import SluiceSupport

/// The system's resolver.
package enum SystemNames {
  /// Looks a name up with `getaddrinfo`; blocks.
  ///
  /// `localhost` and the names below it have only loopback addresses, and only `localhost` itself is looked up, so that
  /// no DNS server decides what these names mean on this machine (RFC 6761 §6.3).
  package static func addresses(of name: String) -> NameResolver.Answer {
    guard Origin.isLocalhost(name.hasSuffix(".") ? String(name.dropLast()) : name) else { return lookUp(name) }
    let known = (try? lookUp("localhost").get()) ?? []
    let loopback = known.filter { Origin(scheme: .http, host: $0).isLoopback }
    return .success(loopback.isEmpty ? ["127.0.0.1", "::1"] : loopback)
  }

  private static func lookUp(_ name: String) -> NameResolver.Answer {
    var hints = addrinfo()
    hints.ai_socktype = sluice_socket_stream
    var first: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, nil, &hints, &first)
    guard code == 0 else {
      return .failure(failure(code, errno))
    }
    defer { freeaddrinfo(first) }
    var addresses: [String] = []
    var next = first
    while let entry = next {
      if let text = numeric(entry.pointee), !addresses.contains(text) { addresses.append(text) }
      next = entry.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(NameError("it has no address")) : .success(addresses)
  }

  /// The meaning of a code of `getaddrinfo`; `number` is the system's error for `EAI_SYSTEM`.
  static func failure(_ code: Int32, _ number: Int32) -> NameError {
    switch code {
    case EAI_SYSTEM: NameError(SystemError.text(number) + SystemError.advice(number), .notAsked)
    case EAI_MEMORY: NameError(words(code), .notAsked)
    case EAI_AGAIN: NameError(words(code), .noAnswer)
    default: NameError(words(code))
    }
  }

  private static func words(_ code: Int32) -> String { String(cString: gai_strerror(code)) }

  /// Whether the host is an address already, and needs no look-up.
  package static func isAddress(_ host: String) -> Bool {
    var storage = in6_addr()
    return host.contains(":") || inet_pton(AF_INET, host, &storage) == 1
  }

  private static func numeric(_ entry: addrinfo) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let length = socklen_t(buffer.count)
      guard getnameinfo(entry.ai_addr, entry.ai_addrlen, start, length, nil, 0, NI_NUMERICHOST) == 0 else { return nil }
      return String(cString: start)
    }
  }
}
