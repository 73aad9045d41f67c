/// The fields that a transport adds to a request which has no field of that name.
public struct DefaultFields: OptionSet, Sendable, Hashable {
  /// The bits 1 (`Accept`), 2 (`Accept-Encoding`) and 4 (`User-Agent`).
  public let rawValue: UInt8
  /// Keeps bits without a meaning, which have no effect.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `Accept: */*`.
  public static let accept = DefaultFields(rawValue: 1)
  /// `Accept-Encoding`, with the codings that the transport decodes.
  public static let acceptEncoding = DefaultFields(rawValue: 2)
  /// `User-Agent`, with the text in the transport's settings; not sent if that is empty.
  public static let userAgent = DefaultFields(rawValue: 4)

  /// The field of that name, compared without case; nil for every other name.
  public init?(named name: String) {
    switch name.lowercased() {
    case "accept": self = .accept
    case "accept-encoding": self = .acceptEncoding
    case "user-agent": self = .userAgent
    default: return nil
    }
  }
}
