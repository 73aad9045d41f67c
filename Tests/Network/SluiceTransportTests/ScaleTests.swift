import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Many transfers at once.
@Suite struct ScaleTests {
  /// Runs 1,000 transfers at once, or fewer if the descriptor limit does not allow them. With `SLUICE_SOAK=1` it runs
  /// 10,000 and also checks the memory of the whole process.
  @Test(.enabled(if: NginxServer.isAvailable))
  func `thousands of transfers in flight need few threads and little memory, and leave no descriptor open`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let isFull = getenv("SLUICE_SOAK") != nil
      let wanted = isFull ? 10_000 : 1_000
      let limit = SluiceSupport.DescriptorLimit.raise(to: wanted * 2 + 500)
      let count = isFull ? wanted : min(wanted, limit.soft - 300)
      try #require(limit.soft >= count + 300, "the descriptor limit is \(limit.soft); raise it with ulimit -n")
      let nginx = try await NginxServer.start(.holding)
      let wire = try Wire()
      let descriptors = ProcessFacts().openDescriptorCount
      let memory = ProcessFacts().residentBytes ?? 0
      let crowd = Crowd(count: count, transport: wire.transport)
      let request = Request(url: try HTTPURL(nginx.baseURL + "/held"), headers: ["X-A": "1", "X-B": "2"])
      let threads = ProcessFacts().threadCount
      wire.loop.post { crowd.start(request) }
      try await crowd.issued.wait(upTo: Patience.limit, for: "\(count) requests on the wire") { $0 == count }
      let resident = ProcessFacts().residentBytes ?? 0
      #expect(ProcessFacts().threadCount <= threads + 2)
      #expect(
        Sanitizer.isOn || resident - memory < 25_000 * count, "\(count) transfers took \((resident - memory) >> 20) MiB"
      )
      if isFull, !Sanitizer.isOn { #expect(resident < 300 << 20, "\(resident >> 20) MiB, \(memory >> 20) before") }
      wire.loop.post { crowd.cancel() }
      try await crowd.ended.wait(upTo: Patience.limit, for: "\(count) ends") { $0 == count }
      let left = ProcessFacts().openDescriptorCount - descriptors
      #expect(left <= 2, "\(left) descriptors are left")
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `HTTP/2 carries many transfers over few connections`()
    async throws
  {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.accessLogFormat = "$connection"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let probes = (0..<1000).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: try HTTPURL(nginx.secureBaseURL + "/json")), probe) }
    var reported = 0
    var wrong: [String] = []
    for probe in probes {
      let record = try await probe.waitForEnd()
      if record.error != nil || record.head?.version != .http2 || record.bodyText != #"{"name": "a", "count": 1}"# {
        wrong.append("\(record.error.map(String.init(describing:)) ?? "no error"): \(record.bodyText)")
      }
      if !record.timings.isConnectionReused { reported += 1 }
    }
    #expect(wrong.isEmpty, "\(wrong.count) of 1,000, the first: \(wrong.first ?? "")")
    try await nginx.stop()
    let connections = Set(nginx.accessLog).count
    #expect(connections <= 15, "\(connections) connections for 1,000 transfers")
    #expect(reported == connections)
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `HTTP/2 carries request bodies of every kind`()
    async throws
  {
    let certificates = try await TestCertificates.shared()
    let server = try LoopbackServer()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = "location = /up { proxy_pass \(server.baseURL)/; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let folder = try TemporaryDirectory()
    let path = try folder.write(String(repeating: "x", count: 300_000), to: "body")
    let left = Watched(300_000)
    let stream = BodyStream { maximum in
      let count = left.update { left in
        let count = min(left, maximum, 1500)
        left -= count
        return count
      }
      return count == 0 ? nil : [UInt8](repeating: 66, count: count)
    }
    let bodies: [Body] = [
      .empty, .text("short"), .bytes([UInt8](repeating: 65, count: 2_000_000)),
      .file(FileBody(path: path, byteCount: 300_000)), .stream(stream),
    ]
    for (number, body) in bodies.enumerated() {
      let request = Request(method: "POST", url: try HTTPURL(nginx.secureBaseURL + "/up"), body: body)
      let record = try await wire.send(request)
      #expect(record.error == nil)
      #expect(record.head?.version == .http2)
      #expect(record.head?.status == 200)
      #expect(server.requests.dropFirst(number).first?.body.count == body.byteCount ?? 300_000)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a response over HTTP/2 is complete although the server stops reading the request`() async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let wire = try Wire(settings)
    let body = Body.bytes([UInt8](repeating: 65, count: 2_000_000))
    for disposition in [BodyDisposition.collect, .stream, .discard] {
      let probe = Probe()
      probe.disposition = disposition
      let request = Request(method: "POST", url: try HTTPURL(nginx.secureBaseURL + "/post"), body: body)
      let record = try await wire.send(request, probe)
      #expect(record.error == nil)
      #expect(record.head?.status == 200)
    }
    #expect(try await wire.get(nginx.secureBaseURL + "/").error == nil)
  }

  @Test func `connections to one host stay within their limit`() async throws {
    let server = try LoopbackServer()
    server.hold()
    var settings = TransportSettings.patient
    settings.maximumConnectionsPerHost = 3
    let wire = try Wire(settings)
    let probes = (0..<10).map { _ in Probe() }
    for probe in probes { wire.start(Request(url: try HTTPURL(server.baseURL)), probe) }
    try await server.waitForHeld(3)
    await wire.onLoop {}
    #expect(probes.filter { !$0.record.value.issued.isEmpty }.count == 3)
    server.release()
    for probe in probes { #expect(try await probe.waitForEnd().error == nil) }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a configured client certificate is sent`() async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.extraDirectives = "location = /who { return 200 \"$ssl_client_verify\"; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls = TLSSettings(
      ca: certificates.authority, certificate: certificates.client.certificate, key: certificates.client.key)
    #expect(try await Wire(settings).get(nginx.secureBaseURL + "/who").head?.headers["Content-Length"] != "4")
    settings.httpVersion = .http11
    #expect(try await Wire(settings).get(nginx.secureBaseURL + "/").head?.version == .http11)
  }

  @Test func `the error for too few descriptors names the limit and what to do`() async throws {
    await #expect(processExitsWith: .success) {
      let server = try LoopbackServer()
      let wire = try Wire()
      // During this transfer, the underlying libraries open the descriptors that they keep. Its connection is not kept,
      // because the transport would close it to get a descriptor.
      let other = try ScriptedServer(
        .receiveHead, .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
      #expect(try await wire.get(other.baseURL).error == nil)
      try await other.waitForScripts()
      await wire.onLoop {}
      var limit = rlimit(rlim_cur: 0, rlim_max: 4096)
      let reserve = SluiceSupport.DescriptorLimit.reserve
      limit.rlim_cur = rlim_t(max(64, ProcessFacts().openDescriptorCount) + 3 + reserve)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      // Use all descriptors below the limit, except the reserve.
      while open("/dev/null", O_RDONLY) < Int(limit.rlim_cur) - reserve - 1 {}
      let record = try await wire.get(server.baseURL)
      #expect(record.code == .resources)
      #expect(record.error?.message.contains("ulimit -n") == true)
      let left = open("/dev/null", O_RDONLY)
      #expect(left >= 0)
    }
  }
}

extension NginxConfiguration {
  /// A configuration whose `/held` reads the request and never responds.
  static var holding: NginxConfiguration {
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = 0
    configuration.connections = 32_768
    // Nginx delays the response to a wrong password, to slow down guessing. Here the delay is longer than any test.
    configuration.extraDirectives =
      "location = /held { auth_delay 600s; auth_basic x; auth_basic_user_file /dev/null; }"
    return configuration
  }
}

/// Many transfers that share one small observer.
private final class Crowd: TransferObserver, @unchecked Sendable {
  // `@unchecked Sendable` is safe: other threads use only the counters, and only code on the loop touches the rest.
  let issued = Watched(0)
  let ended = Watched(0)
  private let count: Int
  private let transport: any Transport
  private var transfers: [any Transfer] = []

  init(count: Int, transport: any Transport) {
    self.count = count
    self.transport = transport
  }

  func start(_ request: Request) {
    for _ in 0..<count { transfers.append(transport.start(request, TransferOptions(), observer: self)) }
  }

  func cancel() {
    for transfer in transfers { transfer.cancel() }
    transfers = []
  }

  func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    issued.update { $0 += 1 }
    return true
  }

  func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {}
  func transferDidReceiveHead(_ head: Response) -> BodyDisposition { .collect }
  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress { .proceed }
  func transferDidEnd(_ end: TransferEnd) { ended.update { $0 += 1 } }
}
