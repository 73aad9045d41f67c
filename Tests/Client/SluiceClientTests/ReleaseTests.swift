import SluiceAssembly
import SluiceClient
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A call retains objects only until it ends.
@Suite struct ReleaseTests {
  enum Call: CaseIterable { case data, bytes, download, upload }

  /// Sets a signal when it is released.
  private final class Witness: Sendable {
    let isGone = Signal()

    deinit { isGone.set() }
  }

  @Test(arguments: Call.allCases) func `after a call, its engine is released even if its handle is kept`(
    call: Call
  ) async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    let handle = Cancellation()
    let isGone = try await Self.make(call, server, handle)
    try await isGone.wait(for: "the engine to be released")
    withExtendedLifetime(handle) {}
  }

  @Test func `a sequence that retains the handle of its own upload is released`() async throws {
    let server = try LoopbackServer { _ in .text("ok") }
    defer { server.stop() }
    try await withClient { client in
      let isGone = try await Self.upload(client, server)
      try await isGone.wait(for: "the sequence to be released")
    }
  }

  /// Makes a call with its own engine. A stage of this engine retains a witness.
  private static func make(_ call: Call, _ server: LoopbackServer, _ handle: Cancellation) async throws -> Signal {
    let witness = Witness()
    let place = try DownloadFolder()
    try await withClient {
      $0.addStage("witness", StageCode(response: { _, _ in withExtendedLifetime(witness) {} }))
    } _: { client in
      let url = try server.url()
      switch call {
      case .data: _ = try await client.data(from: url, cancellation: handle)
      case .bytes: for try await _ in try await client.bytes(from: url, cancellation: handle).bytes {}
      case .download: _ = try await client.download(from: url, to: place.target, cancellation: handle)
      case .upload:
        let request = Request(method: "POST", url: url)
        _ = try await client.upload(for: request, from: Pieces(pieces: [[1], [2]]), cancellation: handle)
      }
    }
    return witness.isGone
  }

  private static func upload(_ client: Client, _ server: LoopbackServer) async throws -> Signal {
    let (handle, witness) = (Cancellation(), Witness())
    let pieces = Pieces(pieces: [[1], [2]])
      .map { piece in
        withExtendedLifetime((handle, witness)) { piece }
      }
    let request = Request(method: "POST", url: try server.url())
    _ = try await client.upload(for: request, from: pieces, cancellation: handle)
    return witness.isGone
  }
}
