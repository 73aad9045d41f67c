import Testing

@testable import SluiceMessages

/// Lists of challenges (RFC 9110 §11.6.1).
@Suite struct ChallengeTests {
  private static func list(_ value: String) -> [Challenge]? { Challenge.list(Array(value.utf8)) }

  private static func short(_ challenge: Challenge) -> String {
    let parts = challenge.parameters.map { "\($0.name)=\($0.value)" } + (challenge.token68.map { ["<\($0)>"] } ?? [])
    return ([challenge.scheme] + parts).joined(separator: "|")
  }

  @Test(arguments: [
    (#"Basic realm="simple""#, [#"Basic|realm=simple"#]),
    (
      #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
      ["Newauth|realm=apps|type=1|title=Login to \"apps\"", "Basic|realm=simple"]
    ),
    ("Negotiate", ["Negotiate"]), ("Negotiate, Basic realm=x", ["Negotiate", "Basic|realm=x"]),
    (
      "Negotiate a87421000492aa874209af8bc028==, Basic realm=x",
      ["Negotiate|<a87421000492aa874209af8bc028==>", "Basic|realm=x"]
    ),
    (#", , Basic realm = "a" ,, charset="UTF-8" , ,"#, ["Basic|realm=a|charset=UTF-8"]),
    (
      #"Digest realm="a, b=c", qop="auth, auth-int", nonce="x==", stale=TRUE"#,
      ["Digest|realm=a, b=c|qop=auth, auth-int|nonce=x==|stale=TRUE"]
    ),
    (
      #"Bearer realm="x", error="invalid_token", error_description="", scope="a b""#,
      ["Bearer|realm=x|error=invalid_token|error_description=|scope=a b"]
    ),
    ("Basic  realm=\"ümlaut\"", ["Basic|realm=ümlaut"]), ("", []), (" , ", []),
  ])
  func `a list of challenges is read`(value: String, expected: [String]) {
    #expect(Self.list(value)?.map(Self.short) == expected)
  }

  @Test(arguments: [
    #"Basic realm="open"#, #"Basic realm="open\"#, "Basic realm=\"a\" charset=x", "Basic realm=,x=\"", "=x", "Basic =x",
    "Basic realm=a realm=b", "Basic realm=a, realm=b", "Basic @", "Basic Digest realm=x", "\"Basic\" realm=x",
    "Basic realm=\"a\u{0}b\"", "Basic realm=a;b", "Ba(sic realm=x", "Basic\trealm=x",
  ])
  func `a malformed list has no challenges`(value: String) {
    #expect(Self.list(value) == nil)
  }

  @Test func `names are compared without regard to case, and the text of the parameters is unchanged`() throws {
    let list = try #require(Self.list(#"DIGEST Realm="a \"b\"", NONCE=x , Basic realm=y"#))
    let first = try #require(list.first)
    #expect(first.isScheme("digest"))
    #expect(first["realm"] == #"a "b""#)
    #expect(first["nonce"] == "x")
    #expect(first["opaque"] == nil)
    #expect(first.text == #"Realm="a \"b\"", NONCE=x"#)
    #expect(list.last?.text == "realm=y")
  }

  @Test func `fields are read in order, and a malformed field does not hide the other fields`() {
    var headers: HeaderFields = ["WWW-Authenticate": "Negotiate"]
    headers.append("www-authenticate", "Basic realm=\"open")
    headers.append("x-other", "Basic realm=no")
    headers.append("Www-Authenticate", "Digest realm=a, nonce=b, Basic realm=c")
    #expect(
      Challenge.challenges(in: headers, "www-authenticate").map(\.scheme) == ["Negotiate", "Digest", "Basic"])
    #expect(Challenge.challenges(in: headers, "proxy-authenticate").isEmpty)
  }

  @Test func `a huge list is limited and takes linear time`() {
    let many = Array(repeating: "Basic realm=x", count: 100_000).joined(separator: ", ")
    #expect(Self.list(many)?.count == Challenge.maximumCount)
    var headers = HeaderFields()
    for _ in 0..<100 { headers.append("www-authenticate", "Basic realm=x") }
    #expect(Challenge.challenges(in: headers, "www-authenticate").count == Challenge.maximumCount)
    let parameters = (0..<1000).map { "p\($0)=x" }.joined(separator: ", ")
    #expect(Self.list("Digest " + parameters) == nil)
    #expect(Self.list("Basic " + String(repeating: "a", count: 1 << 20))?.count == 1)
    #expect(Self.list(String(repeating: ",", count: 1 << 20))?.isEmpty == true)
  }

  @Test func `a list of parameters without a scheme is read`() {
    let parameters = Challenge.parameters(of: #"nextnonce="abc", qop=auth, nc=00000001"#)
    #expect(parameters?.map { "\($0.name)=\($0.value)" } == ["nextnonce=abc", "qop=auth", "nc=00000001"])
    #expect(Challenge.parameters(of: "nextnonce=\"abc") == nil)
  }
}
