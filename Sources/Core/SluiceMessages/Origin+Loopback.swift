extension Origin {
  /// Whether the host is this machine. The transport never asks the DNS for such a name.
  package var isLoopback: Bool { Self.isLoopback(host: host) }

  /// Whether a host is this machine: `localhost`, a name below it (RFC 6761 §6.3), an address in `127.0.0.0/8`, or
  /// `::1`. A name must be in lower case and without a final dot.
  package static func isLoopback(host: String) -> Bool {
    if isLocalhost(host) { return true }
    return IPv4Address(host.utf8.span)?.isLoopback ?? IPv6Address(host.utf8.span)?.isLoopback ?? false
  }

  /// Whether a host is `localhost` or a name below it. The host must be in lower case and without a final dot.
  package static func isLocalhost(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }
}
