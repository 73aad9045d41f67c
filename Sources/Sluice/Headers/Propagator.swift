/// Spells the trace of a hop in one family of headers.
protocol Propagator: Sendable {
  /// Its name in the configuration and in `OTEL_PROPAGATORS`.
  static var name: String { get }
  /// The headers that it may set, in lower case.
  static var headerNames: [String] { get }

  init()

  /// Sets the family's headers; called once a hop, before bytes leave.
  func inject(_ trace: HopTrace, into headers: inout HopHeaders)
}

/// The propagators that there are.
enum Propagators {
  static let all: [any Propagator.Type] = [TraceContextPropagator.self, BaggagePropagator.self]
}
