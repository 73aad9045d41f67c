/// Work that the loop's own thread has queued for itself, first in first out.
struct LocalWork {
  private var incoming: [LoopWork] = []
  private var running: [LoopWork] = []

  var isEmpty: Bool { incoming.isEmpty }

  mutating func append(_ work: LoopWork) { incoming.append(work) }

  /// Takes the work that is queued now. Pass the array to ``recycle(_:)`` afterwards so that its memory is reused.
  mutating func takeAll() -> [LoopWork] {
    swap(&incoming, &running)
    defer { running = [] }
    return running
  }

  /// - Parameter room: the array from ``takeAll()``, emptied by the caller.
  mutating func recycle(_ room: consuming [LoopWork]) { running = room }

  /// An array with more capacity than this is not kept.
  static let keptCapacity = 4096
}
