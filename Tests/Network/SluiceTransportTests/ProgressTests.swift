import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import Testing

/// What a transport reports about the bodies that it sends and receives.
@Suite struct ProgressTests {
  private static let byteCount = 300_000

  enum Upload: CaseIterable, Sendable {
    case bytes, file, stream, announcedStream

    var body: Body {
      get throws {
        let bytes = [UInt8](repeating: 65, count: byteCount)
        let pieces = stride(from: 0, to: byteCount, by: 10_000).map { Array(bytes[$0..<$0 + 10_000]) }
        return switch self {
        case .bytes: .bytes(bytes)
        case .file: .empty
        case .stream: .stream(PieceStream.make(pieces))
        case .announcedStream: .stream(PieceStream.make(pieces, announcing: byteCount))
        }
      }
    }
  }

  private var options: TransferOptions {
    var options = TransferOptions()
    options.tellsProgress = true
    return options
  }

  private func expect(
    _ told: [TransferProgress], total: Int?, byteCount: Int = byteCount,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(told.last?.bytes == byteCount, sourceLocation: sourceLocation)
    #expect(told.allSatisfy { $0.total == total }, sourceLocation: sourceLocation)
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.bytes < $1.bytes }, sourceLocation: sourceLocation)
  }

  private func upload(_ kind: Upload, to url: String, _ wire: Wire) async throws -> Probe.Record {
    let folder = try TemporaryDirectory()
    var request = Request(method: "POST", url: try HTTPURL(url), body: try kind.body)
    if kind == .file {
      let path = try folder.write(String(repeating: "A", count: Self.byteCount), to: "body")
      request.body = .file(FileBody(path: path, byteCount: Self.byteCount))
    }
    return try await wire.send(request, options: options)
  }

  @Test(arguments: Upload.allCases)
  func `an upload reports the bytes that were sent, up to the whole body`(_ kind: Upload) async throws {
    let server = try LoopbackServer()
    let record = try await upload(kind, to: server.baseURL, try Wire())
    #expect(record.error == nil && server.requests.first?.body.count == Self.byteCount)
    expect(record.sent, total: kind == .stream ? nil : Self.byteCount)
  }

  @Test(.enabled(if: NginxServer.isAvailable), arguments: Upload.allCases)
  func `an upload over HTTP 2 reports the bytes that were sent, too`(_ kind: Upload) async throws {
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    // Nginx reads the whole body before it connects to its upstream. The connection fails: nothing listens there.
    configuration.extraDirectives = "location = /take { proxy_pass http://127.0.0.1:1/; }"
    let nginx = try await NginxServer.start(configuration, certificates: certificates)
    var settings = TransportSettings.patient
    settings.tls.ca = certificates.authority
    let record = try await upload(kind, to: nginx.secureBaseURL + "/take", try Wire(settings))
    #expect(record.error == nil && record.head?.version == .http2 && record.head?.status == 502)
    expect(record.sent, total: kind == .stream ? nil : Self.byteCount)
  }

  @Test(arguments: [BodyDisposition.collect, .stream], [true, false])
  func `a download reports the bytes that have arrived, and the total if the head has it`(
    _ disposition: BodyDisposition, isChunked: Bool
  ) async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(body: .generated(BytePattern([65]), byteCount: UInt64(Self.byteCount), chunked: isChunked))
    }
    let probe = Probe()
    probe.disposition = disposition
    let record = try await Wire().send(Request(url: try HTTPURL(server.baseURL)), options: options, probe)
    #expect(record.error == nil)
    expect(record.received, total: isChunked ? nil : Self.byteCount)
    #expect(record.sent.isEmpty)
  }

  @Test func `a download of a coded body reports the bytes on the wire`() async throws {
    let coded = EncodedBody.bytes(.gzip, Array(repeating: 65, count: Self.byteCount))
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("Content-Encoding", "gzip")], body: .bytes(coded))
    }
    let record = try await Wire().send(Request(url: try HTTPURL(server.baseURL)), options: options)
    #expect(record.error == nil && record.ends.first?.body.byteCount == Self.byteCount)
    expect(record.received, total: coded.count, byteCount: coded.count)
  }

  @Test func `no progress is reported if the observer does not want it, or for a discarded body`() async throws {
    let server = try LoopbackServer()
    let wire = try Wire()
    let request = Request(method: "POST", url: try HTTPURL(server.baseURL), body: .bytes([1, 2, 3]))
    let plain = try await wire.send(request)
    #expect(plain.error == nil && plain.sent.isEmpty && plain.received.isEmpty)
    let probe = Probe()
    probe.disposition = .discard
    let dropped = try await wire.send(request, options: options, probe)
    #expect(dropped.error == nil && dropped.received.isEmpty)
    #expect(dropped.sent == [TransferProgress(bytes: 3, total: 3)])
  }
}
