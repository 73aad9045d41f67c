/// One header line of a message. The name keeps its original spelling, and the value is raw bytes.
public struct HeaderLine: Sendable, Equatable {
  /// The name as it was spelled; ``isNamed(_:)`` compares it without case.
  public var name: String
  /// The value without surrounding blanks. It can have any bytes except CR, LF and NUL.
  public var valueBytes: [UInt8]

  /// A line with a value in UTF-8. Nothing is checked: a response with an invalid line is sent as 500.
  public init(_ name: String, _ value: String) {
    self.init(name, bytes: Array(value.utf8))
  }

  /// A line with any bytes as its value. Nothing is checked: a response with an invalid line is sent as 500.
  public init(_ name: String, bytes: [UInt8]) {
    self.name = name
    self.valueBytes = bytes
  }

  /// The value as text; bytes that are not UTF-8 become U+FFFD.
  public var value: String { String(decoding: valueBytes, as: UTF8.self) }

  /// Names are compared without case (RFC 9110 §5.1).
  public func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count
      && zip(name.utf8, other.utf8).allSatisfy { Self.lowercased($0) == Self.lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

extension [HeaderLine] {
  /// Every value of a field, in wire order.
  public func values(of name: String) -> [String] {
    filter { $0.isNamed(name) }.map(\.value)
  }

  /// The value of the first line with this name; nil if there is none.
  public func first(_ name: String) -> String? {
    first { $0.isNamed(name) }?.value
  }
}
