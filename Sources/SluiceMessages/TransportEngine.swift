/// What carries requests to servers.
public enum TransportEngine: String, Sendable, Hashable, CaseIterable {
  /// Sluice's own transport; libcurl for proxies and HTTP/1.0, which Sluice's own transport does not support.
  case auto
  /// Sluice's own transport alone: HTTP/1.1 and HTTP/2, in clear text and over TLS. An engine whose configuration names
  /// a proxy does not start.
  case wire
  /// Libcurl alone.
  case curl
}
