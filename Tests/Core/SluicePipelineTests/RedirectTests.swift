import SluiceMessages
import Testing

@testable import SluicePipeline

/// How a redirect changes a request (RFC 9110 §15.4).
@Suite struct RedirectTests {
  private static func redirect(
    _ status: Int, _ method: String, _ location: String = "/x", body: Body = .text("b")
  ) throws -> Redirect? {
    let request = Request(method: method, url: HTTPURL("http://a.com/"), body: body)
    return try Redirect(Response(status: status, headers: ["Location": location]), to: request)
  }

  @Test(arguments: [
    (301, "GET", "GET", true), (301, "HEAD", "HEAD", true), (301, "POST", "GET", false), (301, "PUT", "PUT", true),
    (302, "POST", "GET", false), (302, "DELETE", "DELETE", true), (303, "POST", "GET", false),
    (303, "PUT", "GET", false),
    (303, "GET", "GET", false), (303, "HEAD", "HEAD", false), (307, "POST", "POST", true), (308, "POST", "POST", true),
    (308, "PATCH", "PATCH", true),
  ])
  func `the method after a redirect depends on the status`(
    status: Int, method: String, next: String, keepsBody: Bool
  ) throws {
    let redirect = try #require(try Self.redirect(status, method))
    #expect(redirect.method == next)
    #expect(redirect.keepsBody == keepsBody)
    #expect(redirect.url.string == "http://a.com/x")
    #expect(!redirect.isCrossOrigin)
  }

  @Test(arguments: [200, 201, 300, 304, 305, 306, 309, 400])
  func `other statuses are not followed as redirects`(status: Int) throws {
    #expect(try Self.redirect(status, "GET") == nil)
  }

  @Test func `two Location fields are followed only if they agree`() throws {
    let request = Request(url: HTTPURL("http://a.com/"))
    let same = Response(status: 302, headers: ["Location": "/x", "location": "/x"])
    let other = Response(status: 302, headers: ["Location": "/x", "location": "/y"])
    #expect(try Redirect(same, to: request) != nil)
    let error = try #require(throws: RedirectRefusal.self) { try Redirect(other, to: request) }
    #expect("\(error)" == #"302 with the Locations "/x" and "/y", which are not followed: they differ"#)
  }

  @Test(arguments: [300, 301, 302, 303, 304, 307, 308])
  func `a redirect status without a Location is not followed`(status: Int) throws {
    #expect(try Redirect(Response(status: status), to: Request(url: HTTPURL("http://a.com/"))) == nil)
  }

  @Test(arguments: [200, 300, 304, 400])
  func `a Location field in a response with another status is ignored`(status: Int) throws {
    #expect(try Self.redirect(status, "GET", "file:///etc/passwd") == nil)
  }

  @Test(arguments: [
    ("file:///etc/passwd", "file:///etc/passwd", "scheme \"file\" is not supported; only http and https are"),
    ("", "", "it is empty"), ("http://a.com:0/", "http://a.com:0/", "has a port that is not a number from 1 to 65535"),
    ("http://u:S3CRET@b.com/?S3CRET#S3CRET", "…@b.com/?…", "it has a user in it (RFC 9110 §4.2.4)"),
    ("myapp://callback#S3CRET", "myapp://callback#…", "scheme \"myapp\" is not supported; only http and https are"),
    (
      "http://bücher.example/", "http://bücher.example/",
      "its host \"bücher.example\" is not ASCII and is not converted here; write it with A-labels (xn--…)"
    ),
  ])
  func `the error for a Location that cannot be followed has the reason, but no secrets`(
    location: String, shown: String, reason: String
  ) throws {
    let error = try #require(throws: RedirectRefusal.self) { try Self.redirect(307, "GET", location) }
    #expect(error.status == 307)
    #expect(error.locations == [shown])
    #expect(error.reason == reason)
    #expect("\(error)" == "307 with the Location \"\(shown)\", which is not followed: \(reason)")
  }

  @Test func `a host beyond ASCII is converted to A-labels, and its origin is compared in this form`() throws {
    let hosts = HostEncoder { _ in "xn--bcher-kva.example" }
    let request = Request(url: HTTPURL("http://xn--bcher-kva.example/"))
    let response = Response(status: 302, headers: ["Location": "http://bücher.example/ä"])
    let redirect = try #require(try Redirect(response, to: request, hosts: hosts))
    #expect(redirect.url.string == "http://xn--bcher-kva.example/%C3%A4")
    #expect(!redirect.isCrossOrigin)
  }

  @Test func `a refused redirect fails the transaction once and calls no stage, and the result has only its head`()
    throws
  {
    let stage = StubStage([.response, .failure, .redirect]) { _ in .retry(after: .zero) }
    let fixture = RetryFixture(
      RetryPolicy(statuses: StatusSet([300...399]), connectionErrors: .always), response: stage,
      answer: { _, _ in
        .response(Response(status: 302, headers: ["location": "ftp://b.com/x?S3CRET"]), pieces: [Array("moved".utf8)])
      })
    let result = try fixture.run()
    #expect(result.error?.code == "redirect_refused")
    #expect(
      result.error?.message
        == "GET http://example.com/a: the server answered 302 with the Location \"ftp://b.com/x?…\","
        + " which is not followed: scheme \"ftp\" is not supported; only http and https are. To have the redirect as the response,"
        + " set redirects.max to 0")
    #expect(result.attempts == 1)
    #expect(result.response?.status == 302)
    #expect(result.response?.body.isEmpty == true)
    #expect(fixture.log.entries.isEmpty)
    #expect(fixture.environment.runningCount == 0)
  }

  @Test(arguments: ["https://a.com/", "http://b.com/", "http://a.com:81/", "http://sub.a.com/"])
  func `an origin consists of scheme, host and port`(location: String) throws {
    #expect(try Self.redirect(302, "GET", location)?.isCrossOrigin == true)
    #expect(try Self.redirect(302, "GET", "http://A.com:80/")?.isCrossOrigin == false)
  }

  private static func headers() -> HeaderFields {
    var headers: HeaderFields = [
      "Authorization": "a", "COOKIE": "b", "Proxy-Authorization": "c", "Host": "other", "Accept": "d", "X-Secret": "e",
      "X-API-Key": "k", "X-Auth-Token": "l", "x-amz-security-token": "m", "Content-Type": "f", "Content-Encoding": "g",
      "Content-Length": "1",
    ]
    headers.append("X-Marked", "h", marks: .sensitive)
    headers.append("X-Added", "i", marks: .addedByStage)
    headers.append("X-Own", "j")
    return headers
  }

  private static func following(_ status: Int, _ location: String, _ settings: RedirectSettings) throws -> Request {
    let request = Request(
      method: "POST", url: HTTPURL("http://a.com/"), headers: headers(), body: .text("b"))
    let redirect = try #require(
      try Redirect(Response(status: status, headers: ["Location": location]), to: request))
    return request.following(redirect, settings)
  }

  @Test func `a redirect within the origin keeps every field`() throws {
    let next = try Self.following(307, "/x", RedirectSettings(secret: ["x-secret"]))
    #expect(next.headers == Self.headers())
    #expect(next.body.bytes == Array("b".utf8))
    #expect(next.method == "POST")
  }

  @Test func `a redirect to another origin removes secrets and fields of stages`() throws {
    let next = try Self.following(307, "http://b.com/", RedirectSettings(secret: ["x-secret"]))
    #expect(
      next.headers.map(\.name) == ["Accept", "Content-Type", "Content-Encoding", "Content-Length", "X-Own"])
    #expect(next.body.bytes == Array("b".utf8))
  }

  @Test func `fields whose names the configuration allows are kept at another origin`() throws {
    let kept = ["authorization", "x-api-key", "x-marked", "x-added", "x-secret", "host"]
    let next = try Self.following(307, "http://b.com/", RedirectSettings(kept: kept, secret: ["x-secret"]))
    let names = next.headers.map(\.name)
    #expect(
      names == [
        "Authorization", "Accept", "X-Secret", "X-API-Key", "Content-Type", "Content-Encoding", "Content-Length",
        "X-Marked", "X-Added", "X-Own",
      ])
  }

  @Test func `if a redirect drops the body, the fields about the body are removed too`() throws {
    let next = try Self.following(303, "/x", RedirectSettings())
    #expect(next.method == "GET")
    #expect(next.body.isEmpty)
    #expect(next.headers.filter { $0.name.lowercased().hasPrefix("content") }.isEmpty)
    #expect(next.headers["authorization"] == "a")
  }
}
