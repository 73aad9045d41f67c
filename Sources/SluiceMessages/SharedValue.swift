/// A value behind one reference, copied on write: for what goes through many hands, and is seldom looked at or changed.
package struct SharedValue<Value: Sendable & Hashable>: Sendable, Hashable {
  /// Unchecked, since nobody changes it but the one value that refers to it.
  private final class Storage: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  package init(_ value: Value) { storage = Storage(value) }

  package var value: Value {
    _read { yield storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.storage === right.storage || left.value == right.value
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
