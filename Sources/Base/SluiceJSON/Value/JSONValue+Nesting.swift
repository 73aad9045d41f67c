import CJansson

extension JSONValue {
  /// How deep arrays and objects may nest. jansson's parser accepts the same depth in a text. Its other functions
  /// recurse without a limit: at this depth, writing takes 630 KB of stack. So the depth of a value from C code is
  /// measured first.
  package static let depthLimit = 2048

  /// How often arrays and objects may occur again in one value. If a value contains an array twice, and this array
  /// contains another array twice, and so on, a few arrays make a text of exponential size.
  package static let repetitionLimit = 1 << 18

  /// Throws when the value cannot be written as JSON, or when writing it would be unsafe: it is nested deeper than
  /// `depth` levels, contains itself, repeats more than ``repetitionLimit`` values, or holds a number that is not
  /// finite. Does not recurse.
  package func checkNesting(depth: Int = JSONValue.depthLimit) throws(JSONError) {
    try withUnsafeJSON { json throws(JSONError) in
      var walk = JSONWalk(json)
      while try walk.nextChecked(depth: depth) != nil {}
    }
  }
}

extension JSONError {
  static var circular: JSONError {
    JSONError(.circular, "a JSON value that contains itself cannot be copied or written")
  }

  static var tooDeep: JSONError { JSONError(.tooDeep, "nested deeper than \(JSONValue.depthLimit) levels") }

  static var tooRepetitive: JSONError {
    JSONError(
      .tooLarge, "the same arrays and objects occur more than \(JSONValue.repetitionLimit) times in the value")
  }
}

/// Visits everything in a value, from the outside in, without recursion.
struct JSONWalk {
  private struct Level {
    let container: UnsafeMutablePointer<json_t>
    var index = 0
    /// The member of an object that was returned last.
    var member: UnsafeMutableRawPointer?
    /// The members of an object in the order of their keys; nil if they have their own order.
    var sorted: [UnsafeMutableRawPointer]?

    init(_ container: UnsafeMutablePointer<json_t>, isSorted: Bool) {
      self.container = container
      if isSorted, container.pointee.type == JSON_OBJECT { sorted = Self.sortedMembers(of: container) }
    }

    mutating func next() -> UnsafeMutablePointer<json_t>? {
      defer { index += 1 }
      if container.pointee.type == JSON_ARRAY { return json_array_get(container, index) }
      if let sorted {
        member = index < sorted.count ? sorted[index] : nil
      } else {
        member = index == 0 ? json_object_iter(container) : json_object_iter_next(container, member)
      }
      return member.map { json_object_iter_value($0) } ?? nil
    }

    /// The key of an object's member.
    static func key(_ member: UnsafeMutableRawPointer) -> UnsafeBufferPointer<UInt8> {
      let count = json_object_iter_key_len(member)
      return UnsafeBufferPointer(
        start: json_object_iter_key(member).map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) },
        count: count)
    }

    private static func sortedMembers(of object: UnsafeMutablePointer<json_t>) -> [UnsafeMutableRawPointer] {
      var members: [UnsafeMutableRawPointer] = []
      members.reserveCapacity(json_object_size(object))
      var next = json_object_iter(object)
      while let member = next {
        members.append(member)
        next = json_object_iter_next(object, member)
      }
      return members.sorted { key($0).lexicographicallyPrecedes(key($1)) }
    }
  }

  private var first: UnsafeMutablePointer<json_t>?
  private let isSorted: Bool
  private var levels: [Level] = []
  /// How often a container has occurred again so far.
  private(set) var repetitions = 0
  private var seen: Set<UnsafeMutablePointer<json_t>> = []
  /// The key of the value that was returned last, valid until its object changes; nil if the value is not a member of an
  /// object.
  private(set) var key: UnsafeBufferPointer<UInt8>?

  /// - Parameter isSorted: whether the members of objects are visited in the order of their keys.
  init(_ json: UnsafeMutablePointer<json_t>, isSorted: Bool = false) {
    first = json
    self.isSorted = isSorted
  }

  /// How many containers are open, including the container that was returned last.
  var depth: Int { levels.count }

  /// Whether a container is open twice, which means that it contains itself.
  var isCircular: Bool { Set(levels.map(\.container)).count < levels.count }

  /// The next value, after the checks of ``JSONValue/checkNesting(depth:)``; nil at the end.
  mutating func nextChecked(depth limit: Int) throws(JSONError) -> UnsafeMutablePointer<json_t>? {
    guard let json = next() else { return nil }
    if json.pointee.type == JSON_REAL, !json_real_value(json).isFinite {
      throw JSONError(.notFinite, "a number that is not finite cannot be written as JSON")
    }
    if depth > limit { throw isCircular ? .circular : .tooDeep }
    if repetitions > JSONValue.repetitionLimit { throw .tooRepetitive }
    return json
  }

  /// The next value; the first call returns the value itself.
  mutating func next() -> UnsafeMutablePointer<json_t>? {
    if let first {
      self.first = nil
      if first.isContainer { levels.append(Level(first, isSorted: isSorted)) }
      return first
    }
    while let innermost = levels.indices.last {
      if let child = levels[innermost].next() {
        key = levels[innermost].member.map(Level.key)
        return enter(child)
      }
      levels.removeLast()
    }
    return nil
  }

  private mutating func enter(_ json: UnsafeMutablePointer<json_t>) -> UnsafeMutablePointer<json_t> {
    guard json.isContainer else { return json }
    // Only containers with more than one reference can occur again.
    if sluice_json_references(json) > 1, !seen.insert(json).inserted { repetitions += 1 }
    levels.append(Level(json, isSorted: isSorted))
    return json
  }
}

extension UnsafeMutablePointer<json_t> {
  var isContainer: Bool { pointee.type == JSON_OBJECT || pointee.type == JSON_ARRAY }
}
