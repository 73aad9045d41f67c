import SluiceTestKit

/// `openssl s_server` on a port of 127.0.0.1: a TLS server that sends exactly the given bytes, to simulate what a
/// correct server would never do.
///
/// It serves one connection at a time.
package final class TLSServer: Sendable {
  package let port: UInt16
  /// `https://localhost:port`, without a slash at the end.
  package var baseURL: String { "https://localhost:\(port)" }
  private let process: RunningCommand

  private init(port: UInt16, process: RunningCommand) {
    self.port = port
    self.process = process
  }

  /// - Parameter options: options of `openssl s_server`, for instance `["-alpn", "h2"]`.
  package static func start(_ identity: TestCertificates.Identity, _ options: [String] = []) async throws -> TLSServer {
    let arguments = ["s_server", "-accept", "127.0.0.1:0", "-cert", identity.certificate, "-key", identity.key]
    let process = try Command("openssl", arguments + options).start()
    try await process.waitForOutput("the port of openssl s_server") { port(in: $0) != nil }
    guard let port = port(in: Array(process.outputSoFar.utf8)) else { throw TestKitError("no port") }
    return TLSServer(port: port, process: process)
  }

  /// Suspends until a client has sent this text over TLS.
  package func waitForInput(containing text: String) async throws {
    try await process.waitForOutput(containing: text)
  }

  /// Sends bytes to the client that is connected. At the beginning of a line s_server treats the letters Q, q, r, R, P,
  /// S, B, k, K and c as commands.
  package func send(_ bytes: [UInt8]) throws { try process.write(bytes) }

  /// Ends the connection without TLS's closing message, and then ends the server.
  package func close() throws { try process.write("Q\n") }

  private static func port(in output: [UInt8]) -> UInt16? {
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    let place = lines.first { $0.hasPrefix("ACCEPT ") }
    return place?.split(separator: ":").last.flatMap { UInt16($0) }
  }
}
