public import CJansson

/// A JSON value. It owns one reference to a `json_t` and releases it when the last Swift reference goes away.
///
/// It has reference semantics, as in jansson: reading a member returns the member itself and not a copy, so changing it
/// changes the document. Use ``deepCopy()`` for an independent value. Getting a member costs one small allocation; code
/// in which nanoseconds matter uses `withUnsafeJSON(_:)`.
///
/// Text is always UTF-8. A string may hold U+0000 only when it was made here or parsed with
/// ``JSONParsingOptions/allowNUL``: C code would read such a string only up to U+0000.
///
/// `@unchecked Sendable`: jansson's reference counts are atomic and reading is safe from any thread; code that lets
/// several threads reach a value must make sure that none of them changes it.
public final class JSONValue: @unchecked Sendable {
  let json: UnsafeMutablePointer<json_t>

  /// Takes over one reference, which the caller no longer owns.
  public init(adopting json: UnsafeMutablePointer<json_t>) {
    self.json = json
  }

  /// Takes an additional reference; the caller keeps its own.
  public convenience init(retaining json: UnsafeMutablePointer<json_t>) {
    self.init(adopting: json_incref(json))
  }

  deinit {
    JSONRelease.release(json)
  }

  /// Lends the pointer for the duration of the call; a callee that keeps it must take a reference with `json_incref`.
  package func withUnsafeJSON<Result, Failure: Error>(
    _ body: (UnsafeMutablePointer<json_t>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withExtendedLifetime(self) { () throws(Failure) -> Result in try body(json) }
  }

  /// A new reference for C code that takes over a reference. It must be released with `json_decref`.
  package func retainedUnsafeJSON() -> UnsafeMutablePointer<json_t> {
    json_incref(json)
  }

  /// A function of jansson that makes a value returns NULL only when memory is exhausted. This ends the process, as a
  /// failed allocation of Swift does.
  convenience init(made json: UnsafeMutablePointer<json_t>?) {
    guard let json else { preconditionFailure("out of memory while making a JSON value") }
    self.init(adopting: json)
  }
}

extension JSONValue {
  /// The kind of a value. The accessors below return nil for any other kind.
  public enum Kind: String, Sendable {
    case object, array, string, integer, real, boolean, null
  }

  /// The kind of this value, which never changes.
  public var kind: Kind {
    switch json.pointee.type {
    case JSON_OBJECT: .object
    case JSON_ARRAY: .array
    case JSON_STRING: .string
    case JSON_INTEGER: .integer
    case JSON_REAL: .real
    case JSON_TRUE, JSON_FALSE: .boolean
    default: .null
    }
  }

  /// Whether the value is an object, even without members.
  public var isObject: Bool { json.pointee.type == JSON_OBJECT }
  /// Whether the value is an array, even without elements.
  public var isArray: Bool { json.pointee.type == JSON_ARRAY }
  /// Whether the value is a string, even an empty one.
  public var isString: Bool { json.pointee.type == JSON_STRING }
  /// Whether this is the JSON value null; a member that does not exist is nil instead.
  public var isNull: Bool { json.pointee.type == JSON_NULL }

  /// The text of a string.
  public var string: String? {
    withStringBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// The value of a number that was spelled without fraction and exponent; 1.0 is a ``real``.
  public var integer: Int64? {
    json.pointee.type == JSON_INTEGER ? Int64(json_integer_value(json)) : nil
  }

  /// The value of a number that was spelled with fraction or exponent.
  public var real: Double? {
    json.pointee.type == JSON_REAL ? json_real_value(json) : nil
  }

  /// The value of either kind of number; integers beyond 2^53 are rounded.
  public var number: Double? {
    real ?? integer.map(Double.init)
  }

  /// True or false; nil for everything else, including the numbers 0 and 1.
  public var bool: Bool? {
    switch json.pointee.type {
    case JSON_TRUE: true
    case JSON_FALSE: false
    default: nil
    }
  }

  /// The number of an object's members or an array's elements; 0 for everything else.
  public var count: Int {
    isArray ? json_array_size(json) : json_object_size(json)
  }

  /// Lends the UTF-8 of a string without copying it; nil for everything else.
  package func withStringBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
    guard let text = json_string_value(json) else { return nil }
    return withExtendedLifetime(self) {
      text.withMemoryRebound(to: UInt8.self, capacity: json_string_length(json)) {
        body(UnsafeBufferPointer(start: $0, count: json_string_length(json)))
      }
    }
  }

  /// A copy that shares nothing with this value.
  ///
  /// Throws for a value that contains itself (``JSONError/Code/circular``), is nested deeper than 2048
  /// levels, or repeats more than 262,144 values. Parsing never produces such a value.
  public func deepCopy() throws(JSONError) -> JSONValue {
    try checkNesting()
    return JSONValue(made: json_deep_copy(json))
  }
}

extension JSONValue: Equatable {
  /// Structural equality: the order of an object's members does not matter, and 1 differs from 1.0. A value that
  /// cannot be written as JSON equals only itself.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    if left.json == right.json { return true }
    guard (try? left.checkNesting()) != nil else { return false }
    return json_equal(left.json, right.json) != 0
  }
}
