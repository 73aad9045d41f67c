/// The propagators that a program uses, in order.
public struct Propagators: Sendable {
  /// All propagators of this module.
  public static let known: [any Propagator.Type] = [
    TraceContextPropagator.self, BaggagePropagator.self, B3Propagator.self, B3MultiPropagator.self,
    DatadogPropagator.self, XRayPropagator.self,
  ]
  /// The default of OpenTelemetry.
  public static let standard = Propagators([TraceContextPropagator(), BaggagePropagator()])

  /// The propagators in order: the first one that finds a valid trace decides the trace; all of them write.
  public var list: [any Propagator] { didSet { steps = list.map { Step($0) } } }

  /// Names the usual propagators by type, because calling an element of the list costs a copy of its box.
  @usableFromInline
  enum Step: Sendable {
    case traceContext, baggage, listed

    init(_ propagator: any Propagator) {
      self = propagator is TraceContextPropagator ? .traceContext : propagator is BaggagePropagator ? .baggage : .listed
    }
  }

  /// One step for each propagator of the list.
  @usableFromInline private(set) var steps: [Step]

  /// With an empty list, no trace headers are read or written.
  public init(_ list: [any Propagator]) {
    self.list = list
    steps = list.map { Step($0) }
  }

  /// The propagator of that name, as `OTEL_PROPAGATORS` spells it.
  public static func named(_ name: String) -> (any Propagator)? { known.first { $0.name == name }?.init() }

  /// The names of all ``known`` propagators, in that order.
  public static var names: [String] { known.map { $0.name } }

  /// Whether no trace headers are read or written.
  public var isEmpty: Bool { list.isEmpty }
  /// The names of the propagators in ``list``, in that order.
  public var names: [String] { list.map { type(of: $0).name } }
  /// The headers that they may set, in lower case.
  public var headerNames: [String] { list.flatMap { type(of: $0).headerNames } }

  /// Reads the trace context that a carrier holds: the first valid trace, and the baggage.
  public func extract(from carrier: some Carrier) -> Extraction {
    var extraction = Extraction()
    for propagator in list { propagator.extract(from: carrier, into: &extraction) }
    return extraction
  }

  /// Each propagator writes its headers, in the order of ``list``.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    inject(trace.span, of: trace.parent, into: &headers)
  }

  /// Like ``inject(_:into:)``, but borrows the parent: making a ``HopTrace`` would cost reference counting.
  @inlinable
  public func inject(_ span: HopSpan, of parent: borrowing ParentContext, into headers: inout some HeaderSink) {
    for index in steps.indices {
      switch steps[index] {
      case .traceContext: TraceContextPropagator.inject(span, of: parent, into: &headers)
      case .baggage: BaggagePropagator.inject(parent, into: &headers)
      case .listed: list[index].inject(HopTrace(span, copy parent), into: &headers)
      }
    }
  }
}
