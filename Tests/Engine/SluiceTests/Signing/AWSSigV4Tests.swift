import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The shipped plugin aws-sigv4 in a real engine. A program in Python checks what the server gets.
@Suite struct AWSSigV4Tests {
  enum Source: Sendable, CaseIterable {
    case none, empty, small, large, file
  }

  private static func body(_ source: Source, _ folder: TemporaryDirectory) throws -> Body {
    let large = [UInt8](repeating: 0xE9, count: 300_000)
    switch source {
    case .none: return .empty
    case .empty: return .bytes([])
    case .small: return .text("Param1=value1")
    case .large: return .bytes(large)
    // Bytes beyond the size of the body are neither sent nor signed.
    case .file: return .file(FileBody(path: try folder.write(large + [1, 2, 3], to: "body"), byteCount: large.count))
    }
  }

  @Test(arguments: Source.allCases, ["execute-api", "s3"])
  func `the signature is valid for every kind of body`(_ source: Source, _ service: String) async throws {
    let fixture = try SigningFixture(config: ["service": JSONValue(service), "sessionToken": "t0k/en+=="])
    let folder = try TemporaryDirectory()
    let body = try Self.body(source, folder)
    let result = try await fixture.send("/a%20b//c/%E1%88%B4?b=x+y&a=%2f&a=1") {
      $0.method = "PUT"
      $0.headers["content-type"] = "application/octet-stream"
      $0.body = body
    }
    #expect(result.response?.status == 200, "\(String(describing: result.error))")
    #expect(try await fixture.verdicts() == ["valid"])
    #expect(fixture.server.requests.first?.value(of: "x-amz-security-token") == "t0k/en+==")
    await fixture.stop()
  }

  @Test func `odd white space, repeated headers and another Host are signed as they arrive`() async throws {
    let fixture = try SigningFixture()
    let hosts = [nil, "bucket.example.com", "bucket.example.com:8443"]
    for host in hosts {
      _ = try await fixture.send("/?%41=%7e&plain&=&x=a%20b") {
        $0.headers.append("X-Amz-Meta-A", "a  \t b")
        $0.headers.append("x-amz-meta-a", "c,  d")
        $0.headers.append("X-Amz-Meta-Empty", "")
        if let host { $0.headers["host"] = host }
      }
    }
    #expect(try await fixture.verdicts() == ["valid", "valid", "valid"])
    #expect(fixture.server.requests.last?.value(of: "host") == "bucket.example.com:8443")
    await fixture.stop()
  }

  @Test func `changes of stages before it are signed`() async throws {
    let code = StageCode(
      request: { request, _ in
        request.method = "POST"
        request.url += "?tenant=a%20b"
        request.headers["content-type"] = "text/plain"
        request.body = [UInt8](repeating: 7, count: 20_000)
      }, issue: { request, context in request.headers["x-amz-meta-hop"] = "\(context.attemptNumber)" })
    let fixture = try SigningFixture(change: { $0.addStage("change", code) })
    _ = try await fixture.send()
    #expect(try await fixture.verdicts() == ["valid"])
    #expect(fixture.server.requests.first?.signatureFields == ["authorization", "x-amz-date", "x-amz-meta-hop"])
    await fixture.stop()
  }

  @Test func `each attempt is signed with its own date`() async throws {
    let count = Watched(0)
    let fixture = try SigningFixture { _ in
      let number = count.update { count in
        count += 1
        return count
      }
      // The clock moves on by a second between the attempts.
      return number == 1 ? ServerResponse(status: 503, headers: [HeaderLine("Retry-After", "1")]) : .text("ok")
    } change: {
      $0.maximumAttempts = 2
      $0.retry = RetryPolicy.standard
    }
    let result = try await fixture.send { $0.body = .bytes([UInt8](repeating: 1, count: 20_000)) }
    #expect(result.attempts == 2 && result.response?.status == 200, "\(String(describing: result.error))")
    #expect(try await fixture.verdicts() == ["valid", "valid"])
    let dates = fixture.server.requests.map { $0.value(of: "x-amz-date") ?? "" }
    #expect(dates.count == 2 && dates[0] < dates[dates.count - 1], "\(dates)")
    await fixture.stop()
  }

  @Test(arguments: [307, 303])
  func `a redirect to the same host is signed, with or without the body`(_ status: Int) async throws {
    let fixture = try SigningFixture { request in
      request.target == "/end"
        ? .text("ok") : ServerResponse(status: status, headers: [HeaderLine("location", "/end")])
    }
    _ = try await fixture.send("/begin") {
      $0.method = "POST"
      $0.headers["content-type"] = "text/plain"
      $0.body = .bytes([UInt8](repeating: 1, count: 20_000))
    }
    #expect(fixture.server.requests.map(\.method) == ["POST", status == 303 ? "GET" : "POST"])
    #expect(try await fixture.verdicts() == ["valid", "valid"])
    await fixture.stop()
  }

  @Test func `a redirect to another host gets nothing of the signature`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let fixture = try SigningFixture(config: ["sessionToken": "t0k", "service": "s3"]) { _ in
      ServerResponse(status: 307, headers: [HeaderLine("location", "http://localhost:\(other.port)/x")])
    }
    _ = try await fixture.send()
    #expect(try await fixture.verdicts() == ["valid"])
    #expect(other.requests.map(\.signatureFields) == [[]])
    await fixture.stop()
  }

  @Test func `a host that is not listed gets nothing, and its body may be streamed`() async throws {
    let fixture = try SigningFixture(config: ["hosts": ["*.amazonaws.com"]])
    let result = try await fixture.send {
      $0.method = "POST"
      $0.body = .stream(Self.stream())
    }
    #expect(result.response?.status == 200, "\(String(describing: result.error))")
    #expect(fixture.server.requests.map(\.signatureFields) == [[]])
    await fixture.stop()
  }

  private static func stream() -> BodyStream {
    let pieces = Watched([Array("abc".utf8)])
    return BodyStream { _ in pieces.update { $0.popLast() } }
  }

  @Test func `a streamed body is refused before anything is sent`() async throws {
    let fixture = try SigningFixture(config: ["service": "s3"])
    let result = try await fixture.send {
      $0.method = "POST"
      $0.body = .stream(Self.stream())
    }
    #expect(result.error?.code == "body_not_hashed" && result.error?.stage == "sign")
    #expect(result.error?.message.contains("streamed") == true)
    #expect(fixture.server.requestCount == 0)
    await fixture.stop()
  }

  @Test(arguments: ["s3", "execute-api"])
  func `with "payload": "unsigned" a streamed body is sent, and its hash is not signed`(
    _ service: String
  ) async throws {
    let fixture = try SigningFixture(config: ["service": JSONValue(service), "payload": "unsigned"])
    for body in [Body.stream(Self.stream()), .text("abc")] {
      let result = try await fixture.send {
        $0.method = "POST"
        $0.body = body
      }
      #expect(result.response?.status == 200, "\(String(describing: result.error))")
    }
    #expect(try await fixture.verdicts() == ["valid", "valid"])
    #expect(fixture.server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", "abc"])
    #expect(fixture.server.requests.allSatisfy { $0.value(of: "x-amz-content-sha256") == "UNSIGNED-PAYLOAD" })
    await fixture.stop()
  }

  @Test func `a hash that the caller gives is signed, so the body can be streamed`() async throws {
    let fixture = try SigningFixture(config: ["service": "s3"])
    let result = try await fixture.send {
      $0.method = "POST"
      $0.headers["X-Amz-Content-SHA256"] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      $0.body = .stream(Self.stream())
    }
    #expect(result.response?.status == 200, "\(String(describing: result.error))")
    #expect(try await fixture.verdicts() == ["valid"])
    await fixture.stop()
  }

  @Test func `a request with its own Authorization is not changed`() async throws {
    let fixture = try SigningFixture()
    _ = try await fixture.send { $0.headers["authorization"] = "Bearer own" }
    #expect(fixture.server.requests.map(\.signatureFields) == [["authorization"]])
    #expect(fixture.server.requests.first?.value(of: "authorization") == "Bearer own")
    await fixture.stop()
  }

  @Test func `a file that is too short or missing fails the request before it is sent`() async throws {
    let fixture = try SigningFixture()
    let folder = try TemporaryDirectory()
    let short = FileBody(path: try folder.write("ab", to: "short"), byteCount: 3)
    for file in [short, FileBody(path: folder.path("missing"), byteCount: 3)] {
      let result = try await fixture.send {
        $0.method = "PUT"
        $0.body = .file(file)
      }
      #expect(result.error?.code == .bodyFile, "\(String(describing: result.error))")
    }
    #expect(fixture.server.requestCount == 0)
    await fixture.stop()
  }
}
