import SluiceMessages
import Testing

@Suite struct MediaTypeTests {
  @Test(
    arguments: [
      ("text/html", "text/html", nil), ("Text/HTML; Charset=UTF-8", "text/html", "UTF-8"),
      ("application/json ;charset=\"utf-8\"; x=1", "application/json", "utf-8"),
      ("a/b; x=\";charset=no\"; charset=yes", "a/b", "yes"), ("a/b;;", "a/b", nil), ("a/b; charset=", "a/b", nil),
      ("multipart/form-data; boundary=\"a;b\\\"c\"", "multipart/form-data", nil),
    ] as [(String, String, String?)])
  func `type, subtype and charset of a media type are read`(_ value: String, _ essence: String, _ charset: String?) {
    let type = MediaType(value)
    #expect(type?.essence == essence)
    #expect(type?.charset == charset)
  }

  @Test(arguments: ["", "text", "text/", "/html", "te xt/html", "a/b/c", ";charset=utf-8"])
  func `a text without type and subtype is not a media type`(_ value: String) {
    #expect(MediaType(value) == nil)
  }
}
