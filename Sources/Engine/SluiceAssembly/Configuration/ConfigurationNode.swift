import SluiceJSON
import SluiceMessages

/// A value of a configuration and its place; each accessor checks the value, and says what it expected.
struct ConfigurationNode {
  let value: JSONValue
  let pointer: JSONPointer
  let source: ConfigurationSource

  var location: ConfigurationLocation { source.location(pointer) }

  func error(_ reason: String, advice: String? = nil) -> ConfigurationError {
    ConfigurationError(location, reason, advice: advice)
  }

  func mismatch(_ expected: String) -> ConfigurationError {
    error("expected \(expected), found \(Self.article(value.kind))")
  }

  private static func article(_ kind: JSONValue.Kind) -> String {
    switch kind {
    case .object: "an object"
    case .array: "a list"
    case .null: "null"
    default: "\("aeiou".contains(kind.rawValue.first ?? "x") ? "an" : "a") \(kind.rawValue)"
    }
  }

  // MARK: Objects and lists

  /// The member of that name; nil if it is absent or null.
  subscript(key: String) -> ConfigurationNode? {
    guard let member = value[key], !member.isNull else { return nil }
    return ConfigurationNode(value: member, pointer: pointer.appending(key), source: source)
  }

  /// Checks that this is an object that has only these members.
  func checkObject(_ keys: [String]) throws(ConfigurationError) {
    guard value.isObject else { throw mismatch("an object") }
    for (key, _) in value.members where !keys.contains(key) {
      let known = keys.sorted().joined(separator: ", ")
      throw ConfigurationError(
        source.location(pointer.appending(key)), "unknown key \(PlainText.quote(key))",
        advice: Self.nearest(key, keys).map { "did you mean \"\($0)\"?" } ?? "known here: \(known)")
    }
  }

  /// The members in the order of the file.
  func members() throws(ConfigurationError) -> [(key: String, node: ConfigurationNode)] {
    guard value.isObject else { throw mismatch("an object") }
    return value.members.map {
      ($0.key, ConfigurationNode(value: $0.value, pointer: pointer.appending($0.key), source: source))
    }
  }

  func elements() throws(ConfigurationError) -> [ConfigurationNode] {
    guard value.isArray else { throw mismatch("a list") }
    return value.elements.enumerated().map {
      ConfigurationNode(value: $0.element, pointer: pointer.appending(String($0.offset)), source: source)
    }
  }

  // MARK: Scalars

  /// A string, or a reference to a string in the environment or a file.
  func string() throws(ConfigurationError) -> String {
    let resolved = try resolvingReference()
    guard let text = resolved.string else { throw mismatch("a string") }
    return text
  }

  func strings() throws(ConfigurationError) -> [String] {
    var texts: [String] = []
    for element in try elements() { texts.append(try element.string()) }
    return texts
  }

  func bool() throws(ConfigurationError) -> Bool {
    guard let bool = value.bool else { throw mismatch("true or false") }
    return bool
  }

  func integer(_ range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
    guard let integer = value.integer else { throw mismatch("an integer") }
    guard let number = Int(exactly: integer), range.contains(number) else {
      throw error("expected an integer from \(range.lowerBound) to \(range.upperBound), found \(integer)")
    }
    return number
  }

  func duration() throws(ConfigurationError) -> Duration {
    guard let text = value.string else { throw mismatch("a duration such as \"200ms\", \"1.5s\", \"2m\" or \"1h\"") }
    guard let duration = DurationText.duration(text) else {
      throw error("expected a duration such as \"200ms\", \"1.5s\", \"2m\" or \"1h\", found \(PlainText.quote(text))")
    }
    return duration
  }

  /// A duration that limits something without which no request succeeds.
  func timeLimit() throws(ConfigurationError) -> Duration {
    let limit = try duration()
    guard limit > .zero else { throw error("expected a duration above zero, found \(value)") }
    return limit
  }

  /// A path, made relative to the configuration's file.
  func path() throws(ConfigurationError) -> String { source.resolve(try string()) }

  /// The path of a library: either the given path, relative to the configuration's file, or that of the installed
  /// plugin with that name.
  func library() throws(ConfigurationError) -> String {
    let text = try string()
    guard InstalledPlugins.isName(text) else { return source.resolve(text) }
    return try source.installedPlugins.path(of: text, at: location)
  }

  /// A string that must be a case of an enumeration.
  func word<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) throws(ConfigurationError) -> Word
  where Word.RawValue == String {
    let text = try string()
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw error("expected one of \(words), found \(PlainText.quote(text))")
    }
    return word
  }

  /// Converts the error of a value type that is parsed from a string.
  func parsed<Value>(_ parse: (String) throws(MessageError) -> Value) throws(ConfigurationError) -> Value {
    let text = try string()
    do { return try parse(text) } catch { throw self.error(error.reason) }
  }

  /// The known key nearest to a misspelled one: one letter too many, too few or different, or two letters swapped.
  private static func nearest(_ key: String, _ keys: [String]) -> String? {
    guard key.utf8.count <= 64 else { return nil }
    let scored = keys.map { ($0, distance(Array(key.lowercased()), Array($0.lowercased()))) }
    return scored.min { $0.1 < $1.1 }.flatMap { $0.1 <= max(1, key.count / 4) ? $0.0 : nil }
  }

  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var row = Array(0...right.count)
    for (i, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (character == other ? 0 : 1))
        diagonal = above
      }
    }
    return row[right.count]
  }
}
