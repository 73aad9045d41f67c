/// What carries requests to servers.
public enum TransportEngine: String, Sendable, Hashable, CaseIterable {
  /// Sluice's own transport, and libcurl for what that lacks: proxies and HTTP/1.0.
  case auto
  /// Sluice's own transport alone: HTTP/1.1 and HTTP/2, in clear text and over TLS. With a proxy, an engine does not
  /// start.
  case wire
  /// Libcurl alone.
  case curl
}
