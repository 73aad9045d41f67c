import CJansson
import SluiceMessages

// Moves bytes into and out of jansson strings, for the few places where an intermediate Swift string would be too slow.

/// The form of a field value or a body in a document: `"text"`, or `{"base64": "…"}` for bytes that are not UTF-8.
enum DocumentText {
  /// A new string, or nil if the bytes are not UTF-8. The caller owns the reference.
  static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<json_t>? {
    bytes.withMemoryRebound(to: CChar.self) { text in
      let start = text.baseAddress ?? emptyText
      return isASCII(bytes) ? json_stringn_nocheck(start, text.count) : json_stringn(start, text.count)
    }
  }

  /// A new `{"base64": "…"}`. The caller owns the reference.
  static func base64(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<json_t>? {
    let object = json_object()
    let encoded = Base64.encode(bytes.span)
    let text = encoded.withUnsafeBufferPointer { string($0) }
    json_object_setn_new_nocheck(object, "base64", 6, text)
    return object
  }

  /// The bytes of a jansson string, valid until the string changes; nil for another kind of value.
  static func bytes(_ json: UnsafePointer<json_t>) -> UnsafeBufferPointer<UInt8>? {
    guard let text = json_string_value(json) else { return nil }
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: json_string_length(json))
  }

  /// The decoded bytes of `{"base64": "…"}`; nil for another form, or if the base64 is not canonical.
  static func decoded(_ json: UnsafePointer<json_t>) -> [UInt8]? {
    guard json_object_size(json) == 1, let member = json_object_getn(json, "base64", 6), let text = bytes(member)
    else { return nil }
    return Base64.decode(text.span)
  }

  /// Checks eight bytes at a time. This makes the usual case fast: nearly every header is ASCII, and jansson's own
  /// check goes character by character.
  static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(bytes)
    var seen: UInt64 = 0
    var index = 0
    while index &+ 8 <= raw.count {
      seen |= raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    if index < raw.count, raw.count >= 8 {
      // Checks the last eight bytes, some of them twice: this costs less than checking the remaining bytes one by one.
      seen |= raw.loadUnaligned(fromByteOffset: raw.count &- 8, as: UInt64.self)
      index = raw.count
    }
    while index < raw.count {
      seen |= UInt64(raw[index])
      index &+= 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }
}
