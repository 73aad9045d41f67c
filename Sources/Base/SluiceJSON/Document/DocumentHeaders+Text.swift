// Fields as text, for code that works with Swift strings.
extension DocumentHeaders {
  /// The first value of a field; bytes that are not UTF-8 are shown with U+FFFD. Assigning a text replaces all lines of
  /// the field; assigning nil removes them.
  package subscript(name: String) -> String? {
    get { Self.withBytes(name) { value(named: $0) }.map { String(decoding: $0.bytes, as: UTF8.self) } }
    nonmutating set {
      Self.withBytes(name) { name in
        guard let newValue else {
          remove(name)
          return
        }
        Self.withBytes(newValue) { set(name, to: $0) }
      }
    }
  }

  /// The value of one line of the field as text; lines are counted from 0. Bytes that are not UTF-8 are shown with
  /// U+FFFD.
  func value(named name: String, line: Int) -> String? {
    Self.withBytes(name) { value(named: $0, at: line) }.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  /// The values of all lines of the field, like ``value(named:line:)``.
  package func values(named name: String) -> [String] {
    var values: [String] = []
    while let value = value(named: name, line: values.count) { values.append(value) }
    return values
  }

  /// Adds one more line to a field.
  package func add(_ name: String, _ value: String) {
    Self.withBytes(name) { name in Self.withBytes(value) { add(name, $0) } }
  }

  private static func withBytes<Result>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var text = text
    return text.withUTF8(body)
  }
}
