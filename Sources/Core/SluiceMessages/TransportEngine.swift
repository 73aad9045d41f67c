/// The choice of the transport that sends requests to servers.
public enum TransportEngine: String, Sendable, Hashable, CaseIterable {
  /// Sluice's own transport.
  case auto
  /// The same as ``auto``.
  case wire
  /// Libcurl alone.
  case curl
}
