import CJansson

extension JSONValue {
  /// An object without members.
  public static func object() -> JSONValue {
    JSONSeed.plantOnce()
    return JSONValue(made: json_object())
  }

  /// An array without elements.
  public static func array() -> JSONValue {
    JSONValue(made: json_array())
  }

  /// An array of these values, in this order. The values are not copied.
  package static func array(of elements: some Sequence<JSONValue>) -> JSONValue {
    let array = JSONValue.array()
    for element in elements { array.append(element) }
    return array
  }

  /// An array of strings, in this order.
  package static func array(of texts: some Sequence<String>) -> JSONValue {
    array(of: texts.lazy.map { JSONValue($0) })
  }

  /// A length of time as a real number of milliseconds, down to a microsecond.
  package static func milliseconds(_ duration: Duration) -> JSONValue { JSONValue(duration.roundedMilliseconds) }

  /// The null value, which is the same object for all users of jansson.
  public static var null: JSONValue { JSONValue(made: json_null()) }

  /// A string. U+0000 is kept, but C code reads the string only up to this character.
  public convenience init(_ text: String) {
    var text = text
    self.init(
      made: text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { json_stringn_nocheck($0.baseAddress ?? emptyText, $0.count) }
      })
  }

  /// A string of bytes, or nil if they are not UTF-8.
  public convenience init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    let made = bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress ?? emptyText, $0.count) }
    guard let made else { return nil }
    self.init(adopting: made)
  }

  /// An integer, which is written without fraction and exponent.
  public convenience init(_ integer: Int64) {
    self.init(made: json_integer(json_int_t(integer)))
  }

  /// A real number; one that is not finite becomes null, because JSON cannot spell it.
  public convenience init(_ real: Double) {
    self.init(made: real.isFinite ? json_real(real) : json_null())
  }

  /// The value true or false.
  public convenience init(_ bool: Bool) {
    self.init(made: sluice_json_boolean(bool ? 1 : 0))
  }
}

extension Duration {
  /// The duration in milliseconds, rounded to microseconds: the clock is not more precise.
  var roundedMilliseconds: Double { (self / .microseconds(1)).rounded() / 1000 }
}

/// jansson needs an address even for an empty text.
nonisolated(unsafe) let emptyText: UnsafePointer<CChar> = {
  // Never freed and never written after this; all threads share it as a constant.
  let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
  text.initialize(to: 0)
  return UnsafePointer(text)
}()

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string, as ``init(_:)-(String)`` makes it.
  public convenience init(stringLiteral text: String) { self.init(text) }
  /// An integer, which is not equal to the real number of the same value.
  public convenience init(integerLiteral integer: Int64) { self.init(integer) }
  /// A real number, or null if it is not finite.
  public convenience init(floatLiteral real: Double) { self.init(real) }
  /// The value true or false.
  public convenience init(booleanLiteral bool: Bool) { self.init(bool) }

  /// An array of the elements themselves, not of copies: a change of an element is visible everywhere it is referenced.
  public convenience init(arrayLiteral elements: JSONValue...) {
    self.init(made: json_array())
    for element in elements { json_array_append_new(json, element.retainedUnsafeJSON()) }
  }

  /// Keys keep their order; of equal keys the last one counts.
  public convenience init(dictionaryLiteral members: (String, JSONValue)...) {
    JSONSeed.plantOnce()
    self.init(made: json_object())
    for (key, value) in members { self[key] = value }
  }
}

/// Seeds jansson's hash tables before the first table is made. The seed makes the order of the buckets unpredictable,
/// and seeding early prevents two threads from seeding at the same time.
package enum JSONSeed {
  private static let planted: Void = json_object_seed(0)

  /// Seeds on the first call in the process. Call it before the program's own C code makes objects on several threads.
  package static func plantOnce() {
    _ = planted
  }
}
