/// What the loop's own thread has queued for itself, first in first out.
struct LocalWork {
  private var incoming: [LoopWork] = []
  private var running: [LoopWork] = []

  var isEmpty: Bool { incoming.isEmpty }

  mutating func append(_ work: LoopWork) { incoming.append(work) }

  /// Takes what is queued now; give the array back with ``recycle(_:)`` so that its room is used again.
  mutating func takeAll() -> [LoopWork] {
    swap(&incoming, &running)
    defer { running = [] }
    return running
  }

  /// - Parameter room: what ``takeAll()`` gave, emptied by its owner.
  mutating func recycle(_ room: consuming [LoopWork]) { running = room }

  /// A longer array is not kept.
  static let keptCapacity = 4096
}
