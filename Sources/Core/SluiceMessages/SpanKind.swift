/// The kind of work that a span describes; numbered as in OpenTelemetry's protocol.
public enum SpanKind: UInt32, Sendable, Hashable {
  /// Work inside the program.
  case `internal` = 1
  /// A request to another service.
  case client = 3
}

/// The status of a span; numbered as in OpenTelemetry's protocol.
public enum SpanStatus: UInt32, Sendable, Hashable {
  case unset = 0
  case ok = 1
  case error = 2
}
