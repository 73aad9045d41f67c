import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceTransport

/// Transfers that carry one hop after the other.
@Suite struct TransferReuseTests {
  /// The identity of the last transfer. It does not keep the transfer alive.
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
    // When two later posts have run, the loop has finished the turn in which the transfer ended.
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
  }

  /// What a hop can leave behind.
  enum Hop: CaseIterable {
    case plain, head, cancelled, cancelledInLine, refused, upload, expectant, known, trailing, failed, secured
  }

  /// Returns the stored properties of a transfer, except those that say where the transport keeps the transfer.
  private static func properties(_ transfer: HTTPTransfer) -> [String: String] {
    var properties: [String: String] = [:]
    for child in Mirror(reflecting: transfer).children {
      properties[child.label ?? ""] = String(describing: child.value)
    }
    for label in ["position", "isPostponed"] { properties[label] = nil }
    return properties
  }

  /// Sends a hop of that kind, and waits for its end.
  private func send(_ hop: Hop, _ wire: Wire, _ server: LoopbackServer) async throws {
    let url = try HTTPURL(server.baseURL + "/")
    var options = TransferOptions()
    let probe = Probe()
    switch hop {
    case .plain: _ = try await send(Request(url: url), wire)
    case .head: _ = try await send(Request(method: "HEAD", url: url), wire)
    case .cancelled: _ = try await send(Request(url: url), wire) { $0.cancel() }
    case .refused:
      probe.onIssue = { _ in false }
      _ = try await send(Request(url: url), wire, probe)
    case .upload:
      let pieces = Watched([[1, 2, 3]] as [[UInt8]])
      let stream = BodyStream { _ in pieces.update { $0.popLast() } }
      _ = try await send(Request(method: "POST", url: url, body: .stream(stream)), wire)
    case .expectant:
      let body = [UInt8](repeating: 7, count: 2 << 20)
      _ = try await send(Request(method: "POST", url: url, body: .bytes(body)), wire)
    case .known:
      options.wantsConnection = true
      _ = try await send(Request(url: url), wire, options: options)
    case .trailing:
      var request = Request(method: "POST", url: url, body: .bytes([1]))
      request.trailers = ["x-sum": "1"]
      _ = try await send(request, wire)
    case .failed:
      let unused = try HTTPURL("http://127.0.0.1:\(Loopback.freePort())/")
      _ = try await send(Request(url: unused), wire)
    case .secured:
      let secured = try HTTPURL(server.baseURL.replacing("http:", with: "https:"))
      options.handshake = HandshakePolicy(
        HandshakePolicy.Scope(client: 1, isOfCall: true), decidesTrust: false, choosesCertificate: true,
        choosesForCall: true)
      _ = try await send(Request(url: secured), wire, options: options)
    case .cancelledInLine:
      server.hold()
      let (first, second) = (Probe(), Probe())
      wire.start(Request(url: url), first)
      try await server.waitForHeld(1)
      let slot = TransferSlot()
      wire.start(Request(url: url), second) { slot.transfer = $0 }
      for _ in 0..<2 { await wire.onLoop {} }
      await wire.onLoop {
        slot.transfer?.cancel()
        slot.transfer = nil
      }
      try await second.waitForEnd()
      server.release()
      try await first.waitForEnd()
      for _ in 0..<2 { await wire.onLoop {} }
    }
  }

  @Test(arguments: Hop.allCases)
  func `a transfer that is used again begins like a new one`(_ hop: Hop) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var settings = TransportSettings.patient
    settings.maximumConnectionsPerHost = 1
    let wire = try Wire(settings)
    let transport = wire.transport
    try await send(hop, wire, server)
    let url = try HTTPURL(server.baseURL + "/")
    // If two transfers have ended, both are checked.
    let differences = await wire.onLoop {
      let spare = transport.spareCount
      #expect(spare == (hop == .cancelledInLine ? 2 : 1))
      return (0..<spare).flatMap { _ -> [String] in
        let probe = Probe()
        let transfer = transport.start(Request(url: url), TransferOptions(), observer: probe)
        defer { transfer.cancel() }
        guard let transfer = transfer as? HTTPTransfer else { return ["no transfer"] }
        let fresh = Self.properties(HTTPTransfer(transport, Request(url: url), TransferOptions(), probe))
        return Self.properties(transfer).compactMap { fresh[$0.key] == $0.value ? nil : "\($0.key): \($0.value)" }
      }
    }
    #expect(differences == [])
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
