import SluiceMessages
import Testing

@testable import SluicePipeline

/// What a redirect makes of a request (RFC 9110 §15.4).
@Suite struct RedirectTests {
  private static func redirect(
    _ status: Int, _ method: String, _ location: String = "/x", body: Body = .text("b")
  ) throws -> Redirect? {
    let request = Request(method: method, url: try HTTPURL("http://a.com/"), body: body)
    return Redirect(Response(status: status, headers: ["Location": location]), to: request)
  }

  @Test(arguments: [
    (301, "GET", "GET", true), (301, "HEAD", "HEAD", true), (301, "POST", "GET", false), (301, "PUT", "PUT", true),
    (302, "POST", "GET", false), (302, "DELETE", "DELETE", true), (303, "POST", "GET", false),
    (303, "PUT", "GET", false),
    (303, "GET", "GET", false), (303, "HEAD", "HEAD", false), (307, "POST", "POST", true), (308, "POST", "POST", true),
    (308, "PATCH", "PATCH", true),
  ])
  func `the method follows the status`(status: Int, method: String, next: String, keepsBody: Bool) throws {
    let redirect = try #require(try Self.redirect(status, method))
    #expect(redirect.method == next)
    #expect(redirect.keepsBody == keepsBody)
    #expect(redirect.url.string == "http://a.com/x")
    #expect(!redirect.isCrossOrigin)
  }

  @Test(arguments: [200, 201, 300, 304, 305, 306, 309, 400])
  func `other statuses redirect nowhere`(status: Int) throws {
    #expect(try Self.redirect(status, "GET") == nil)
  }

  @Test func `two Location fields lead somewhere only where they agree`() throws {
    let request = Request(url: try HTTPURL("http://a.com/"))
    let same = Response(status: 302, headers: ["Location": "/x", "location": "/x"])
    let other = Response(status: 302, headers: ["Location": "/x", "location": "/y"])
    #expect(Redirect(same, to: request) != nil)
    #expect(Redirect(other, to: request) == nil)
    #expect(Redirect(Response(status: 302), to: request) == nil)
  }

  @Test(arguments: ["https://a.com/", "http://b.com/", "http://a.com:81/", "http://sub.a.com/"])
  func `scheme, host and port make the origin`(location: String) throws {
    #expect(try Self.redirect(302, "GET", location)?.isCrossOrigin == true)
    #expect(try Self.redirect(302, "GET", "http://A.com:80/")?.isCrossOrigin == false)
  }

  private static func headers() -> HeaderFields {
    var headers: HeaderFields = [
      "Authorization": "a", "COOKIE": "b", "Proxy-Authorization": "c", "Host": "other", "Accept": "d", "X-Secret": "e",
      "Content-Type": "f", "Content-Encoding": "g", "Content-Length": "1",
    ]
    headers.append("X-Marked", "h", marks: .sensitive)
    headers.append("X-Added", "i", marks: .addedByStage)
    headers.append("X-Own", "j")
    return headers
  }

  private static func following(_ status: Int, _ location: String, _ settings: RedirectSettings) throws -> Request {
    let request = Request(
      method: "POST", url: try HTTPURL("http://a.com/"), headers: headers(), body: .text("b"))
    let redirect = try #require(Redirect(Response(status: status, headers: ["Location": location]), to: request))
    return request.following(redirect, settings)
  }

  @Test func `within the origin everything goes along`() throws {
    let next = try Self.following(307, "/x", RedirectSettings(secret: ["x-secret"]))
    #expect(next.headers == Self.headers())
    #expect(next.body.bytes == Array("b".utf8))
    #expect(next.method == "POST")
  }

  @Test func `across origins secrets and what stages added stay behind`() throws {
    let next = try Self.following(307, "http://b.com/", RedirectSettings(secret: ["x-secret"]))
    #expect(
      next.headers.map(\.name) == ["Accept", "Content-Type", "Content-Encoding", "Content-Length", "X-Own"])
    #expect(next.body.bytes == Array("b".utf8))
  }

  @Test func `what is kept by name goes along`() throws {
    let kept = ["authorization", "x-marked", "x-added", "x-secret", "host"]
    let next = try Self.following(307, "http://b.com/", RedirectSettings(kept: kept, secret: ["x-secret"]))
    let names = next.headers.map(\.name)
    #expect(
      names == [
        "Authorization", "Accept", "X-Secret", "Content-Type", "Content-Encoding", "Content-Length", "X-Marked",
        "X-Added", "X-Own",
      ])
  }

  @Test func `a body that is dropped takes its fields along`() throws {
    let next = try Self.following(303, "/x", RedirectSettings())
    #expect(next.method == "GET")
    #expect(next.body.isEmpty)
    #expect(next.headers.filter { $0.name.lowercased().hasPrefix("content") }.isEmpty)
    #expect(next.headers["authorization"] == "a")
  }
}
