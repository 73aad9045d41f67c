/// The choice of the transport that sends requests to servers.
public enum TransportEngine: String, Sendable, Hashable, CaseIterable {
  /// Sluice's own transport where possible. Proxies and HTTP/1.0, which it does not support, are left to libcurl.
  case auto
  /// Sluice's own transport alone: HTTP/1.1 and HTTP/2, in clear text and over TLS. An engine whose configuration names
  /// a proxy does not start.
  case wire
  /// Libcurl alone.
  case curl
}
