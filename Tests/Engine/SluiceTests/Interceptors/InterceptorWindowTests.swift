import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestServers
import Testing

/// What each callback of a stage sees and can change.
@Suite struct InterceptorWindowTests: InterceptorScenario {
  @Test func `an issue stage cannot change how the message is framed`() async throws {
    try await withServer { server, request in
      var request = request
      (request.method, request.body) = ("POST", .text("12345"))
      let result = try await run(
        request,
        StageCode(issue: { request, _ in
          request.headers["Content-Length"] = "3"
          #expect(throws: StageFailure.self) { try request.headers.set("Transfer-Encoding", to: "chunked") }
        }))
      #expect(result.error == nil)
      let sent = try #require(server.requests.first)
      #expect(sent.body == Array("12345".utf8))
      #expect(sent.value(of: "content-length") == "5")
      #expect(sent.value(of: "transfer-encoding") == nil)
    }
  }

  @Test func `an issue stage sees the headers that request stages have set`() async throws {
    try await withServer { server, request in
      let seen = Locked<String?>(nil)
      _ = try await run(
        request, StageCode(request: { request, _ in request.headers["x-early"] = "1" }),
        StageCode(issue: { request, _ in seen.withLock { $0 = request.headers["x-early"] } }))
      #expect(seen.withLock { $0 } == "1")
    }
  }

  @Test func `a header that an issue stage sets in one attempt is not sent in the next attempt`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request,
        StageCode(
          issue: { request, context in
            if context.attemptNumber == 0 { request.headers["x-hop"] = "first" }
          }, response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
      #expect(result.error == nil)
      #expect(server.requests.map { $0.value(of: "x-hop") } == ["first", nil])
    }
  }

  @Test func `the result has both the caller's request and the issued one`() async throws {
    try await withServer { server, request in
      var request = request
      request.headers["User-Agent"] = "user request"
      let result = try await run(
        request, StageCode(issue: { request, _ in request.headers["User-Agent"] = "intercepted request" }))
      #expect(result.originalRequest.headers["User-Agent"] == "user request")
      #expect(result.issuedRequest?.headers["User-Agent"] == "intercepted request")
      #expect(server.requests.first?.value(of: "user-agent") == "intercepted request")
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a response stage sees the decoded body`() async throws {
    let nginx = try await NginxServer.start()
    let seen = Locked<[String]>([])
    let result = try await run(
      Request(url: HTTPURL(nginx.baseURL + "/gzip"), headers: ["Accept-Encoding": "gzip"]),
      StageCode(
        response: { response, _ in
          let text = String(decoding: response.body ?? [], as: UTF8.self)
          seen.withLock { $0.append(String(text.prefix(15))) }
        }, options: .wantsResponseBody))
    #expect(result.error == nil)
    #expect(seen.withLock { $0 } == ["sixteen letters"])
  }

  @Test func `a request stage turns a GET into a POST`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request,
        StageCode(request: { request, _ in
          request.method = "POST"
          request.headers["content-type"] = "text/plain"
          request.body = Array("abc".utf8)
        }))
      #expect(result.error == nil)
      let sent = try #require(server.requests.first)
      #expect(sent.method == "POST")
      #expect(sent.body == Array("abc".utf8))
      #expect(sent.value(of: "content-length") == "3")
    }
  }

  @Test func `a request stage rewrites method, headers and body`() async throws {
    try await withServer { server, request in
      var request = request
      request.method = "PUT"
      request.headers["original-header"] = "foo"
      request.body = .text("abc")
      _ = try await run(
        request,
        StageCode(
          request: { request, _ in
            request.method = "POST"
            request.headers["x-intercepted"] = "yep"
            request.body = Self.upperCase(request.body)
          }, options: .wantsRequestBody))
      let sent = try #require(server.requests.first)
      #expect(sent.method == "POST")
      #expect(sent.body == Array("ABC".utf8))
      #expect(sent.value(of: "original-header") == "foo")
      #expect(sent.value(of: "x-intercepted") == "yep")
    }
  }

  @Test func `a request stage can send the request to another URL`() async throws {
    try await withServer { server, request in
      let other = try LoopbackServer()
      defer { other.stop() }
      let url = try HTTPURL(other.baseURL + "/there")
      let result = try await run(request, StageCode(request: { request, _ in request.url = url.string }))
      #expect(result.error == nil)
      #expect(server.requests.isEmpty)
      #expect(other.requests.map(\.path) == ["/there"])
    }
  }

  @Test func `a request stage removes a header`() async throws {
    try await withServer { server, request in
      var request = request
      request.headers["x-secret"] = "1"
      _ = try await run(request, StageCode(request: { request, _ in request.headers["x-secret"] = nil }))
      #expect(server.requests.first?.value(of: "x-secret") == nil)
    }
  }

  @Test func `a response stage rewrites headers and body`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request,
        StageCode(
          response: { response, _ in
            response.headers["x-intercepted"] = "yep"
            response.body = Self.upperCase(response.body)
          }, options: .wantsResponseBody))
      #expect(Self.text(result.response) == "ABC")
      #expect(result.response?.headers["x-intercepted"] == "yep")
      #expect(result.response?.headers["content-type"]?.hasPrefix("text/plain") == true)
    }
  }

  @Test func `a response stage removes the body`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(response: { response, _ in response.body = nil }))
      #expect(result.error == nil)
      #expect(result.response?.body.isEmpty == true)
    }
  }

  @Test func `a response stage turns an error into a success`() async throws {
    try await withServer({ _ in ServerResponse(status: 500) }) { server, request in
      let result = try await run(request, StageCode(response: { response, _ in response.status = 200 }))
      #expect(result.error == nil)
    }
  }

  @Test func `a response stage is also called for a response without a body`() async throws {
    try await withServer({ _ in ServerResponse(status: 204) }) { server, request in
      let calls = Locked(0)
      let result = try await run(request, StageCode(response: { _, _ in calls.withLock { $0 += 1 } }))
      #expect(result.error == nil)
      #expect(result.response?.body.isEmpty == true)
      #expect(calls.withLock { $0 } == 1)
    }
  }
}
