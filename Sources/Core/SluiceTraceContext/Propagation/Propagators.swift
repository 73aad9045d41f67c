/// The propagators that a program uses, in order.
public struct Propagators: Sendable {
  /// All propagators of this module.
  public static let known: [any Propagator.Type] = [
    TraceContextPropagator.self, BaggagePropagator.self, B3Propagator.self, B3MultiPropagator.self,
    DatadogPropagator.self, XRayPropagator.self,
  ]
  /// The default of OpenTelemetry.
  public static let standard = Propagators([TraceContextPropagator(), BaggagePropagator()])

  /// The propagators in order. When headers are read, the first propagator that finds a valid trace decides the trace.
  /// When headers are written, all propagators write.
  public var list: [any Propagator] { didSet { steps = list.map { Step($0) } } }

  /// The way in which a propagator of the list is called. The most frequent propagators are called directly by their
  /// types, because a call through the list copies the element's existential box.
  @usableFromInline
  enum Step: Sendable {
    case traceContext, baggage, listed

    init(_ propagator: any Propagator) {
      self = propagator is TraceContextPropagator ? .traceContext : propagator is BaggagePropagator ? .baggage : .listed
    }
  }

  /// One step for each propagator of the list.
  @usableFromInline private(set) var steps: [Step]

  /// Makes a set of propagators. If the list is empty, no trace headers are read or written.
  public init(_ list: [any Propagator]) {
    self.list = list
    steps = list.map { Step($0) }
  }

  /// The propagator with that name in `OTEL_PROPAGATORS`.
  public static func named(_ name: String) -> (any Propagator)? { known.first { $0.name == name }?.init() }

  /// The names of all ``known`` propagators, in that order.
  public static var names: [String] { known.map { $0.name } }

  /// Whether no trace headers are read or written.
  public var isEmpty: Bool { list.isEmpty }
  /// The names of the propagators in ``list``, in that order.
  public var names: [String] { list.map { type(of: $0).name } }
  /// The headers that the propagators may set, in lower case.
  public var headerNames: [String] { list.flatMap { type(of: $0).headerNames } }

  /// Reads the trace context that a carrier holds: the first valid trace, and the baggage.
  public func extract(from carrier: some Carrier) -> Extraction {
    var extraction = Extraction()
    for propagator in list { propagator.extract(from: carrier, into: &extraction) }
    return extraction
  }

  /// Writes the headers of each propagator, in the order of ``list``.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    inject(trace.span, of: trace.parent, into: &headers)
  }

  /// Writes the headers of each propagator, without a ``HopTrace``. This function borrows the parent, whereas making a
  /// ``HopTrace`` costs reference counting.
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
