import CSluice
import SluicePlugin
import SluiceTestKit
import Testing

/// Redirects and challenges through the C table of a Swift plugin.
struct HopTests {
  private static func redirect(_ instance: StubInstance, _ exchange: StubExchange) -> sluice_verdict {
    instance.onLoop(exchange) { handle, pointer in
      withText("https://other.example.com/x") { url in
        withText("GET") { method in
          var record = sluice_redirect(
            size: UInt32(MemoryLayout<sluice_redirect>.size), status: 302, url: url, method: method,
            is_cross_origin: 1, keeps_body: 1)
          return instance.interceptor?.on_redirect(handle, pointer, &record) ?? -1
        }
      }
    }
  }

  private static func challenge(
    _ instance: StubInstance, _ exchange: StubExchange, status: UInt32 = 401
  ) -> sluice_verdict {
    instance.onLoop(exchange) { handle, pointer in
      withText("Bearer") { scheme in
        withText("realm=\"x\"") { parameters in
          var record = sluice_challenge(
            size: UInt32(MemoryLayout<sluice_challenge>.size), status: status, scheme: scheme, parameters: parameters,
            answered: 2, reserved: 0)
          return instance.interceptor?.on_challenge(handle, pointer, &record) ?? -1
        }
      }
    }
  }

  private static func withText<Result>(_ text: StaticString, _ body: (sluice_text) -> Result) -> Result {
    body(
      sluice_text(
        data: UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), size: text.utf8CodeUnitCount))
  }

  @Test func `a stage can follow a redirect, make it the response, or fail`() throws {
    let instance = try Scripted.instance(
      Scripted.Script(redirect: { redirect, _ in
        #expect(redirect.status == 302)
        #expect(redirect.url.string == "https://other.example.com/x")
        #expect(redirect.method == "GET")
        #expect(redirect.isCrossOrigin)
        #expect(redirect.keepsBody)
        return .follow
      }))
    #expect(Self.redirect(instance, StubExchange()) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    let taking = try Scripted.instance(Scripted.Script(redirect: { _, _ in .takeResponse }), named: "taking")
    #expect(Self.redirect(taking, StubExchange()) == sluice_verdict(SLUICE_VERDICT_RESPOND))
    let failing = try Scripted.instance(
      Scripted.Script(redirect: { _, _ in throw StageFailure(code: "no_way", message: "no") }), named: "failing")
    #expect(Self.redirect(failing, StubExchange()) == sluice_verdict(SLUICE_VERDICT_FAIL))
    let retrying = try Scripted.instance(
      Scripted.Script(redirect: { _, _ in throw RetryRequestError() }), named: "retrying")
    #expect(Self.redirect(retrying, StubExchange()) == sluice_verdict(SLUICE_VERDICT_FAIL))
  }

  @Test
  func `a stage can answer a challenge or leave it unanswered, and the status decides which header has the answer`()
    throws
  {
    let instance = try Scripted.instance(
      Scripted.Script(challenge: { offer, _ in
        #expect(offer.challenge.scheme == "Bearer")
        #expect(offer.challenge["realm"] == "x")
        #expect(offer.answered == 2)
        return .answer("Bearer t")
      }))
    let exchange = StubExchange()
    #expect(Self.challenge(instance, exchange) == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(exchange.header(0, "authorization") == "Bearer t")
    let proxied = StubExchange()
    #expect(Self.challenge(instance, proxied, status: 407) == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(proxied.header(0, "proxy-authorization") == "Bearer t")
    let leaving = try Scripted.instance(Scripted.Script(), named: "leaving")
    #expect(Self.challenge(leaving, StubExchange()) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
  }

  @Test func `a stage can give credentials and leave the scheme to the host, or cancel`() throws {
    let instance = try Scripted.instance(
      Scripted.Script(challenge: { _, _ in .credentials(user: "u", password: "p") }))
    let exchange = StubExchange()
    exchange.challengeVerdict = sluice_verdict(SLUICE_VERDICT_RESPOND)
    #expect(Self.challenge(instance, exchange) == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(exchange.credentials == ["u", "p"])
    #expect(Self.challenge(instance, StubExchange()) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    let cancelling = try Scripted.instance(Scripted.Script(challenge: { _, _ in .cancel }), named: "cancelling")
    let cancelled = StubExchange()
    #expect(Self.challenge(cancelling, cancelled) == sluice_verdict(SLUICE_VERDICT_FAIL))
    #expect(cancelled.failure?.code == "cancelled")
  }

  @Test func `a stage that waits suspends the redirect until it decides`() async throws {
    let gate = Signal()
    let instance = try Scripted.instance(
      Scripted.Script(redirect: { _, _ in
        try await gate.wait(for: "the test")
        return .takeResponse
      }))
    let exchange = StubExchange()
    #expect(Self.redirect(instance, exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    #expect(exchange.token != nil)
    gate.set()
    #expect(try await exchange.resumption.wait { $0 != nil } == sluice_verdict(SLUICE_VERDICT_RESPOND))
  }
}
