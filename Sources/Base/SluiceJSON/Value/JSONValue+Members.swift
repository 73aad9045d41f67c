import CJansson

extension JSONValue {
  /// A member of an object. Setting nil removes it; setting on anything but an object does nothing.
  ///
  /// A new member goes to the end, a changed one keeps its place.
  public subscript(key: String) -> JSONValue? {
    get {
      withKey(key) { json_object_getn(json, $0, $1) }.map { JSONValue(retaining: $0) }
    }
    set {
      if let newValue {
        set(newValue, forKey: key)
      } else {
        removeMember(key)
      }
    }
  }

  /// Sets a member; false if this is not an object, or if it would directly contain itself.
  @discardableResult
  public func set(_ value: JSONValue, forKey key: String) -> Bool {
    // Keeps the replaced container until after the call, because jansson would release nested values by recursion.
    let replaced = container(forKey: key)
    defer { withExtendedLifetime(replaced) {} }
    // The call takes over the reference even when it fails.
    return withKey(key) { json_object_setn_new_nocheck(json, $0, $1, value.retainedUnsafeJSON()) == 0 }
  }

  /// Removes a member; false if it did not exist.
  @discardableResult
  public func removeMember(_ key: String) -> Bool {
    let removed = container(forKey: key)
    defer { withExtendedLifetime(removed) {} }
    return withKey(key) { json_object_deln(json, $0, $1) == 0 }
  }

  /// The members of an object in the order in which they were added; empty for everything else.
  ///
  /// No member may be added to the object or removed from it while the sequence is iterated.
  public var members: Members { Members(of: self) }

  private func container(forKey key: String) -> JSONValue? {
    let member = withKey(key) { json_object_getn(json, $0, $1) }
    return member.flatMap { $0.isContainer ? JSONValue(retaining: $0) : nil }
  }

  private func withKey<Result>(_ key: String, _ body: (UnsafePointer<CChar>, Int) -> Result) -> Result {
    key.withCString { body($0, key.utf8.count) }
  }

  /// The members of an object, for one walk. It keeps the object alive.
  public struct Members: Sequence, IteratorProtocol {
    private let object: JSONValue
    private var position: UnsafeMutableRawPointer?

    init(of object: JSONValue) {
      self.object = object
      position = json_object_iter(object.json)
    }

    /// Returns the next key and its value, which is not copied; nil after the last member.
    public mutating func next() -> (key: String, value: JSONValue)? {
      guard let position, let key = json_object_iter_key(position), let value = json_object_iter_value(position)
      else { return nil }
      let bytes = UnsafeRawBufferPointer(start: key, count: json_object_iter_key_len(position))
      self.position = json_object_iter_next(object.json, position)
      return (String(decoding: bytes, as: UTF8.self), JSONValue(retaining: value))
    }
  }
}

extension JSONValue {
  /// An element of an array, or nil if the index is out of range.
  public subscript(index: Int) -> JSONValue? {
    guard index >= 0 else { return nil }
    return json_array_get(json, index).map { JSONValue(retaining: $0) }
  }

  /// Adds an element; false if this is not an array, or if it would directly contain itself.
  @discardableResult
  public func append(_ value: JSONValue) -> Bool {
    json_array_append_new(json, value.retainedUnsafeJSON()) == 0
  }

  /// The elements of an array; empty for everything else.
  public var elements: Elements { Elements(array: self) }

  /// The elements of an array, for one walk. It keeps the array alive; it also visits elements that are added during
  /// the walk.
  public struct Elements: Sequence, IteratorProtocol {
    fileprivate let array: JSONValue
    private var index = 0

    fileprivate init(array: JSONValue) {
      self.array = array
    }

    /// Returns the next element, which is not copied; nil after the last.
    public mutating func next() -> JSONValue? {
      defer { index += 1 }
      return array.isArray ? array[index] : nil
    }
  }
}
