/// The fields that a transport adds to a request which has no field of that name.
package struct DefaultFields: OptionSet, Sendable, Hashable {
  /// The bits 1 (`Accept`), 2 (`Accept-Encoding`), 4 (`User-Agent`) and 8 (`Expect`).
  package let rawValue: UInt8
  /// Keeps bits without a meaning, which have no effect.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Replaces the `isEmpty` of `SetAlgebra`, which other modules can call only through the protocol's table of
  /// functions.
  package var isEmpty: Bool { rawValue == 0 }

  /// `Accept: */*`.
  package static let accept = DefaultFields(rawValue: 1)
  /// `Accept-Encoding`, with the codings that the transport decodes.
  package static let acceptEncoding = DefaultFields(rawValue: 2)
  /// `User-Agent`, with the text in the transport's settings; not sent if this text is empty.
  package static let userAgent = DefaultFields(rawValue: 4)
  /// `Expect: 100-continue`, with a large body over HTTP/1.1.
  package static let expect = DefaultFields(rawValue: 8)

  /// The field of that name, compared case-insensitively; nil for every other name.
  package init?(named name: String) {
    switch name.lowercased() {
    case "accept": self = .accept
    case "accept-encoding": self = .acceptEncoding
    case "user-agent": self = .userAgent
    case "expect": self = .expect
    default: return nil
    }
  }
}
