/// The fields that a transport adds to a request which has no field of that name.
public struct DefaultFields: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let accept = DefaultFields(rawValue: 1)
  public static let acceptEncoding = DefaultFields(rawValue: 2)
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
