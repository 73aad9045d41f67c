package import SluiceMessages

// Each of these functions adds a member of an object or, if the key is nil, an element of an array.
extension JSONText {
  package mutating func text(_ key: String?, _ value: String) {
    begin(key)
    append(quoting: value)
  }

  /// The UUID as text.
  package mutating func text(_ key: String?, _ id: TransactionID) {
    begin(key)
    append(quoting: id)
  }

  package mutating func number(_ key: String?, _ value: Int) {
    begin(key)
    append(value)
  }

  package mutating func number(_ key: String?, _ value: UInt64) {
    begin(key)
    append(UInt(value))
  }

  package mutating func number(_ key: String?, _ value: Int64) { number(key, Int(value)) }
  package mutating func number(_ key: String?, _ value: Int32) { number(key, Int(value)) }
  package mutating func number(_ key: String?, _ value: UInt32) { number(key, Int(value)) }

  /// A finite number.
  package mutating func real(_ key: String?, _ value: Double) {
    begin(key)
    append(value)
  }

  package mutating func flag(_ key: String?, _ value: Bool) {
    begin(key)
    value ? write("true") : write("false")
  }

  /// A value that is JSON already.
  package mutating func value(_ key: String?, json text: String) {
    begin(key)
    append(Array(text.utf8))
  }

  /// - Parameter body: adds the members.
  package mutating func object(_ key: String? = nil, _ body: (inout JSONText) -> Void) {
    begin(key)
    write("{")
    body(&self)
    write("}")
  }

  /// - Parameter body: adds the elements.
  package mutating func array(_ key: String? = nil, _ body: (inout JSONText) -> Void) {
    begin(key)
    write("[")
    body(&self)
    write("]")
  }

  /// The text with a final line break.
  package consuming func line() -> [UInt8] {
    write("\n")
    return bytes
  }

  private mutating func begin(_ key: String?) {
    if count > 0, !isInEmptyContainer { write(",") }
    guard let key else { return }
    append(quoting: key)
    write(":")
  }
}
