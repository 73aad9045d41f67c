import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// `send --aws-sigv4`, and `run` with the plugin aws-sigv4. A program in Python checks the signatures that arrive.
@Suite struct SendSignatureTests {
  private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
  private static let credentials = ["-u", "AKIDEXAMPLE:\(secret)"]

  private static func send(_ arguments: String..., input: String = "") async throws -> CommandResult {
    try await Command.run(
      Tool.path, ["send"] + credentials + arguments, environment: Tool.cleared, standardInput: Array(input.utf8))
  }

  private static func verdicts(_ server: LoopbackServer) async throws -> [String] {
    var verdicts: [String] = []
    for request in server.requests { verdicts.append(try await SignatureVerifier.verdict(on: request, secret: secret)) }
    return verdicts
  }

  @Test func `each attempt has its own date`() async throws {
    let count = Watched(0)
    let server = try LoopbackServer { _ in
      let number = count.update { count in
        count += 1
        return count
      }
      return number == 1 ? ServerResponse(status: 503) : .text("ok")
    }
    defer { server.stop() }
    // The clock moves on by a second between the attempts.
    let result = try await Self.send(
      "--aws-sigv4", "aws:amz:eu-west-1:es", "--retry", "1", "--retry-delay", "1", "-d", "a=1", server.baseURL)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try await Self.verdicts(server) == ["valid", "valid"])
    let dates = server.requests.map { $0.value(of: "x-amz-date") ?? "" }
    #expect(dates.count == 2 && dates[0] < dates[dates.count - 1], "\(dates)")
  }

  @Test func `what stages change is signed`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let configuration = try folder.write(
      """
      {"plugins": {"edit": {"library": "\(BuiltProducts.library("json-edit"))",
                            "config": {"request": [{"op": "set", "path": "/b", "value": 2, "create": true}]}},
                   "fixed": {"library": "\(BuiltProducts.library("static-headers"))",
                             "config": {"request": {"x-amz-meta-a": "b"}}}},
       "request": ["edit", "fixed"]}
      """, to: "sluice.json")
    let result = try await Self.send(
      "-c", configuration, "--aws-sigv4", "aws:amz:eu-west-1:s3", "--json", #"{"a": 1}"#, server.baseURL + "/k$(1)")
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try await Self.verdicts(server) == ["valid"])
    let sent = try #require(server.requests.first)
    #expect(sent.value(of: "x-amz-meta-a") == "b" && String(decoding: sent.body, as: UTF8.self).contains(#""b""#))
  }

  @Test(arguments: [[], ["--location-trusted"]])
  func `only --location-trusted signs for another host`(_ options: [String]) async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let server = try LoopbackServer { request in
      let place = request.target == "/same" ? "http://localhost:\(other.port)/x" : "/same"
      return ServerResponse(status: 307, headers: [HeaderLine("location", place)])
    }
    defer { server.stop() }
    let arguments = ["send", "--aws-sigv4", "aws:amz:eu-west-1:es"] + Self.credentials + options
    let result = try await Tool.run(arguments: arguments + ["-d", "a=1", server.baseURL])
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try await Self.verdicts(server) == ["valid", "valid"])
    if options.isEmpty {
      #expect(other.requests.count == 1 && other.requests[0].value(of: "authorization") == nil)
      #expect(other.requests[0].value(of: "x-amz-date") == nil)
    } else {
      #expect(try await Self.verdicts(other) == ["valid"])
    }
  }

  @Test func `a file is hashed, and only S3 takes a body that is not known`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(String(repeating: "x", count: 3_000_000), to: "large")
    let whole = try await Self.send("--aws-sigv4", "aws:amz:eu-west-1:es", "-T", file, server.baseURL + "/a")
    #expect(whole.status == 0, "\(whole.errorText)")
    let streamed = try await Self.send("--aws-sigv4", "aws:amz:eu-west-1:s3", "-T", "-", server.baseURL, input: "abc")
    #expect(streamed.status == 0, "\(streamed.errorText)")
    #expect(try await Self.verdicts(server) == ["valid", "valid"])
    #expect(server.requests.last?.value(of: "x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
    let refused = try await Self.send("--aws-sigv4", "aws:amz:eu-west-1:es", "-T", "-", server.baseURL, input: "abc")
    #expect(refused.status == 2 && refused.errorText.contains("must be known"), "\(refused.errorText)")
    #expect(server.requestCount == 2)
  }

  @Test(arguments: [("Authorization:", nil), ("Authorization: own", "own")] as [(String, String?)])
  func `with an Authorization of -H, nothing is signed`(_ field: String, _ sent: String?) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Self.send("--aws-sigv4", "aws:amz:eu-west-1:s3", "-H", field, server.baseURL)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requests.map { $0.value(of: "authorization") } == [sent])
    #expect(server.requests.first?.headers.contains { $0.name.lowercased().hasPrefix("x-amz-") } == false)
  }

  @Test func `run signs each request with the plugin, and its log shows no secret`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let configuration = try folder.write(
      """
      {"plugins": {"sign": {"library": "\(BuiltProducts.library("aws-sigv4"))",
                            "config": {"accessKeyID": {"env": "KEY"}, "secretAccessKey": {"env": "SECRET"},
                                       "region": "eu-west-1", "service": "s3", "hosts": ["127.0.0.1"]}}},
       "request": ["sign"], "issue": ["sign"]}
      """, to: "sluice.json")
    let lines = (0..<20).map {
      #"{"method": "PUT", "url": "\#(server.baseURL)/\#($0)", "body": {"text": "\#(String(repeating: "a", count: $0))"}}"#
    }
    let result = try await Command.run(
      Tool.path, ["run", "-c", configuration, "--log-level", "debug"],
      environment: Tool.cleared.merging(["KEY": "AKIDEXAMPLE", "SECRET": Self.secret]) { $1 },
      standardInput: Array(lines.joined(separator: "\n").utf8))
    #expect(result.status == 0, "\(result.errorText)")
    #expect(server.requestCount == 20)
    #expect(try await Self.verdicts(server).allSatisfy { $0 == "valid" })
    #expect(!result.errorText.contains("Signature=") && !result.errorText.contains(Self.secret))
  }
}
