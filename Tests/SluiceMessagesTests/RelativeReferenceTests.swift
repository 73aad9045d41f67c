import SluiceMessages
import Testing

/// RFC 3986 §5.4, as far as http goes.
@Suite struct RelativeReferenceTests {
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
    ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
    ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("https://other/x", "https://other/x"),
  ])
  func `references resolve as the RFC's examples do`(_ reference: String, _ expected: String) throws {
    let base = try HTTPURL("http://a/b/c/d;p?q")
    #expect(try RelativeReference.resolve(reference, against: base).string == expected)
  }

  @Test func `without a base, only whole URLs are taken`() {
    #expect(throws: MessageError.self) { try RelativeReference.resolve("/x", against: nil) }
  }
}
