/// The propagators that a program uses, in order.
public struct Propagators: Sendable {
  /// All that there are.
  public static let known: [any Propagator.Type] = [
    TraceContextPropagator.self, BaggagePropagator.self, B3Propagator.self, B3MultiPropagator.self,
    DatadogPropagator.self, XRayPropagator.self,
  ]
  /// The default of OpenTelemetry.
  public static let standard = Propagators([TraceContextPropagator(), BaggagePropagator()])

  public var list: [any Propagator]

  public init(_ list: [any Propagator]) { self.list = list }

  /// The propagator of that name, as `OTEL_PROPAGATORS` spells it.
  public static func named(_ name: String) -> (any Propagator)? { known.first { $0.name == name }?.init() }

  public static var names: [String] { known.map { $0.name } }

  public var isEmpty: Bool { list.isEmpty }
  public var names: [String] { list.map { type(of: $0).name } }
  /// The headers that they may set, in lower case.
  public var headerNames: [String] { list.flatMap { type(of: $0).headerNames } }

  /// Reads the trace context that a carrier holds: the first valid trace, and the baggage.
  public func extract(from carrier: some Carrier) -> Extraction {
    var extraction = Extraction()
    for propagator in list { propagator.extract(from: carrier, into: &extraction) }
    return extraction
  }

  public func inject(_ trace: HopTrace, into headers: inout some HeaderSink) {
    for propagator in list { propagator.inject(trace, into: &headers) }
  }
}
