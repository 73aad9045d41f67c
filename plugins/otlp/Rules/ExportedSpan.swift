public import SluiceMessages

/// A span as OTLP has it (opentelemetry/proto/trace/v1/trace.proto).
public struct ExportedSpan: Sendable, Hashable {
  public struct Status: Sendable, Hashable {
    public var code: SpanStatus
    /// For people; empty for none.
    public var message: String

    public static let unset = Status(code: .unset)

    public init(code: SpanStatus, message: String = "") {
      self.code = code
      self.message = message
    }
  }

  /// 32 hexadecimal digits.
  public var traceID: String
  /// 16 hexadecimal digits.
  public var spanID: String
  public var parentSpanID: String?
  public var name: String
  public var kind: SpanKind
  /// Nanoseconds since 1970.
  public var start: UInt64
  public var end: UInt64
  public var attributes: [Attribute]
  public var droppedAttributes = 0
  public var status: Status
  /// Those of W3C Trace Context.
  public var traceFlags: UInt32

  public init(
    traceID: String, spanID: String, parentSpanID: String? = nil, name: String, kind: SpanKind, start: UInt64,
    end: UInt64,
    attributes: [Attribute] = [], status: Status = .unset, traceFlags: UInt32 = 1
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.parentSpanID = parentSpanID
    self.name = name
    self.kind = kind
    self.start = start
    self.end = end
    self.attributes = attributes
    self.status = status
    self.traceFlags = traceFlags
  }
}
