public import SluiceMessages

/// A source of trace headers, such as the fields of a message, the environment, or the metadata of a queue.
public protocol Carrier {
  /// The values of a header in the order of the wire, one for each line. Names are compared without case.
  ///
  /// A carrier may replace bytes that are not UTF-8 by U+FFFD. A trace header may contain neither these bytes nor
  /// U+FFFD, so the value is refused in any case.
  func values(of header: String) -> [String]
}

extension HeaderFields: Carrier {
  /// The values of all fields of that name, in wire order.
  public func values(of header: String) -> [String] { self[values: header] }
}

/// A custom carrier, as a function.
public struct FunctionCarrier: Carrier {
  private let read: (String) -> [String]

  /// - Parameter read: returns the values of a header in the order of the wire. It must compare names without case.
  public init(_ read: @escaping (String) -> [String]) { self.read = read }

  /// The function's result for that name.
  public func values(of header: String) -> [String] { read(header) }
}

/// Environment variables (OpenTelemetry, "Environment Variables as Context Propagation Carriers").
public struct EnvironmentCarrier: Carrier {
  private let read: (String) -> String?

  /// - Parameter read: returns the value of a variable; an empty value counts as absent.
  public init(_ read: @escaping (String) -> String?) { self.read = read }

  /// The value of the variable that stands for the header; empty if the variable is absent or empty.
  public func values(of header: String) -> [String] {
    guard let value = read(Self.variable(for: header)), !value.isEmpty else { return [] }
    return [value]
  }

  /// The name of the variable that stands for a header: `X-B3-TraceId` becomes `X_B3_TRACEID`.
  public static func variable(for header: String) -> String {
    let name = String(
      decoding: header.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte & ~0x20
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
        default: UInt8(ascii: "_")
        }
      }, as: UTF8.self)
    guard let first = name.utf8.first else { return "_" }
    return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) ? "_" + name : name
  }
}
