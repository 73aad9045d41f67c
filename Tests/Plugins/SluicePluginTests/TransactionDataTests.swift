import CSluice
import SluicePlugin
import SluiceTestKit
import Testing

struct TransactionDataTests {
  private final class Token: Sendable {
    let isGone: Watched<Bool>

    init(_ isGone: Watched<Bool>) { self.isGone = isGone }

    deinit { isGone.update { $0 = true } }
  }

  @Test func `data that a request method sets is available for the response, and is released with the transaction`()
    throws
  {
    let isGone = Watched(false)
    let found = Watched(false)
    var script = Scripted.Script()
    script.request = { request, _ in request.transactionData = Token(isGone) }
    script.response = { response, _ in found.update { $0 = response.request.transactionData is Token } }
    let instance = try Scripted.instance(script)
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(instance.response(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(found.value)
    #expect(!isGone.value)
    exchange.keep(nil, nil)
    #expect(isGone.value)
  }

  @Test func `setting a new value releases the old value, and setting nil releases the last one`() throws {
    let (first, second) = (Watched(false), Watched(false))
    let instance = try Scripted.instance { request, _ in
      #expect(request.transactionData == nil)
      request.transactionData = Token(first)
      request.transactionData = Token(second)
      #expect(first.value)
      #expect(!second.value)
      request.transactionData = nil
    }
    #expect(instance.request(StubExchange()) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(second.value)
  }

  @Test func `data that is set after the end of the call is not kept and does not leak`() throws {
    let kept = Watched<StageRequest?>(nil)
    let instance = try Scripted.instance { request, _ in kept.update { $0 = request } }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    let isGone = Watched(false)
    kept.value?.transactionData = Token(isGone)
    #expect(exchange.data == nil)
    #expect(isGone.value)
  }

  @Test func `withEachField lends all fields in order, with all their bytes`() throws {
    let instance = try Scripted.instance { request, _ in
      var lines: [String] = []
      request.headers.withEachField { name, value in
        lines.append(String(decoding: name, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self))
      }
      #expect(lines == ["A=1", "b=2", "a=3"])
      try "x-new".utf8CString.withUnsafeBytes { name in
        try "4".utf8CString.withUnsafeBytes { value in
          try request.headers.add(
            UnsafeRawBufferPointer(rebasing: value.dropLast()), for: UnsafeRawBufferPointer(rebasing: name.dropLast()))
        }
      }
    }
    let exchange = StubExchange()
    exchange.sides[0].fields = [("A", "1"), ("b", "2"), ("a", "3")]
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.header(0, "x-new") == "4")
  }
}
