import SluicePipeline
import SluiceSupport

/// The bytes that all instances of one plugin share. They outlive the plugin's generations.
///
/// A change or a read holds a lock only while it looks up the value. The bytes are copied outside of the lock.
final class SharedTable: Sendable {
  /// The limits for one plugin.
  static let maximumNameBytes = 256
  static let maximumValueBytes = 1 << 20
  static let maximumCount = 4096
  static let maximumBytes = 16 << 20

  struct Value: Sendable {
    let bytes: [UInt8]
    /// The version: never 0, and never used twice.
    let version: UInt64
    /// Nil for a value that does not expire.
    let expiry: Instant?

    fileprivate func isAlive(at now: Instant) -> Bool { expiry.map { now < $0 } ?? true }
  }

  enum Outcome: Sendable, Equatable {
    case done(version: UInt64)
    /// The value has another version. The version is 0 if the value does not exist.
    case differs(version: UInt64)
    case full
  }

  /// The condition for changing a value.
  enum Condition: Sendable {
    case none
    /// The value must have this version. The version 0 means that the value must not exist.
    case version(UInt64)
  }

  private struct State {
    var values: [[UInt8]: Value] = [:]
    var byteCount = 0
  }

  private let state = Locked(State())
  /// The source of versions. All tables of an engine share one counter, so that no two values have the same version.
  private let versions: Counter

  /// Returns each number once, from 1.
  final class Counter: Sendable {
    private let last = Locked<UInt64>(0)

    func next() -> UInt64 {
      last.withLock { last in
        last += 1
        return last
      }
    }
  }

  init(_ versions: Counter) { self.versions = versions }

  func get(_ name: [UInt8], at now: Instant) -> Value? {
    state.withLock { state in state.values[name].flatMap { $0.isAlive(at: now) ? $0 : nil } }
  }

  /// - Parameter expiry: nil for a value that does not expire.
  func set(
    _ name: [UInt8], _ bytes: [UInt8], until expiry: Instant?, if condition: Condition = .none, at now: Instant
  ) -> Outcome {
    state.withLock { state in
      let present = state.values[name]
      let version = present.flatMap { $0.isAlive(at: now) ? $0.version : nil } ?? 0
      if case .version(let expected) = condition, expected != version { return .differs(version: version) }
      let growth = bytes.count + name.count - (present.map { $0.bytes.count + name.count } ?? 0)
      guard Self.makeRoom(for: growth, isNew: present == nil, &state, at: now, besides: name) else { return .full }
      let value = Value(bytes: bytes, version: versions.next(), expiry: expiry)
      state.values[name] = value
      state.byteCount += growth
      return .done(version: value.version)
    }
  }

  /// - Parameter version: the version that the value must have, or 0 for any version. Returns false if there is no such
  ///   value.
  func remove(_ name: [UInt8], version: UInt64, at now: Instant) -> Bool {
    state.withLock { state in
      guard let present = state.values[name], version == 0 || present.version == version else { return false }
      state.values[name] = nil
      state.byteCount -= name.count + present.bytes.count
      return present.isAlive(at: now)
    }
  }

  /// Removes expired values if the new value needs their room. Returns false if there is still no room.
  private static func makeRoom(
    for growth: Int, isNew: Bool, _ state: inout State, at now: Instant, besides name: [UInt8]
  ) -> Bool {
    func fits() -> Bool {
      state.values.count + (isNew ? 1 : 0) <= maximumCount && state.byteCount + growth <= maximumBytes
    }
    if fits() { return true }
    for (other, value) in state.values where other != name && !value.isAlive(at: now) {
      state.values[other] = nil
      state.byteCount -= other.count + value.bytes.count
    }
    return fits()
  }
}
