/// The fields that a transport adds to a request which has no field of that name.
package struct DefaultFields: OptionSet, Sendable, Hashable {
  /// The bits 1 (`Accept`), 2 (`Accept-Encoding`) and 4 (`User-Agent`).
  package let rawValue: UInt8
  /// Keeps bits without a meaning, which have no effect.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `Accept: */*`.
  package static let accept = DefaultFields(rawValue: 1)
  /// `Accept-Encoding`, with the codings that the transport decodes.
  package static let acceptEncoding = DefaultFields(rawValue: 2)
  /// `User-Agent`, with the text in the transport's settings; not sent if that is empty.
  package static let userAgent = DefaultFields(rawValue: 4)

  /// The field of that name, compared without case; nil for every other name.
  package init?(named name: String) {
    switch name.lowercased() {
    case "accept": self = .accept
    case "accept-encoding": self = .acceptEncoding
    case "user-agent": self = .userAgent
    default: return nil
    }
  }
}
