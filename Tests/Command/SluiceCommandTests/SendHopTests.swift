import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Redirects and credentials of `sluice send`.
@Suite struct SendHopTests {
  @Test func `redirects are followed, and --max-redirs 0 prints the redirect`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/end"
        ? .text("arrived")
        : ServerResponse(status: 302, headers: [HeaderLine("Location", "/end")], body: .bytes(Array("moved".utf8)))
    }
    defer { server.stop() }
    let followed = try await Tool.run("send", "-L", "-i", server.baseURL + "/a")
    #expect(followed.status == 0)
    #expect(followed.outputText.hasPrefix("HTTP/1.1 302 Found\r\n"))
    #expect(followed.outputText.contains("\r\n\r\nHTTP/1.1 200 OK\r\n"))
    #expect(followed.outputText.hasSuffix("\r\n\r\narrived"))
    let plain = try await Tool.run("send", server.baseURL + "/a", "--max-redirs", "0")
    #expect(plain.status == 0)
    #expect(plain.outputText == "moved")
    let wrong = try await Tool.run("send", server.baseURL + "/a", "--max-redirs", "-2")
    #expect(wrong.status == 2)
  }

  @Test func `if a redirect cannot be followed, send prints the reason and ends with status 1`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(status: 302, headers: [HeaderLine("Location", "file:///etc/passwd?S3CRET")])
    }
    defer { server.stop() }
    let result = try await Tool.run("send", server.baseURL + "/a")
    #expect(result.status == 1)
    #expect(
      result.errorText.contains(
        #"redirect_refused: GET \#(server.baseURL)/a: the server answered 302 with the Location "file:///etc/passwd?…", which is not followed: scheme "file""#
      ))
    #expect(try await Tool.run("send", server.baseURL + "/a", "--max-redirs", "0").status == 0)
  }

  @Test func `-u sends Basic credentials at once, but with --anyauth only after a challenge`() async throws {
    let server = try LoopbackServer { request in
      request.headers.first("authorization") == "Basic dTpwOnE="
        ? .text("ok") : ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=x")])
    }
    defer { server.stop() }
    #expect(try await Tool.run("send", "-u", "u:p:q", server.baseURL).outputText == "ok")
    #expect(server.requestCount == 1)
    #expect(try await Tool.run("send", "-u", "u:p:q", "--anyauth", server.baseURL).outputText == "ok")
    #expect(server.requestCount == 3)
    #expect(try await Tool.run("send", "-u", "u:p:q", "--digest", server.baseURL).status == 22)
    #expect(server.requests.last?.headers.first("authorization") == nil)
    #expect(server.requestCount == 4)
    #expect(try await Tool.run("send", "-u", "nobody", server.baseURL).status == 2)
    #expect(try await Tool.run("send", "--digest", server.baseURL).status == 2)
  }

  @Test func `--digest asks with an empty body before it reads standard input, and -u alone cannot repeat the input`()
    async throws
  {
    let challenge = HeaderLine("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)
    let server = try LoopbackServer { request in
      request.headers.first("authorization")?.hasPrefix("Digest ") == true
        ? ServerResponse(body: .bytes(request.body)) : ServerResponse(status: 401, headers: [challenge])
    }
    defer { server.stop() }
    let digest = try await Tool.run("send", "-T", "-", "--digest", "-u", "u:p", server.baseURL, input: "hello")
    #expect(digest.status == 0 && digest.outputText == "hello", "\(digest.errorText)")
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "hello"])
    for options in [["-u", "u:p"], ["-u", "u:p", "--anyauth"]] {
      let result = try await Tool.run(arguments: ["send", "-T", "-"] + options + [server.baseURL], input: "hello")
      #expect(result.status == 65 && result.errorText.contains("body_not_replayable"), "\(result.errorText)")
      #expect(result.errorText.contains("--digest") && !result.errorText.contains("the server answered 401"))
    }
  }
}
