/// A named value of a span, a resource or a point of a metric.
public struct KeyValue: Sendable, Hashable {
  public enum Value: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
  }

  public let key: String
  public let value: Value

  public init(_ key: String, _ value: Value) {
    self.key = key
    self.value = value
  }

  public init(_ key: String, _ text: String) { self.init(key, .text(text)) }
}
