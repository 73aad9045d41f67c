import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@Suite struct StageMatchTests {
  @Test(arguments: [
    ("/v1/*", "/v1/items", true), ("/v1/*", "/v1/items/1", false), ("/v1/**", "/v1/items/1", true),
    ("/v1/*", "/v1/", true), ("/v1/*", "/v1", false), ("*", "/", false), ("**", "/a/b", true), ("", "", true),
    ("/a*c", "/abc", true), ("/a*c", "/abcd", false), ("/*/x/*", "/a/x/b", true), ("/**/z", "/a/b/z", true),
    ("/**/z", "/z", false), ("/a", "/A", false), ("/*a*/b", "/caab/b", true), ("/*/*", "/a", false), ("", "/", false),
    ("/aab", "/aaab", false), ("/*aab", "/aaab", true),
  ])
  func `a path pattern matches character by character, and its stars match any other text`(
    pattern: String, path: String, expected: Bool
  ) {
    #expect(PathGlob(pattern).matches(path) == expected)
  }

  @Test func `even for a malicious pattern, the number of steps is at most its parts times the path's bytes`() {
    let pattern = String(repeating: "**a", count: 40)
    #expect(!PathGlob(pattern).matches(String(repeating: "a", count: 2000) + "b"))
  }

  @Test func `a path of any length can be compared`() {
    for count in [1, 62, 63, 64, 65, 510, 511, 512, 513, 575, 576, 577, 20_000] {
      let path = "/" + String(repeating: "a", count: count)
      #expect(PathGlob("/*a").matches(path) && PathGlob("**/a*a**").matches(path) == (count > 1), "\(count)")
      #expect(!PathGlob("/*b").matches(path) && !PathGlob("**a/*").matches(path), "\(count)")
      #expect(PathGlob("**a/*").matches(path + "/"), "\(count)")
    }
  }

  @Test(arguments: [
    ("/%76%31/%2A", "/v1/%2A", true), ("/a%2fb", "/a%2Fb", true), ("/%7Ea", "/~a", true), ("/é/*", "/%C3%A9/x", true),
    ("/a b", "/a%20b", true), ("/%2a", "/x", false),
  ])
  func `an escape in a pattern matches like the character that it encodes`(
    pattern: String, path: String, expected: Bool
  ) {
    #expect(PathGlob(pattern).matches(path) == expected)
  }

  @Test(arguments: [
    ("/v1/../x", true), ("/./x", true), ("/v1/%2E%2e", true), ("..", true), ("/v1/..*", false),
    ("/.well-known/*", false),
  ])
  func `a pattern with a dot segment is recognized`(pattern: String, expected: Bool) {
    #expect(PathGlob(pattern).hasDotSegment == expected)
  }

  @Test(arguments: [
    ("/v1/**", "/v1/a", true), ("/v1/**", "/v1/../admin", false), ("/v1/**", "/v1/%2e%2e/admin", false),
    ("/v1/**", "/v1/.%2E/admin", false), ("/v1/**", "/v1/x/%2E%2E/../../admin", false),
    ("/admin", "/v1/../admin", true),
    ("/admin", "/v1/%2e%2e/%61dmin", true), ("/v1/**", "/x/../v1/a", true), ("/v1/**", "/./v1/./a", true),
    ("/v1/**", "/%76%31/a", true), ("/v1/a", "/v1/a/.", false), ("/v1/a/", "/v1/a/.", true), ("/", "", true),
    ("/", "/..", true),
    ("/a%2Fb", "/a%2fb", true), ("/v1/*", "/v1/%252e%252e", true), ("/v1/**", "/v1/a?x=/../admin", true),
  ])
  func `a path is compared without dot segments and needless escapes`(
    pattern: String, path: String, expected: Bool
  ) throws {
    let url = try HTTPURL("http://h\(path)")
    #expect(StageMatch(paths: [PathGlob(pattern)]).matches(Request(url: url)) == expected)
    #expect(url.string == "http://h\(path)")
  }

  @Test(arguments: [
    ("/v1/**", "//v1/a"), ("/v1/**", "///v1//a"), ("/v1/**", "/%2Fv1/a"), ("/v1/**", "/v1%2fa"), ("/v1/**", "/v1%5Ca"),
    ("/v1/**", "/v1;a=b/c"), ("/v1/a", "/v1/a;b"), ("/v1/a", "/v1//a"), ("/admin", "/x/..;/admin"),
    ("/admin", "/x/..%2Fadmin"),
    ("/admin", "/x/..%5cadmin"), ("/admin", "/x//../admin"), ("//v1/*", "//v1/a"), ("/v1/*", "/v1/a%2Fb"),
    ("/v1/a;b", "/v1/a;b"),
    ("/api/projects/*/files", "/api/projects/group%2Fname/files"),
  ])
  func `a stage is called for every spelling that a server might read as a path of the stage`(
    pattern: String, path: String
  ) throws {
    #expect(StageMatch(paths: [PathGlob(pattern)]).matches(Request(url: try HTTPURL("http://h\(path)"))))
  }

  @Test(arguments: [
    ("/v1/**", "/v1/..%2Fadmin"), ("/v1/**", "/v1/..%5Cadmin"), ("/v1/**", "/v1/%2e%2e%2fadmin"),
    ("/v1/**", "/v1/..;/admin"),
    ("/v1/**", "/v1//../admin"), ("/admin", "/v1/..%2Fadmin"), ("/admin", "/v1//../admin"),
  ])
  func `a request is refused and not sent if only some servers would read its path as outside of its folder`(
    pattern: String, path: String
  ) throws {
    for place in [StageCapabilities.request, .issue, .response] {
      let stage = StageBinding(
        name: "auth", interceptor: StubStage(place) { _ in .proceed }, match: StageMatch(paths: [PathGlob(pattern)]))
      let (result, issued) = try Self.run(stage, place, url: "http://user:S3CRET@h.example\(path)?S3CRET")
      #expect(issued.isEmpty)
      #expect(result.error?.code == "invalid_url" && result.error?.isBeforeSending == true)
      let message = result.error?.message ?? ""
      #expect(
        message.contains(path) && message.contains("/admin\"") && message.contains("stage \"auth\""), "\(message)")
      #expect(!message.contains("S3CRET"), "\(message)")
    }
  }

  @Test(arguments: [
    ("/v1/**", "/v1/a%2Fb"), ("/v1/**", "/v2//a;b"), ("/v1/**", "/v1/../admin"), ("/v1/**", "/v1/..%2Fv1/a"),
    ("/v3", "/v1/..%2Fadmin"), ("/v1/**", "/v1/%2e%2e/%2e%2e/a"),
  ])
  func `a path that is not ambiguous for any stage is sent unchanged`(pattern: String, path: String) throws {
    let stage = StageBinding(
      name: "auth", interceptor: StubStage(.request) { _ in .proceed }, match: StageMatch(paths: [PathGlob(pattern)]))
    let (result, issued) = try Self.run(stage, .request, url: "http://h.example\(path)")
    #expect(result.error == nil)
    #expect(issued.map(\.url.string) == ["http://h.example\(path)"])
  }

  @Test func `a path is ambiguous only for stages whose hosts and methods match`() throws {
    let match = StageMatch(hosts: [try HostPattern("other")], paths: [PathGlob("/v1/**")])
    let stage = StageBinding(name: "auth", interceptor: StubStage(.request) { _ in .proceed }, match: match)
    #expect(try Self.run(stage, .request, url: "http://h/v1/..%2Fadmin").result.error == nil)
  }

  /// Runs a transaction through one stage, and returns its result and the issued requests.
  private static func run(
    _ stage: StageBinding, _ place: StageCapabilities, url: String
  ) throws -> (result: TransactionResult, issued: [Request]) {
    let loop = StubLoop()
    let transport = StubTransport(loop: loop)
    let pipeline = Pipeline(
      requestStages: place == .request ? [stage] : [], issueStages: place == .issue ? [stage] : [],
      responseStages: place == .response ? [stage] : [])
    let environment = LoopEnvironment(loop: loop, transport: transport)
    var result: TransactionResult?
    let request = Request(url: try HTTPURL(url))
    loop.perform { Transaction.begin(request, on: environment, through: pipeline) { result = $0 } }
    return (try #require(result), transport.issued)
  }

  @Test func `a match holds only if all its conditions hold`() throws {
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

  @Test func `a match without conditions matches every request`() throws {
    #expect(StageMatch().matches(Request(method: "X", url: HTTPURL("http://a/"))))
  }
}
