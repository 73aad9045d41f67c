public import SluiceMessages

/// The trace and the baggage of a program's current work. The trace begins in this program, or is the trace of a
/// request that the program serves.
///
///     let context = TraceContext.continuing(request.headers)
///     try await TraceContext.$current.withValue(context) { try await engine.perform(call) }
public struct TraceContext: Sendable, Hashable {
  /// The trace. The span in it is the parent of the spans that begin in this program.
  public var trace: RemoteTrace
  /// The value of a `baggage` header.
  public var baggage: String?
  /// The headers of the carrier that could not be used; for explanations.
  public private(set) var refusals: [InvalidContext] = []

  /// The context of a known trace, without refusals. Trace and baggage are checked when they are sent.
  public init(_ trace: RemoteTrace, baggage: String? = nil) {
    self.trace = trace
    self.baggage = baggage
  }

  /// The context of the current task. It is the parent of requests that have no parent of their own. Child tasks
  /// inherit it.
  @TaskLocal public static var current: TraceContext?

  /// Begins a new trace, with a span of this program.
  public static func start(sampler: Sampler = Sampler(), baggage: String? = nil) -> TraceContext {
    var generator = SystemRandomNumberGenerator()
    return start(sampler: sampler, baggage: baggage, using: &generator)
  }

  /// - Parameter generator: creates the ids; the trace id is only as random as the generator's numbers.
  public static func start(
    sampler: Sampler = Sampler(), baggage: String? = nil, using generator: inout some RandomNumberGenerator
  ) -> TraceContext {
    start(sampler, nil, baggage, &generator)
  }

  /// Continues the trace that a carrier has; the span is that of the sender. Begins a new trace if the carrier has no
  /// valid trace.
  ///
  /// - Parameter sampler: decides about a trace that begins here. The sender has already decided about a continued
  ///   trace.
  public static func continuing(
    _ carrier: some Carrier, by propagators: Propagators = .standard, sampler: Sampler = Sampler()
  ) -> TraceContext {
    TraceContext(propagators.extract(from: carrier), sampler: sampler)
  }

  /// Continues an extracted trace, or begins a new one.
  public init(_ extraction: Extraction, sampler: Sampler = Sampler()) {
    if let trace = extraction.trace {
      self.init(trace, baggage: extraction.baggage)
    } else {
      var generator = SystemRandomNumberGenerator()
      self = Self.start(sampler, extraction.sampling, extraction.baggage, &generator)
    }
    refusals = extraction.refusals
  }

  /// Makes a context with a new span of this program in the same trace, for code that records this span and wants it to
  /// be the parent of later spans.
  public func child() -> TraceContext {
    var generator = SystemRandomNumberGenerator()
    var child = self
    child.trace.spanID = Self.spanID(&generator)
    return child
  }

  /// The context as the parent of a transaction, or for other code that takes header values.
  public var parent: ParentContext {
    var extraction = Extraction()
    extraction.found(trace, by: "")
    if let baggage { extraction.found(baggage: baggage) }
    for refusal in refusals { extraction.refuse(refusal) }
    return extraction.parent
  }

  /// Writes the context to a message that the engine does not send.
  ///
  /// Baggage beyond its limits and an invalid state are left out. Only valid header values are written.
  public func inject(into headers: inout some HeaderSink, by propagators: Propagators = .standard) {
    propagators.inject(HopTrace(handingOn: parent), into: &headers)
  }

  private static func start(
    _ sampler: Sampler, _ decision: SamplingState?, _ baggage: String?, _ generator: inout some RandomNumberGenerator
  ) -> TraceContext {
    var traceID = TraceID(high: generator.next(), low: generator.next())
    // The lower half of the id must not be zero, because Datadog identifies traces only by this half.
    while traceID.low == 0 { traceID.low = generator.next() }
    let isSampled = sampler.samples(traceID, parent: decision)
    let sampling: SamplingState = isSampled ? decision == .debug ? .debug : .accepted : .denied
    return TraceContext(
      RemoteTrace(traceID: traceID, spanID: spanID(&generator), sampling: sampling, isRandom: true), baggage: baggage)
  }

  private static func spanID(_ generator: inout some RandomNumberGenerator) -> UInt64 {
    var spanID: UInt64 = 0
    while spanID == 0 { spanID = generator.next() }
    return spanID
  }
}

extension HeaderFields: HeaderSink {
  /// Replaces the values of that name.
  @discardableResult
  public mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    set(name, to: value)
    return true
  }

  /// Removes every field of that name.
  public mutating func withdraw(_ name: Span<UInt8>) { remove(named: name) }
}

/// A custom destination for headers, as a function.
public struct FunctionSink: HeaderSink {
  private let write: (_ header: String, _ value: String?) -> Void

  /// - Parameter write: replaces the values of a header; nil removes the header. It must compare names without case.
  public init(_ write: @escaping (_ header: String, _ value: String?) -> Void) { self.write = write }

  /// Calls the function with the value; always returns true.
  @discardableResult
  public mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    write(String(copying: name), String(copying: value))
    return true
  }

  /// Calls the function with nil.
  public mutating func withdraw(_ name: Span<UInt8>) { write(String(copying: name), nil) }
}
