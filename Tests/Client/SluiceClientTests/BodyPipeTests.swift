import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceClient
import Sluice

@Suite struct BodyPipeTests {
  private static func pipe() -> BodyPipe { BodyPipe(Cancellation()) { $0.error } }

  @Test func `the pipe pauses at 1 MiB and continues at 256 KiB`() async throws {
    let pipe = Self.pipe()
    let piece = [UInt8](repeating: 1, count: 64 << 10)
    var count = 0
    repeat { count += 1 } while pipe.receive(piece) == .proceed
    #expect(count == 16)
    // The pipe accepts a piece that was already on its way, and stays paused.
    #expect(pipe.receive(piece) == .pause)
    for _ in 0..<13 { _ = try await pipe.nextChunk() }
    #expect(pipe.receive(piece) == .pause)
    for _ in 0..<2 { _ = try await pipe.nextChunk() }
    #expect(pipe.receive(piece) == .proceed)
  }

  @Test func `many small pieces also fill the pipe, because each piece has a cost besides its bytes`() {
    let pipe = Self.pipe()
    var count = 0
    repeat { count += 1 } while pipe.receive([1]) == .proceed
    #expect(count < 20_000)
  }

  @Test func `a cancelled pipe accepts no piece and delivers none`() async throws {
    let pipe = Self.pipe()
    _ = pipe.receive([1])
    pipe.cancel()
    #expect(pipe.receive([2]) == .stop)
    let error = await #expect(throws: TransactionError.self) { try await pipe.nextChunk() }
    #expect(error?.code == .cancelled)
    await #expect(throws: TransactionError.self) { try await pipe.head() }
  }
}
