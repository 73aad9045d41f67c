import Sluice
import SluicePipeline
import SluiceServer
import SluiceTestServers
import Testing

/// Which calls see the headers that an issue stage has set, and when.
@Suite struct IssuedHeaderTests {
  @Test(arguments: ["0u", "SLUICE_FLAG_BLOCKING"])
  func `later stages and tracers see what an issue stage has set, and earlier ones do not`(
    _ flags: String
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try await HopTracer(defines: ["FLAGS=\(flags)"])
    let (result, events) = try await tracer.run(server.baseURL + "/a")
    #expect(result.error == nil)
    #expect(server.requests.first?.headers.first("x-hop") == "0.0")
    #expect(tracer.told("on_request") == ["absent"])
    // The stage has just set the header, but it is visible only after it was sent.
    #expect(tracer.told("on_issue") == ["absent", "absent"])
    #expect(tracer.told("on_response") == ["0.0"])
    #expect(events.map { $0["issued"] } == ["absent", "absent"] + Array(repeating: "0.0", count: 7))
  }

  @Test func `a plugin in Swift sees the issued header too`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let tracer = try HopTracer(inSwift: "", headers: nil)
    let (result, events) = try await tracer.run(server.baseURL + "/a")
    #expect(result.error == nil)
    #expect(tracer.told("on_request") == ["absent"])
    #expect(tracer.told("on_issue") == ["absent"])
    #expect(tracer.told("on_response") == ["0.0"])
    #expect(events.map { $0["issued"] } == ["0.0", "0.0"])
  }

  @Test func `each hop has its own issued header`() async throws {
    let server = try RedirectTests.server()
    defer { server.stop() }
    let tracer = try await HopTracer()
    let (result, events) = try await tracer.run(server.baseURL + "/302/307/end")
    #expect(result.error == nil)
    #expect(server.requests.map { $0.headers.first("x-hop") } == ["0.0", "0.1", "0.2"])
    #expect(tracer.told("on_issue") == Array(repeating: "absent", count: 6))
    #expect(tracer.told("on_redirect") == ["0.0", "0.1"])
    #expect(tracer.told("on_response") == ["0.2"])
    #expect(events.dropFirst(2).allSatisfy { $0["issued"] == $0["place"] })
  }

  @Test(arguments: ["0u", "SLUICE_FLAG_BLOCKING"])
  func `a failed connection has no issued header, even after a hop that has one`(_ flags: String) async throws {
    let nowhere = "http://127.0.0.1:\(try Loopback.freePort())/"
    let server = try LoopbackServer { _ in RedirectTests.redirect(302, nowhere) }
    defer { server.stop() }
    for url in [nowhere, server.baseURL + "/a"] {
      let tracer = try await HopTracer(defines: ["FLAGS=\(flags)"])
      let (result, events) = try await tracer.run(url)
      #expect(result.error?.code == "connect")
      #expect(tracer.told("on_failure") == ["absent"])
      #expect(events.suffix(2).map { $0["kind"] } == ["12", "8"])
      #expect(events.suffix(2).allSatisfy { $0["issued"] == "absent" })
    }
  }

  @Test func `an attempt that was not sent yet does not show issued headers of the previous attempt`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    let tracer = try await HopTracer(
      more: #", "retry": {"maxAttempts": 2, "statuses": [503], "backoff": {"base": "1ms", "max": "1ms"}}"#)
    let (_, events) = try await tracer.run(server.baseURL + "/a")
    #expect(tracer.told("on_request") == ["absent", "absent"])
    #expect(tracer.told("on_response") == ["0.0", "1.0"])
    let retried = events.map { "\($0["kind"]) \($0["issued"])" }
    #expect(retried.contains("10 0.0") && !retried.contains("2 0.0"))
    #expect(retried.last == "8 1.0")
  }
}
