import Synchronization

/// A queue of byte records from one writing thread to one reading thread. It has fixed memory and no locks.
///
///     │ free │ size│record │ size│record │ 0 │ unused up to the end
///            ▲ released                    ▲ written, modulo the capacity
///
/// A record is contiguous and does not move until it is released, so it can contain addresses of its own memory.
///
/// `@unchecked Sendable`: the memory from `released` to `written` belongs to the reader, and the remaining memory to
/// the writer.
final class EventRing: @unchecked Sendable {
  private static let alignment = 16

  let capacityBytes: Int
  private let memory: UnsafeMutableRawPointer
  /// The numbers of bytes that were written and released since the ring was created. Modulo the capacity, they are the
  /// positions in the memory.
  private let written = Atomic<Int>(0)
  private let released = Atomic<Int>(0)

  /// - Parameter capacityBytes: a power of two, and at least four times the largest record; otherwise that record might
  ///   never fit.
  init(capacityBytes: Int) {
    self.capacityBytes = capacityBytes
    memory = .allocate(byteCount: capacityBytes, alignment: Self.alignment)
  }

  deinit { memory.deallocate() }

  /// Whether at least half of the ring is free.
  var isHalfFree: Bool {
    written.load(ordering: .relaxed) - released.load(ordering: .sequentiallyConsistent) <= capacityBytes / 2
  }

  var isEmpty: Bool { written.load(ordering: .sequentiallyConsistent) == released.load(ordering: .relaxed) }

  /// Lets `body` fill a record in, and passes it to the reader. Returns false if there is no room. [writer]
  func write(byteCount: Int, _ fill: (UnsafeMutableRawPointer) -> Void) -> Bool {
    let size = Self.alignment + (byteCount + Self.alignment - 1) & ~(Self.alignment - 1)
    let position = written.load(ordering: .relaxed)
    let rest = capacityBytes - offset(position)
    let unused = rest < size ? rest : 0
    guard position + unused + size - released.load(ordering: .acquiring) <= capacityBytes else { return false }
    if unused > 0 { memory.storeBytes(of: 0, toByteOffset: offset(position), as: Int.self) }
    let start = offset(position + unused)
    memory.storeBytes(of: size, toByteOffset: start, as: Int.self)
    fill(memory + start + Self.alignment)
    // This store and the reader's announcement that it sleeps are sequentially consistent, so at least one of the two
    // threads sees the other's write.
    written.store(position + unused + size, ordering: .sequentiallyConsistent)
    return true
  }

  /// Passes the next record to the body, and then releases it. Returns false if the ring is empty. [reader]
  func read(_ body: (UnsafeMutableRawPointer) -> Void) -> Bool {
    var position = released.load(ordering: .relaxed)
    guard written.load(ordering: .sequentiallyConsistent) != position else { return false }
    var size = memory.load(fromByteOffset: offset(position), as: Int.self)
    if size == 0 {
      position += capacityBytes - offset(position)
      size = memory.load(fromByteOffset: 0, as: Int.self)
    }
    body(memory + offset(position) + Self.alignment)
    released.store(position + size, ordering: .sequentiallyConsistent)
    return true
  }

  private func offset(_ position: Int) -> Int { position & (capacityBytes - 1) }
}
