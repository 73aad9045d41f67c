import SluiceMessages
import SluicePipeline
import Testing

@Suite struct StageMatchTests {
  @Test(arguments: [
    ("/v1/*", "/v1/items", true), ("/v1/*", "/v1/items/1", false), ("/v1/**", "/v1/items/1", true),
    ("/v1/*", "/v1/", true), ("/v1/*", "/v1", false), ("*", "/", false), ("**", "/a/b", true), ("", "", true),
    ("/a*c", "/abc", true), ("/a*c", "/abcd", false), ("/*/x/*", "/a/x/b", true), ("/**/z", "/a/b/z", true),
    ("/**/z", "/z", false), ("/a", "/A", false), ("/*a*/b", "/caab/b", true), ("/*/*", "/a", false), ("", "/", false),
    ("/aab", "/aaab", false), ("/*aab", "/aaab", true),
  ])
  func `a path pattern stands for itself but for its stars`(pattern: String, path: String, expected: Bool) {
    #expect(PathGlob(pattern).matches(path) == expected)
  }

  @Test func `a pattern made to be slow takes no more than parts times bytes steps`() {
    let pattern = String(repeating: "**a", count: 40)
    #expect(!PathGlob(pattern).matches(String(repeating: "a", count: 2000) + "b"))
  }

  @Test func `everything that is given has to hold`() throws {
    let match = StageMatch(
      hosts: [try HostPattern("*.example.com")], methods: ["GET", "HEAD"], paths: [PathGlob("/v1/**")])
    func matches(_ method: String, _ url: String) throws -> Bool {
      match.matches(Request(method: method, url: try HTTPURL(url)))
    }
    #expect(try matches("GET", "https://api.example.com/v1/a"))
    #expect(try !matches("POST", "https://api.example.com/v1/a"))
    #expect(try !matches("get", "https://api.example.com/v1/a"))
    #expect(try !matches("GET", "https://example.com/v1/a"))
    #expect(try !matches("GET", "https://api.example.com/v2/a"))
    #expect(try !matches("GET", "https://evil.test/v1/?x=.example.com"))
  }

  @Test func `an empty match is for every request`() throws {
    #expect(StageMatch().matches(Request(method: "X", url: try HTTPURL("http://a/"))))
  }
}
