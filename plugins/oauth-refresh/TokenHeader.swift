import SluicePlugin

/// The request header that carries the token.
struct TokenHeader: Sendable {
  private let name: String
  /// The scheme and a space; empty if the header contains only the token.
  private let prefix: String
  private let overwrites: Bool

  init(_ configuration: OAuthConfiguration) throws(StageFailure) {
    guard Self.isToken(configuration.header) else {
      throw StageFailure(message: "config key \"header\": expected the name of a header")
    }
    guard configuration.scheme.isEmpty || Self.isToken(configuration.scheme) else {
      throw StageFailure(message: "config key \"scheme\": expected a word such as \"Bearer\", or \"\" for none")
    }
    name = configuration.header
    prefix = configuration.scheme.isEmpty ? "" : configuration.scheme + " "
    overwrites = configuration.overwrite
  }

  /// A header that the caller has set is kept, unless the configuration says to replace it.
  func isWanted(by request: StageRequest) -> Bool { overwrites || request.headers[name] == nil }

  /// Sets the header as a secret: it is redacted where it is shown, and dropped when a redirect leaves the origin.
  func set(_ token: String, on request: StageRequest) throws {
    try request.headers.set(name, to: prefix + token)
    request.headers.setSensitive(name)
  }

  /// The token with which a request was sent; nil if the header has another form.
  func token(of request: StageRequest) -> String? {
    guard let value = request.headers[name], value.hasPrefix(prefix) else { return nil }
    return String(value.dropFirst(prefix.count))
  }

  /// Whether the text is a token in the sense of RFC 9110 §5.6.2.
  private static func isToken(_ text: String) -> Bool {
    let marks = "!#$%&'*+-.^_`|~".utf8
    return !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: marks.contains(byte)
        }
      }
  }
}
