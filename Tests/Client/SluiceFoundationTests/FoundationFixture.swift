import FoundationNetworking
import SluiceAssembly
import SluiceClient
import Sluice
import SluiceFoundation
import SluicePipeline
import SluiceServer
import SluiceTestKit

/// Runs the body with a client, and ends the client afterwards.
func withClient<Result>(
  delegate: (any TransactionDelegate)? = nil, _ change: (inout Configuration) -> Void = { _ in },
  _ body: (Client) async throws -> Result
) async throws -> Result {
  var configuration = Configuration()
  configuration.transport.loops = 1
  change(&configuration)
  let client = try Client(configuration, delegate: delegate)
  return try await withCleanup {
    await client.shutdown(drain: .zero)
  } _: {
    try await body(client)
  }
}

/// Returns the URL of a text. Throws if the text is not a URL.
func url(_ text: String) throws -> URL {
  guard let url = URL(string: text) else { throw URLError(.badURL) }
  return url
}

/// Returns the error that the body throws, or nil if it throws none.
func failure(_ body: () async throws(URLError) -> Void) async -> URLError? {
  do throws(URLError) { try await body() } catch { return error }
  return nil
}

extension URLError {
  /// The code of the engine's error that underlies this error, or nil if there is none.
  var engineCode: String? {
    switch errorUserInfo[NSUnderlyingErrorKey] {
    case let error as TransactionError: error.code.rawValue
    case let failure as DownloadFailure: failure.error.code.rawValue
    default: nil
    }
  }
}

/// A repeated pattern of bytes: a test that compares with it detects missing and reordered bytes.
let pattern = BytePattern(Array("0123456789abc\n".utf8))
