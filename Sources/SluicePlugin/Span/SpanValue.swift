import CSluice

/// The value of a span's attribute.
public enum SpanValue: Sendable, Hashable {
  /// Cut off beyond 1024 bytes.
  case text(String)
  case integer(Int64)
  /// Finite.
  case number(Double)
  case flag(Bool)

  /// Nil for a type that is not known.
  init?(_ attribute: sluice_span_attribute) {
    switch Int(attribute.type) {
    case Int(SLUICE_SPAN_VALUE_TEXT): self = .text(String(attribute.text))
    case Int(SLUICE_SPAN_VALUE_INTEGER): self = .integer(attribute.integer)
    case Int(SLUICE_SPAN_VALUE_NUMBER): self = .number(attribute.number)
    case Int(SLUICE_SPAN_VALUE_FLAG): self = .flag(attribute.flag != 0)
    default: return nil
    }
  }

  /// Lends the attribute for the length of the call.
  func withAttribute<Result>(_ key: String, _ body: (UnsafePointer<sluice_span_attribute>) -> Result) -> Result {
    var attribute = sluice_span_attribute()
    return withText(key) { key in
      attribute.key = key
      switch self {
      case .text(let value):
        attribute.type = sluice_span_value(SLUICE_SPAN_VALUE_TEXT)
        return withText(value) {
          attribute.text = $0
          return body(&attribute)
        }
      case .integer(let value):
        attribute.type = sluice_span_value(SLUICE_SPAN_VALUE_INTEGER)
        attribute.integer = value
      case .number(let value):
        attribute.type = sluice_span_value(SLUICE_SPAN_VALUE_NUMBER)
        attribute.number = value
      case .flag(let value):
        attribute.type = sluice_span_value(SLUICE_SPAN_VALUE_FLAG)
        attribute.flag = value ? 1 : 0
      }
      return body(&attribute)
    }
  }
}

/// Numbered as in OpenTelemetry's protocol.
public enum SpanKind: UInt32, Sendable, Hashable {
  /// Work inside the program.
  case `internal` = 1
  /// A request to another service.
  case client = 3
}

/// How the work of a span went; numbered as in OpenTelemetry's protocol.
public enum SpanStatus: UInt32, Sendable, Hashable {
  case unset = 0
  case ok = 1
  case error = 2
}
