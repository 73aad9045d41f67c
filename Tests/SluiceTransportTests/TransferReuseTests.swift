import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import Testing

@testable import SluiceWire

/// Transfers that carry one hop after the other.
@Suite(.overWire) struct TransferReuseTests {
  /// Where a transfer is in memory, without a reference to it.
  private let place = Watched<ObjectIdentifier?>(nil)

  /// Sends a request, and waits until nobody refers to its transfer any more.
  private func send(
    _ request: Request, _ wire: Wire, options: TransferOptions = TransferOptions(), _ probe: Probe = Probe(),
    then: @escaping @Sendable (any Transfer) -> Void = { _ in }
  ) async throws -> Probe.Record {
    wire.start(request, probe, options: options) { [place] transfer in
      let identity = ObjectIdentifier(transfer)
      place.update { $0 = identity }
      then(transfer)
    }
    let record = try await probe.waitForEnd()
    // The turn in which the transfer has ended is over when two later posts have run.
    for _ in 0..<2 { await wire.onLoop {} }
    return record
  }

  @Test func `a later hop uses the transfer again, and nothing of the earlier hop is left`() async throws {
    let server = try LoopbackServer { request -> ServerResponse in
      .text(request.method == "HEAD" ? "" : "abc", type: "text/plain")
    }
    defer { server.stop() }
    let wire = try Wire()
    let url = try HTTPURL(server.baseURL + "/")
    let plain = try await send(Request(url: url, headers: ["x-a": "1"]), wire)
    #expect(plain.bodyText == "abc")
    let first = place.value
    #expect(first != nil)

    let head = try await send(Request(method: "HEAD", url: url), wire)
    #expect(head.head?.status == 200 && head.ends.first?.body.isEmpty == true)
    var curious = TransferOptions()
    curious.wantsConnection = true
    let known = try await send(Request(url: url), wire, options: curious)
    #expect(known.ends.first?.connection != nil)
    let cancelled = try await send(Request(url: url), wire) { $0.cancel() }
    #expect(cancelled.code == .cancelled)
    let refused = Probe()
    refused.onIssue = { _ in false }
    #expect(try await send(Request(url: url), wire, refused).code == .cancelled)
    let posted = try await send(Request(method: "POST", url: url, body: .bytes([7, 7])), wire)
    #expect(posted.bodyText == "abc" && posted.timings.bytesSent > 2)

    let last = try await send(Request(url: url), wire)
    #expect(place.value == first)
    #expect(last.error == nil && last.bodyText == "abc")
    #expect(last.ends.first?.trailers == nil && last.timings.bytesReceived == 3)
    #expect(last.issued == [HeaderFields()] && last.sent.isEmpty)
    // Timings that were given stay as they are.
    #expect(head.timings.bytesReceived == 0 && plain.timings.bytesReceived == 3)
    #expect(plain.timings.bytesSent != posted.timings.bytesSent)
  }

  @Test func `a transfer that somebody still refers to is not used again`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let wire = try Wire()
    let url = try HTTPURL(server.baseURL + "/")
    let slot = TransferSlot()
    _ = try await send(Request(url: url), wire) { slot.transfer = $0 }
    let first = place.value
    let second = try await send(Request(url: url), wire) { _ in slot.transfer?.cancel() }
    #expect(second.error == nil)
    #expect(place.value != first)
    await wire.onLoop { slot.transfer = nil }
  }
}
