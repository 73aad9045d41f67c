/// A typed value of an attribute, on a transaction or in a log record.
public enum AttributeValue: Sendable, Hashable {
  case text(String)
  case integer(Int64)
  /// Must be finite.
  case number(Double)
  case bool(Bool)
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}
