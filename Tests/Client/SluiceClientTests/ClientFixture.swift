import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// Runs the body with a client, and ends the client afterwards.
func withClient<Result>(
  acceptsEveryStatus: Bool = true, delegate: (any TransactionDelegate)? = nil,
  _ change: (inout Configuration) -> Void = { _ in },
  _ body: (Client) async throws -> Result
) async throws -> Result {
  var configuration = Configuration()
  configuration.transport.loops = 1
  change(&configuration)
  let client = try Client(configuration, delegate: delegate, acceptsEveryStatus: acceptsEveryStatus)
  return try await withCleanup {
    await client.shutdown(drain: .zero)
  } _: {
    try await body(client)
  }
}

/// Runs the body with nginx over TLS, and with a client that trusts the authority of the tests.
func withSecureServer(
  _ configuration: NginxConfiguration, delegate: (any TransactionDelegate)? = nil,
  _ change: (inout Configuration) -> Void = { _ in }, _ body: (Client, HTTPURL) async throws -> Void
) async throws {
  let certificates = try await TestCertificates.shared()
  let nginx = try await NginxServer.start(configuration, certificates: certificates)
  try await withClient(delegate: delegate) {
    $0.transport.tls.ca = certificates.authority
    $0.maximumAttempts = 1
    change(&$0)
  } _: { client in
    try await body(client, HTTPURL(nginx.secureBaseURL + "/"))
  }
}

/// Returns the error that the body throws, or nil if it throws none.
func failure(_ body: () async throws(TransactionError) -> Void) async -> TransactionError? {
  do throws(TransactionError) { try await body() } catch { return error }
  return nil
}

/// A sequence that yields these pieces, and then ends or throws.
struct Pieces: AsyncSequence, Sendable {
  var pieces: [[UInt8]]
  var error: (any Error)?

  struct AsyncIterator: AsyncIteratorProtocol {
    var rest: ArraySlice<[UInt8]>
    let error: (any Error)?

    mutating func next() async throws -> [UInt8]? {
      await Task.yield()
      if let first = rest.popFirst() { return first }
      if let error { throw error }
      return nil
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...], error: error) }
}

extension LoopbackServer {
  func url(_ path: String = "/") throws -> HTTPURL { try HTTPURL(baseURL + path) }
}

extension ScriptedServer {
  func url(_ path: String = "/") throws -> HTTPURL { try HTTPURL(baseURL + path) }
}

/// A repeated pattern of bytes: a test that compares with it detects missing and reordered bytes.
let pattern = BytePattern(Array("0123456789abc\n".utf8))
