extension HTTPURL: ExpressibleByStringLiteral {
  /// A URL that is part of the program's text: `let url: HTTPURL = "https://example.com/"`.
  ///
  /// A literal that is not such a URL ends the process with a message, as a mistake of the program. `HTTPURL("…")` with
  /// a literal is the same; text that comes from elsewhere goes to ``init(_:hosts:)``, which throws. The host of a
  /// literal is ASCII.
  public init(stringLiteral value: String) {
    do throws(MessageError) { self = try HTTPURL.init(value, hosts: nil) } catch {
      preconditionFailure("the literal \(PlainText.quote(value)) is not a URL: \(error)")
    }
  }
}
