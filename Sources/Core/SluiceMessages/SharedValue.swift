/// Stores a value behind one reference and copies it on write. It is meant for values that are passed on often, but
/// seldom read or changed.
package struct SharedValue<Value: Sendable & Hashable>: Sendable, Hashable {
  /// `@unchecked Sendable`: a value changes this storage only while it holds the only reference to it.
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

extension SharedValue<HeaderFields>? {
  /// The fields; an empty list is kept as nil.
  var fields: HeaderFields {
    get { self?.value ?? HeaderFields() }
    set { self = newValue.isEmpty ? nil : SharedValue(newValue) }
    _modify {
      // Takes the fields out of the storage, so that a change in place does not copy them.
      var fields = take()?.value ?? HeaderFields()
      defer { if !fields.isEmpty { self = SharedValue(fields) } }
      yield &fields
    }
  }
}
