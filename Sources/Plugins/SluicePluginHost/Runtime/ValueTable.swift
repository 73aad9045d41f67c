import SluiceSupport
import Synchronization

/// The numbers that the instances with one name store. They outlive the generations.
///
/// An existing key is found and changed without a lock; only the first value of a key takes a lock. Keys are never
/// removed.
///
///     levels:  64 places ─ 256 ─ 1024 ─ 4096 ─ 16384
///
/// A level is created when all levels before it are half full.
final class ValueTable: Sendable {
  static let maximumCount = 4096
  private static let firstSize = 64
  private static let levelCount = 5

  /// A key with its number.
  private final class Value: Sendable {
    let key: [UInt8]
    let number: Atomic<Int64>

    init(_ key: [UInt8], _ number: Int64) {
      self.key = key
      self.number = Atomic(number)
    }
  }

  private final class Place: Sendable {
    let value = AtomicLazyReference<Value>()
  }

  private final class Level: Sendable {
    let places: [Place]
    init(size: Int) { places = (0..<size).map { _ in Place() } }
  }

  private let levels: InlineArray<5, AtomicLazyReference<Level>>
  private let count = Locked(0)

  init() { levels = InlineArray { _ in AtomicLazyReference<Level>() } }

  /// Returns nil if the table is full.
  func add(_ key: UnsafeBufferPointer<UInt8>, _ amount: Int64) -> Int64? {
    let hash = Self.hash(key)
    if let value = find(key, hash) { return value.number.wrappingAdd(amount, ordering: .relaxed).newValue }
    return make(key, hash, amount) { $0.wrappingAdd(amount, ordering: .relaxed).newValue }
  }

  func get(_ key: UnsafeBufferPointer<UInt8>) -> Int64? {
    find(key, Self.hash(key))?.number.load(ordering: .relaxed)
  }

  enum Exchange: Sendable { case done, differs(Int64), full }

  /// A value that was never set counts as 0.
  func compareExchange(_ key: UnsafeBufferPointer<UInt8>, expected: Int64, desired: Int64) -> Exchange {
    let hash = Self.hash(key)
    if let value = find(key, hash) { return Self.exchange(value.number, expected, desired) }
    guard expected == 0 else { return .differs(0) }
    var answer = Exchange.done
    let isThere = make(key, hash, desired) { number in
      answer = Self.exchange(number, expected, desired)
      return 0
    }
    return isThere == nil ? .full : answer
  }

  private static func exchange(_ number: borrowing Atomic<Int64>, _ expected: Int64, _ desired: Int64) -> Exchange {
    let (exchanged, original) = number.compareExchange(
      expected: expected, desired: desired, ordering: .acquiringAndReleasing)
    return exchanged ? .done : .differs(original)
  }

  private static func hash(_ key: UnsafeBufferPointer<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(key))
    return hasher.finalize()
  }

  private func find(_ key: UnsafeBufferPointer<UInt8>, _ hash: Int) -> Value? {
    for index in 0..<Self.levelCount {
      guard let places = levels[index].load()?.places else { return nil }
      var place = hash & (places.count - 1)
      // A level is never more than half full.
      while let value = places[place].value.load() {
        if value.key.elementsEqual(key) { return value }
        place = (place + 1) & (places.count - 1)
      }
    }
    return nil
  }

  /// Adds a key, or changes its number if another thread has added the key in the meantime. Returns nil if there is no
  /// room.
  private func make(
    _ key: UnsafeBufferPointer<UInt8>, _ hash: Int, _ first: Int64, orChange change: (borrowing Atomic<Int64>) -> Int64
  ) -> Int64? {
    count.withLock { count in
      if let value = find(key, hash) { return change(value.number) }
      guard count < Self.maximumCount else { return nil }
      let places = level(for: count).places
      var place = hash & (places.count - 1)
      while places[place].value.load() != nil { place = (place + 1) & (places.count - 1) }
      _ = places[place].value.storeIfNil(Value(Array(key), first))
      count += 1
      return first
    }
  }

  /// The level that gets the next key when the table has `count` keys.
  private func level(for count: Int) -> Level {
    var (index, size, room) = (0, Self.firstSize, Self.firstSize / 2)
    while count >= room {
      index += 1
      size *= 4
      room += size / 2
    }
    return levels[index].load() ?? levels[index].storeIfNil(Level(size: size))
  }
}
