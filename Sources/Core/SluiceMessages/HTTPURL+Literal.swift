extension HTTPURL: ExpressibleByStringLiteral {
  /// A URL that is part of the program's text: `let url: HTTPURL = "https://example.com/"`.
  ///
  /// A literal that is not such a URL is a mistake of the program, and ends the process with a message. `HTTPURL("…")`
  /// with a literal does the same. Pass text that comes from elsewhere to ``init(_:hosts:)``, which throws. The host of
  /// a literal is ASCII.
  public init(stringLiteral value: String) {
    do throws(MessageError) { self = try HTTPURL.init(value, hosts: nil) } catch {
      preconditionFailure("the literal \(PlainText.quote(value)) is not a URL: \(error)")
    }
  }
}
