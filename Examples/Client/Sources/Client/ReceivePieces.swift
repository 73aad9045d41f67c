import Sluice
import Synchronization

/// Counts the bytes of a body that is never in memory as a whole.
///
/// A loop of the engine first calls the sink for every piece, and then the completion. So the count is complete when it
/// is read.
final class ByteCounter: BodySink {
  private let count = Atomic<Int>(0)

  var total: Int { count.load(ordering: .relaxed) }

  // The body of another attempt is counted from the beginning.
  func begin(_ head: Response) { count.store(0, ordering: .relaxed) }

  func receive(_ piece: [UInt8]) -> BodyProgress {
    count.add(piece.count, ordering: .relaxed)
    return total > 1 << 30 ? .stop : .proceed
  }
}

func receivePieces(_ url: HTTPURL) async throws {
  let engine = try Engine(Configuration())
  let counter = ByteCounter()
  let result = await withCheckedContinuation { continuation in
    engine.submit(Request(url: url), sink: counter) { continuation.resume(returning: $0) }
  }
  print("receivePieces: \(result.response?.status ?? 0), \(counter.total) bytes")
  await engine.shutdown()
}
