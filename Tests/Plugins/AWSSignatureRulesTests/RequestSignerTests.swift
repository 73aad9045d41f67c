import AWSSignatureRules
import AWSSignatureStage
import SluiceMessages
import Testing

/// Which fields a signature covers, and the forms of path, query and time.
@Suite struct RequestSignerTests {
  private let date = "20260131T235959Z"

  private func signer(_ service: String, token: String? = nil) -> RequestSigner {
    let key = SigningKey(id: Array("id".utf8), secret: Array("secret".utf8), sessionToken: token)
    return RequestSigner(key, region: "eu-west-1", service: service, hash: ContentDigest.hash)
  }

  private func fields(
    _ signer: RequestSigner, _ headers: HeaderFields, _ url: String = "https://h.example:8443/", bodyHash: String = "00"
  ) throws -> [String: String] {
    let fields = try signer.fields(
      method: "GET", url: HTTPURL(url), headers: headers, bodyHash: bodyHash, date: date)
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, String(decoding: $0.value, as: UTF8.self)) })
  }

  @Test func `the host, the content type and the provider's fields are signed, and no others`() throws {
    let headers: HeaderFields = [
      "X-Amz-Meta-B": "1", "Content-Type": "a/b", "Accept": "*/*", "X-Amzn-Trace-Id": "t", "Content-Length": "2",
    ]
    let plain = try fields(signer("es"), headers)
    #expect(plain["authorization"]?.contains("SignedHeaders=content-type;host;x-amz-date;x-amz-meta-b,") == true)
    #expect(plain.keys.sorted() == ["authorization", "x-amz-date"])
    let temporary = try fields(signer("s3", token: "t0k"), headers)
    #expect(temporary["x-amz-security-token"] == "t0k" && temporary["x-amz-content-sha256"] == "00")
    #expect(
      temporary["authorization"]?.contains(
        "host;x-amz-content-sha256;x-amz-date;x-amz-meta-b;x-amz-security-token,") == true)
    #expect(try fields(signer("es"), [:], bodyHash: "UNSIGNED-PAYLOAD")["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD")
  }

  @Test func `a field that the signer sets itself replaces the one of the request`() throws {
    let own = try fields(signer("s3", token: "new"), [:])
    let given = try fields(
      signer("s3", token: "new"),
      ["x-amz-date": "19700101T000000Z", "X-Amz-Security-Token": "old", "x-amz-content-sha256": "11"])
    #expect(own == given)
  }

  @Test func `the given Host is signed, and otherwise the host of the URL with its port`() throws {
    let implied = try fields(signer("es"), [:])
    #expect(try fields(signer("es"), ["Host": "h.example:8443"]) == implied)
    #expect(try fields(signer("es"), ["Host": "h.example"]) != implied)
    #expect(try fields(signer("es"), [:], "https://h.example/") != implied)
  }

  @Test func `values that differ only in spaces have the same signature`() throws {
    let one = try fields(signer("es"), ["x-amz-a": "a b", "x-amz-b": "1,2"])
    #expect(try fields(signer("es"), ["x-amz-a": "  a \t  b ", "x-amz-b": "1,2"]) == one)
    var repeated: HeaderFields = ["x-amz-a": "a b"]
    repeated.append("X-Amz-B", "1")
    repeated.append("x-amz-b", " 2")
    #expect(try fields(signer("es"), repeated) == one)
  }

  @Test(arguments: [
    ("/a%20b/%E1%88%B4", "/a%2520b/%25E1%2588%25B4", "/a%20b/%E1%88%B4"),
    ("/a(1)+b", "/a%281%29%2Bb", "/a%281%29%2Bb"), ("//a/./b/", "/a/b/", "//a/./b/"), ("/a%2fb", "/a%252fb", "/a%2Fb"),
    ("/", "/", "/"), ("/a/../..", "/", "/a/../.."), ("/~", "/~", "/~"),
  ])
  func `only the path of S3 is encoded once and not normalized`(_ path: String, _ plain: String, _ s3: String) {
    #expect(CanonicalURL.path(path, isS3: false) == plain)
    #expect(CanonicalURL.path(path, isS3: true) == s3)
  }

  @Test(
    arguments: [
      (nil, ""), ("", ""), ("b&a=1", "a=1&b="), ("a=2&a=1&A=3", "A=3&a=1&a=2"), ("a=b=c", "a=b%3Dc"),
      ("a=%2f&b=x+y&c=x%20y", "a=%2F&b=x%2By&c=x%20y"), ("&&a", "a="), ("a-=1&a=2", "a=2&a-=1"),
    ] as [(String?, String)])
  func `the query is sorted and encoded in one way`(_ query: String?, _ canonical: String) {
    #expect(CanonicalURL.query(query) == canonical)
  }

  @Test(arguments: [
    (0, "19700101T000000Z"), (-5, "19700101T000000Z"), (951_782_399, "20000228T235959Z"),
    (951_782_400, "20000229T000000Z"), (4_102_444_799, "20991231T235959Z"),
  ])
  func `a time is written in UTC`(_ seconds: Int, _ text: String) {
    #expect(SigningTime.text(seconds) == text)
  }

  @Test func `without SHA-256, nothing is signed`() throws {
    let key = SigningKey(id: [], secret: [])
    let signer = RequestSigner(key, region: "r", service: "s") { _ in nil }
    #expect(throws: StageFailure.self) {
      try signer.fields(method: "GET", url: HTTPURL("http://h/"), headers: [:], bodyHash: "", date: date)
    }
  }
}
