@testable import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Synchronization
import Testing

@testable import SluiceTransport

/// A name is resolved once for all transfers that wait for it.
@Suite struct NameTests {
  @Test func `500 transfers to one name that cannot be resolved look it up once, and all fail`() async throws {
    let asked = Watched<[String]>([])
    let mayAnswer = Signal()
    let clock = Watched(Instant(nanoseconds: 0))
    let resolver = NameResolver(now: { clock.value }) { name in
      asked.update { $0.append(name) }
      mayAnswer.waitBlocking()
      return .failure(NameError("Name or service not known"))
    }
    let wire = try Wire(resolver: resolver)
    let probes = (0..<500).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: HTTPURL("http://nowhere.test/")), probe) }
    try await asked.wait(for: "the look-up") { $0.count == 1 }
    await wire.onLoop {}
    // The transfers do not have one resolver thread each. Other tests of this process have resolvers too, with at most
    // 32 threads each.
    #expect(ProcessFacts.threads(named: "sluice-dns") < 400)
    mayAnswer.set()
    var ends: [String: Int] = [:]
    for probe in probes {
      let record = try await probe.waitForEnd()
      let isEarly = record.error?.isBeforeSending ?? false
      ends["\(record.code?.rawValue ?? "success"), before sending: \(isEarly)", default: 0] += 1
    }
    #expect(ends == ["dns, before sending: true": 500])
    #expect(asked.value == ["nowhere.test"])
    #expect(probes.first?.record.value.error?.message.contains("\"nowhere.test\": Name or service not known") == true)
    // A failed look-up is remembered for a second.
    #expect(try await wire.get("http://nowhere.test/").code == .nameLookup)
    #expect(asked.value.count == 1)
    clock.update { $0 = $0 + .seconds(1) }
    #expect(try await wire.get("http://nowhere.test/").code == .nameLookup)
    #expect(asked.value.count == 2)
  }

  @Test func `a look-up that does not end does not delay other names`() async throws {
    let mayAnswer = Signal()
    defer { mayAnswer.set() }
    let asked = Watched(0)
    let resolver = NameResolver { name in
      guard name.hasPrefix("slow") else { return .success(["127.0.0.1"]) }
      asked.update { $0 += 1 }
      mayAnswer.waitBlocking()
      return .failure(NameError("late"))
    }
    let server = try LoopbackServer()
    let wire = try Wire(resolver: resolver)
    let probes = (0..<16).map { _ in Probe() }
    for (number, probe) in probes.enumerated() {
      wire.start(Request(url: try HTTPURL("http://slow\(number).test/")), probe)
    }
    try await asked.wait(for: "the slow look-ups") { $0 == probes.count }
    #expect(try await wire.get("http://service.test:\(server.port)/").error == nil)
    mayAnswer.set()
    for probe in probes { #expect(try await probe.waitForEnd().code == .nameLookup) }
  }

  @Test func `all transfers use a resolved name without another look-up`() async throws {
    let asked = Atomic<Int>(0)
    let resolver = NameResolver { _ in
      asked.add(1, ordering: .relaxed)
      return .success(["127.0.0.1"])
    }
    let server = try LoopbackServer()
    server.hold()
    let wire = try Wire(resolver: resolver)
    let probes = (0..<50).map { _ in Probe() }
    let url = try HTTPURL("http://service.test:\(server.port)/")
    for probe in probes { wire.start(Request(url: url), probe) }
    try await server.waitForHeld(50)
    server.release()
    for probe in probes { #expect(try await probe.waitForEnd().error == nil) }
    #expect(try await wire.get("http://service.test:\(server.port)/again").error == nil)
    #expect(asked.load(ordering: .relaxed) == 1)
    #expect(server.requests.first?.headers.first("Host") == "service.test:\(server.port)")
  }

  @Test func `looking up many names at once takes at most 32 threads`() async throws {
    let running = Watched((now: 0, most: 0))
    let resolver = NameResolver { _ in
      running.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      defer { running.update { $0.now -= 1 } }
      return .failure(NameError("no"))
    }
    let wire = try Wire(resolver: resolver)
    let probes = (0..<300).map { _ in Probe() }
    for (number, probe) in probes.enumerated() {
      wire.start(Request(url: try HTTPURL("http://n\(number).test/")), probe)
    }
    for probe in probes { #expect(try await probe.waitForEnd().code == .nameLookup) }
    #expect(running.value.most <= 32)
  }

  @Test func `a host that is forgotten during its request is looked up again when its address fails`() async throws {
    let resolver = NameResolver { name in
      name == "service.test" ? .success(["127.0.0.1"]) : .failure(NameError("Name or service not known"))
    }
    let mayAnswer = Signal()
    let server = try ScriptedServer(
      .receiveHead, .wait(mayAnswer), .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
    let wire = try Wire(resolver: resolver)
    let url = "http://service.test:\(server.port)/"
    let probe = Probe()
    wire.start(Request(url: try HTTPURL(url)), probe)
    try await server.waitForConnections(1)
    try await crowdOut(wire)
    mayAnswer.set()
    #expect(try await probe.waitForEnd().error == nil)
    server.stop()
    // The first request finds that the address no longer works, so the second request looks the name up again.
    for _ in 0..<2 { #expect(try await wire.get(url).code == .connect) }
  }

  @Test func `a name that is not resolved in time fails with a connect timeout`() async throws {
    let mayAnswer = Signal()
    defer { mayAnswer.set() }
    let resolver = NameResolver { _ in
      mayAnswer.waitBlocking()
      return .failure(NameError("late"))
    }
    var settings = TransportSettings()
    settings.connectTimeout = .milliseconds(50)
    let record = try await Wire(settings, resolver: resolver).get("http://slow.test/")
    #expect(record.code == .connectTimeout)
    #expect(record.error?.message.contains("not resolved within") == true)
  }

  @Test func `the system resolves localhost, and IP addresses need no look-up`() async throws {
    let server = try LoopbackServer()
    #expect(try await Wire().get("http://localhost:\(server.port)/").bodyText == "ok\n")
    let resolver = NameResolver { _ in .failure(NameError("an IP address was looked up")) }
    #expect(try await Wire(resolver: resolver).get(server.baseURL).bodyText == "ok\n")
  }

  @Test(arguments: ["localhost", "app.localhost", "a.b.localhost", "dns-would-say-otherwise.localhost"])
  func `localhost and every name below it is this machine, whatever the DNS says`(_ name: String) async throws {
    let addresses = try SystemNames.addresses(of: name).get()
    #expect(!addresses.isEmpty)
    #expect(addresses.allSatisfy { $0 == "::1" || $0.hasPrefix("127.") }, "\(addresses)")
    let server = try LoopbackServer()
    #expect(try await Wire().get("http://\(name):\(server.port)/").bodyText == "ok\n")
    #expect(server.requests.first?.headers.first("Host") == "\(name):\(server.port)")
  }

  /// Sends requests to as many other hosts as the transport remembers, so it forgets the earlier host.
  private func crowdOut(_ wire: Wire) async throws {
    let urls = try (0..<PoolTable.rememberedPools).map { try HTTPURL("http://n\($0).test/") }
    let probe = Probe()
    wire.loop.post { [transport = wire.transport] in
      for url in urls { _ = transport.start(Request(url: url), TransferOptions(), observer: probe) }
    }
    try await probe.record.wait(for: "the end of \(urls.count) transfers") { $0.ends.count == urls.count }
  }
}
