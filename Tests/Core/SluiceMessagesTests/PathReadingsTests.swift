import SluiceMessages
import Testing

struct PathReadingsTests {
  @Test(arguments: [
    "/", "/v1/items", "/v1/items/", "/.well-known/a.b", "/a..b/...", "/..a/.b", "/a:b@c,d=e!$&'()*+~_-", "/v1/a.b/",
  ])
  func `an ordinary path has one reading, which is its spelling`(_ path: String) throws {
    #expect(try HTTPURL("http://h\(path)?a/../b#c/../d").withPath { PathReadings.isPlain($0) })
    #expect(readings(path).standard == path)
    #expect(readings(path).lenient == nil)
  }

  @Test(arguments: [
    ("/v1/../admin", "/admin"), ("/v1/./admin", "/v1/admin"), ("/v1/%2e%2e/admin", "/admin"),
    ("/v1/.%2E/admin", "/admin"),
    ("/v1/%2E./admin", "/admin"), ("/v1/..", "/"), ("/v1/.", "/v1/"), ("/../../a", "/a"), ("/a/b/../../../c", "/c"),
    ("/%61dmin", "/admin"), ("/%41%7e%5F%2D", "/A~_-"), ("/%e2%82%ac", "/%E2%82%AC"), ("/a%20b", "/a%20b"),
    ("/%3fa%23", "/%3Fa%23"), ("/%252e%252e/a", "/%252e%252e/a"), ("/a%", "/a%"), ("/a%2", "/a%2"), ("/a%zz", "/a%zz"),
  ])
  func `escapes of unreserved characters and dot segments do not change the path`(_ path: String, _ standard: String) {
    #expect(!isPlain(path))
    #expect(readings(path).standard == standard)
    #expect(readings(path).lenient == nil)
  }

  @Test(
    arguments: [
      ("//v1/a", "//v1/a", "/v1/a", false), ("/v1//a", "/v1//a", "/v1/a", false),
      ("/v1%2Fa", "/v1%2Fa", "/v1/a", false),
      ("/v1%2fa", "/v1%2Fa", "/v1/a", false), ("/v1%5ca", "/v1%5Ca", "/v1/a", false),
      ("/v1/a%2F", "/v1/a%2F", "/v1/a/", false),
      ("/v1;x=1/a;y", "/v1;x=1/a;y", "/v1/a", false), ("/v1//", "/v1//", "/v1/", false),
      ("/v1/..%2Fadmin", "/v1/..%2Fadmin", "/admin", true), ("/v1/..%5cadmin", "/v1/..%5Cadmin", "/admin", true),
      ("/v1%2F%2e%2e/admin", "/v1%2F../admin", "/admin", true), ("/v1/..;/admin", "/v1/..;/admin", "/admin", true),
      ("/v1/..;a=b/admin", "/v1/..;a=b/admin", "/admin", true), ("/v1//../admin", "/v1/admin", "/admin", true),
      ("/v1/%2F/../a", "/v1/a", "/a", true),
    ])
  func `the lenient reading is the path that a server reads if it decodes or merges slashes and drops parameters`(
    _ path: String, _ standard: String, _ lenient: String, _ hasDotSegments: Bool
  ) {
    #expect(!isPlain(path))
    #expect(readings(path).standard == standard)
    #expect(readings(path).lenient == lenient)
    #expect(readings(path).hasDotSegments == hasDotSegments)
  }

  @Test func `a URL without a path has the path of the root`() throws {
    for url in ["http://h", "http://h?/../a", "http://h#/a", "http://h/"] {
      let path = try HTTPURL(url).withPath { [UInt8](copying: $0) }
      #expect(path == Array("/".utf8))
    }
  }

  private func isPlain(_ path: String) -> Bool { PathReadings.isPlain(path.utf8.span) }

  private func readings(_ path: String) -> PathReadings { PathReadings(path.utf8.span) }
}
