import SluiceMessages
import Testing

/// The examples of RFC 3986 §5.4 that apply to http.
@Suite struct RelativeReferenceTests {
  @Test(arguments: [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
    ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
    ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("https://other/x", "https://other/x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("../", "http://a/b/"), ("../../", "http://a/"), ("../../../../g", "http://a/g"), (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."), ("./g/.", "http://a/b/c/g/"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
    ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
  ])
  func `references resolve as the RFC's examples do`(_ reference: String, _ expected: String) throws {
    let base = HTTPURL("http://a/b/c/d;p?q")
    #expect(try RelativeReference.resolve(reference, against: base).string == expected)
  }

  @Test(arguments: ["ht!tp://x", "ht!tp:x", "127.0.0.1:8080/x", "a b:c/d", ":", "é:x"])
  func `a reference whose first segment has a colon is not a URL`(_ reference: String) throws {
    let base = HTTPURL("http://a/b/c/d;p?q")
    let error = try #require(throws: MessageError.self) { try RelativeReference.resolve(reference, against: base) }
    #expect(error.code == .invalidURL)
    #expect(error.reason.contains("is not a scheme; expected http://"))
  }

  @Test(arguments: [("./g:h", "http://a/b/c/g:h"), ("/g:h", "http://a/g:h"), ("?g:h", "http://a/b/c/d;p?g:h")])
  func `a colon that is not in the first segment is an ordinary character`(
    _ reference: String, _ expected: String
  ) throws {
    #expect(try RelativeReference.resolve(reference, against: HTTPURL("http://a/b/c/d;p?q")).string == expected)
  }

  @Test(arguments: [
    ("ä/../ö", "http://a/b/c/%C3%B6"), ("/\u{338}g", "http://a/%CC%B8g"),
    ("?ä=ö#ü", "http://a/b/c/d;p?%C3%A4=%C3%B6#%C3%BC"),
    ("..\u{301}/g", "http://a/b/c/..%CC%81/g"), ("..//\u{338}../x", "http://a/b//%CC%B8../x"),
  ])
  func `a reference beyond ASCII is resolved by its bytes, so a combining mark does not hide the delimiter before it`(
    _ reference: String, _ expected: String
  ) throws {
    #expect(try RelativeReference.resolve(reference, against: HTTPURL("http://a/b/c/d;p?q")).string == expected)
  }

  @Test func `without a base, a relative reference is refused`() {
    #expect(throws: MessageError.self) { try RelativeReference.resolve("/x", against: nil) }
  }
}
