import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Settings and surroundings of aws-sigv4: mistakes, secrets, other lists, HTTP/2.
@Suite struct AWSSigV4SettingTests {
  @Test(
    arguments: [
      (["region": .null], "region"), (["service": .null], "service"), (["hosts": []], "hosts"),
      (["hosts": .null], "hosts"), (["hosts": ["a/b"]], "hosts"), (["region": "eu/west"], "region"),
      (["region": ""], "region"), (["service": "s3, x"], "service"), (["accessKeyID": "a b"], "accessKeyID"),
      (["secretAccessKey": "hidden-secret\n"], "secretAccessKey"),
      (["sessionToken": "hidden-secret\r\n"], "sessionToken"),
      (["payload": "streamed"], "payload"), (["secret": "hidden-secret"], "secret"),
    ] as [(JSONValue, String)])
  func `a wrong configuration is refused, and the message names the key and shows no secret`(
    _ config: JSONValue, _ key: String
  ) throws {
    let error = #expect(throws: EngineError.self) { try SigningFixture(config: config) }
    let text = String(describing: error)
    #expect(text.contains(key) && !text.contains("hidden-secret") && !text.contains(SigningFixture.secret), "\(text)")
  }

  @Test func `no result and no log shows a secret`() async throws {
    let fixture = try SigningFixture(config: ["sessionToken": "hidden-token"])
    let result = try await fixture.send { $0.wantsExplanation = true }
    let refused = try await fixture.send {
      $0.body = .stream(BodyStream { _ in nil })
    }
    #expect(refused.error?.code == "body_not_hashed")
    let text = "\(String(describing: result.explanation)) \(String(describing: refused.error)) \(fixture.log.value)"
    #expect(text.contains("authorization") || text.contains("Authorization"))
    #expect(!text.contains("Signature=") && !text.contains("hidden-token") && !text.contains(SigningFixture.secret))
    await fixture.stop()
  }

  @Test func `listed only under issue, it signs small bodies and refuses large ones`() async throws {
    let fixture = try SigningFixture(lists: ["issue"])
    for count in [0, 100] {
      let result = try await fixture.send { $0.body = .bytes([UInt8](repeating: 1, count: count)) }
      #expect(result.response?.status == 200, "\(String(describing: result.error))")
    }
    let large = try await fixture.send { $0.body = .bytes([UInt8](repeating: 1, count: 20_000)) }
    #expect(large.error?.code == "body_not_hashed" && large.error?.message.contains("\"request\"") == true)
    let streamed = try await fixture.send { $0.body = .stream(BodyStream { _ in nil }) }
    #expect(streamed.error?.code == "body_not_hashed")
    #expect(try await fixture.verdicts() == ["valid", "valid"])
    await fixture.stop()
  }

  @Test func `a large body that a later stage sets is refused`() async throws {
    let fixture = try SigningFixture(
      lists: ["issue"],
      change: {
        $0.request.append(StageReference("sign"))
        $0.addStage("later") { request, _ in request.body = [UInt8](repeating: 2, count: 30_000) }
      })
    let result = try await fixture.send { $0.body = .bytes([UInt8](repeating: 1, count: 20_000)) }
    #expect(result.error?.code == "body_not_hashed" && fixture.server.requestCount == 0)
    await fixture.stop()
  }

  @Test func `over HTTP 2 the authority is signed as the host`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try LoopbackServer()
    defer { server.stop() }
    var settings = NginxConfiguration()
    settings.extraDirectives =
      "location /h2 { proxy_pass http://127.0.0.1:\(server.port); proxy_set_header Host $http_host;"
      + " proxy_set_header X-Version $server_protocol; }"
    let nginx = try await NginxServer.start(settings, certificates: certificates)
    let fixture = try SigningFixture(
      config: ["hosts": ["localhost"]],
      change: {
        $0.transport.tls.ca = certificates.authority
        $0.transport.httpVersion = .http2
      })
    let request = Request(
      method: "POST", url: try HTTPURL(nginx.secureBaseURL + "/h2/a%20b?c=d%2F"),
      headers: ["content-type": "text/plain", "x-amz-meta": "a  b"], body: .text("abc"))
    let result = await fixture.engine.transaction(request)
    #expect(result.response?.status == 200, "\(String(describing: result.error))")
    #expect(server.requests.first?.value(of: "x-version") == "HTTP/2.0")
    #expect(try await fixture.verdicts(server) == ["valid"])
    await fixture.stop()
    try await nginx.stop()
  }
}
