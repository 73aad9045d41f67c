import CJansson
import SluiceMessages

/// The fields of a live document, read and changed in place, without converting the message.
///
/// Callers may give names in any case; the document has them in lower case. Values go in and out as bytes: a plain
/// string costs no copy, `{"base64": "…"}` is decoded. If a plugin leaves something that is not a valid field value,
/// this type treats it as absent, and it is refused when the document is read back.
package struct DocumentHeaders {
  private let document: JSONValue
  private let section: StaticString

  /// The `headers` of a document, or its `trailers`.
  package init(_ document: JSONValue, trailers: Bool = false) {
    self.document = document
    section = trailers ? "trailers" : "headers"
  }

  /// The bytes of one field value.
  package enum Value {
    /// Lent by the document until that field changes or the document is released.
    case lent(UnsafeBufferPointer<UInt8>)
    /// Decoded from base64.
    case decoded([UInt8])

    /// A copy of the bytes.
    package var bytes: [UInt8] {
      switch self {
      case .lent(let bytes): Array(bytes)
      case .decoded(let bytes): bytes
      }
    }
  }

  /// The first value of a field.
  package func value(named name: UnsafeBufferPointer<UInt8>) -> Value? {
    value(named: name, at: 0)
  }

  /// The value of one line of the field, counted from 0.
  package func value(named name: UnsafeBufferPointer<UInt8>, at line: Int) -> Value? {
    guard let fields else { return nil }
    let entry = Self.withLowercased(name) { json_object_getn(fields, $0, $1) }
    return entry.flatMap { Self.line($0, line) }.flatMap(Self.value)
  }

  /// The field at a position; each line of a repeated name has its own position. Nil past the end.
  package func field(at index: Int) -> (name: UnsafeBufferPointer<UInt8>, value: Value)? {
    guard let fields else { return nil }
    var rest = index
    var position = json_object_iter(fields)
    while let at = position, let entry = json_object_iter_value(at) {
      let lines = Self.lineCount(entry)
      if rest < lines, let key = json_object_iter_key(at), let value = Self.line(entry, rest).flatMap(Self.value) {
        let start = UnsafeRawPointer(key).assumingMemoryBound(to: UInt8.self)
        return (UnsafeBufferPointer(start: start, count: json_object_iter_key_len(at)), value)
      }
      rest -= lines
      position = json_object_iter_next(fields, at)
    }
    return nil
  }

  /// The number of fields; each line of a repeated name counts as one.
  package var count: Int {
    guard let fields else { return 0 }
    var count = 0
    var position = json_object_iter(fields)
    while let at = position, let entry = json_object_iter_value(at) {
      count += Self.lineCount(entry)
      position = json_object_iter_next(fields, at)
    }
    return count
  }

  /// Whether the value is within the limits of ``HeaderFields``, and the lists of names and of lines of this field are.
  /// The sum over all fields is checked when the document is read back, because counting it here would take too long.
  package func hasRoom(for name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.count + value.count + 4 <= HeaderFields.maximumFieldBytes else { return false }
    guard let fields else { return true }
    guard let entry = Self.withLowercased(name, { json_object_getn(fields, $0, $1) }) else {
      return json_object_size(fields) < HeaderFields.maximumFields
    }
    return Self.lineCount(entry) < HeaderFields.maximumFields
  }

  /// Replaces all lines of the field by one line. The caller must have checked name and value
  /// (``HeaderFields/check(name:value:)``).
  package func set(_ name: UnsafeBufferPointer<UInt8>, to value: UnsafeBufferPointer<UInt8>) {
    _ = replace(name, with: value)
  }

  /// Like ``set(_:to:)``, and returns the old value. As long as the caller keeps the old value, a plugin can use the
  /// texts of this value that were lent to it.
  package func replace(_ name: UnsafeBufferPointer<UInt8>, with value: UnsafeBufferPointer<UInt8>) -> JSONValue? {
    let fields = fieldsMadeWhenAbsent()
    let made = Self.made(value)
    return Self.withLowercased(name) { key, count in
      let replaced = json_object_getn(fields, key, count).map { JSONValue(retaining: $0) }
      _ = json_object_setn_new_nocheck(fields, key, count, made)
      return replaced
    }
  }

  /// Adds one more line to the field.
  package func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    Self.append(Self.made(value), named: name, to: fieldsMadeWhenAbsent())
  }

  /// Removes every line of the field; false if there was no line.
  @discardableResult
  package func remove(_ name: UnsafeBufferPointer<UInt8>) -> Bool { take(name) != nil }

  /// Removes every line of the field and returns the lines; nil if there were none. As long as the caller keeps the
  /// lines, a plugin can use the texts of these lines that were lent to it.
  package func take(_ name: UnsafeBufferPointer<UInt8>) -> JSONValue? {
    guard let fields else { return nil }
    return Self.withLowercased(name) { key, count in
      guard let present = json_object_getn(fields, key, count) else { return nil }
      let taken = JSONValue(retaining: present)
      json_object_deln(fields, key, count)
      return taken
    }
  }

  private var fields: UnsafeMutablePointer<json_t>? {
    let member = json_object_getn(document.json, section.utf8CChars, section.utf8CodeUnitCount)
    return member?.pointee.type == JSON_OBJECT ? member : nil
  }

  private func fieldsMadeWhenAbsent() -> UnsafeMutablePointer<json_t>? {
    if let fields { return fields }
    document["\(section)"] = .object()
    return fields
  }
}

extension StaticString {
  fileprivate var utf8CChars: UnsafePointer<CChar> {
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

extension DocumentHeaders {
  /// Adds a line to the field, and converts the name to lower case. If the field already has a line, its value becomes
  /// an array. Takes over the reference to `value`.
  static func append(
    _ value: UnsafeMutablePointer<json_t>?, named name: UnsafeBufferPointer<UInt8>,
    to fields: UnsafeMutablePointer<json_t>?
  ) {
    withLowercased(name) { key, count in
      guard let present = json_object_getn(fields, key, count) else {
        _ = json_object_setn_new_nocheck(fields, key, count, value)
        return
      }
      if present.pointee.type == JSON_ARRAY {
        json_array_append_new(present, value)
      } else {
        let lines = json_array()
        json_array_append_new(lines, json_incref(present))
        json_array_append_new(lines, value)
        json_object_setn_new_nocheck(fields, key, count, lines)
      }
    }
  }

  static func made(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<json_t>? {
    DocumentText.string(value) ?? DocumentText.base64(value)
  }

  private static func value(_ json: UnsafeMutablePointer<json_t>) -> Value? {
    if let bytes = DocumentText.bytes(json) { return .lent(bytes) }
    return DocumentText.decoded(json).map { .decoded($0) }
  }

  private static func lineCount(_ entry: UnsafeMutablePointer<json_t>) -> Int {
    entry.pointee.type == JSON_ARRAY ? json_array_size(entry) : 1
  }

  private static func line(_ entry: UnsafeMutablePointer<json_t>, _ index: Int) -> UnsafeMutablePointer<json_t>? {
    if entry.pointee.type == JSON_ARRAY { return json_array_get(entry, index) }
    return index == 0 ? entry : nil
  }

  @inline(__always)
  private static func withLowercased<Result>(
    _ name: UnsafeBufferPointer<UInt8>, _ body: (UnsafePointer<CChar>, Int) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(byteCount: max(name.count, 1), alignment: 8) { lowercased in
      name.span.lowercase(into: lowercased)
      let start = lowercased.baseAddress?.assumingMemoryBound(to: CChar.self)
      return body(start.map { UnsafePointer($0) } ?? emptyText, name.count)
    }
  }
}
