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
      while let child = walk.next() {
        if child.pointee.type == JSON_REAL, !json_real_value(child).isFinite {
          throw JSONError(.notFinite, "a number that is not finite cannot be written as JSON")
        }
        if walk.depth > depth { throw walk.isCircular ? .circular : .tooDeep }
        if walk.repetitions > JSONValue.repetitionLimit { throw .tooRepetitive }
      }
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
    var position: UnsafeMutableRawPointer?

    init(_ container: UnsafeMutablePointer<json_t>) {
      self.container = container
      position = json_object_iter(container)
    }

    mutating func next() -> UnsafeMutablePointer<json_t>? {
      if container.pointee.type == JSON_ARRAY {
        defer { index += 1 }
        return json_array_get(container, index)
      }
      guard let position else { return nil }
      self.position = json_object_iter_next(container, position)
      return json_object_iter_value(position)
    }
  }

  private var first: UnsafeMutablePointer<json_t>?
  private var levels: [Level] = []
  /// How often a container has occurred again so far.
  private(set) var repetitions = 0
  private var seen: Set<UnsafeMutablePointer<json_t>> = []

  init(_ json: UnsafeMutablePointer<json_t>) { first = json }

  /// How many containers are open, including the container that was returned last.
  var depth: Int { levels.count }

  /// Whether a container is open twice, which means that it contains itself.
  var isCircular: Bool { Set(levels.map(\.container)).count < levels.count }

  /// The next value; the first call returns the value itself.
  mutating func next() -> UnsafeMutablePointer<json_t>? {
    if let first {
      self.first = nil
      if first.isContainer { levels.append(Level(first)) }
      return first
    }
    while let innermost = levels.indices.last {
      if let child = levels[innermost].next() { return enter(child) }
      levels.removeLast()
    }
    return nil
  }

  private mutating func enter(_ json: UnsafeMutablePointer<json_t>) -> UnsafeMutablePointer<json_t> {
    guard json.isContainer else { return json }
    // Only containers with more than one reference can occur again.
    if sluice_json_references(json) > 1, !seen.insert(json).inserted { repetitions += 1 }
    levels.append(Level(json))
    return json
  }
}

extension UnsafeMutablePointer<json_t> {
  var isContainer: Bool { pointee.type == JSON_OBJECT || pointee.type == JSON_ARRAY }
}
