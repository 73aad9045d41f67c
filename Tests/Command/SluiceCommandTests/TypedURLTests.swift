import SluiceMessages
import Testing

@testable import SluiceCommand

/// URLs that a user types without a scheme.
@Suite struct TypedURLTests {
  private static func resolve(_ text: String, from base: String? = nil) throws -> String {
    try TypedURL.resolve(text, against: base.map { try HTTPURL($0) }).string
  }

  @Test(arguments: [
    "localhost:8080/x", "localhost:8080", "127.0.0.1:8080?a", "[::1]:8080/x", "[::1]/x", "example.com:80#a",
  ])
  func `a text that clearly begins with a host becomes an http URL, even if there is a base URL`(
    _ text: String
  ) throws {
    #expect(try Self.resolve(text) == "http://\(text)")
    #expect(try Self.resolve(text, from: "https://h/a/") == "http://\(text)")
  }

  @Test(arguments: ["example.com", "example.com/x?y=z:1", "localhost", "1.2.3.4/a@b", "items"])
  func `an ambiguous text is a host if there is no base URL, and otherwise a path`(_ text: String) throws {
    #expect(try Self.resolve(text) == "http://\(text)")
    #expect(try Self.resolve(text, from: "https://h/a/") == "https://h/a/\(text)")
  }

  @Test(arguments: ["http://h/x", "HTTPS://h:1/x"])
  func `a URL with a scheme is not changed`(_ text: String) throws {
    #expect(try Self.resolve(text) == text)
    #expect(try Self.resolve(text, from: "https://b/a/") == text)
  }

  @Test(arguments: [
    "", "/x", "?x", "#x", "./x", "mailto:a@b", "a:b@c/", "a@b", "javascript:x", "localhost:/x", "ftp://h",
  ])
  func `a text that is not a host gets no scheme`(_ text: String) {
    #expect(throws: MessageError.self) { try Self.resolve(text) }
  }

  @Test(arguments: [
    ("/x", "https://h/x"), ("?x", "https://h/a/?x"), ("./x", "https://h/a/x"), ("//b/x", "https://b/x"),
  ])
  func `a path, a query or a reference without a scheme is resolved against the base URL`(
    _ text: String, _ url: String
  ) throws {
    #expect(try Self.resolve(text, from: "https://h/a/") == url)
  }
}
