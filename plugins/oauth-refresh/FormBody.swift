import SluiceMessages

/// `application/x-www-form-urlencoded` (RFC 6749 appendix B).
enum FormBody {
  /// The maximum size of a form that is read.
  static let readBytes = 8192

  static func encode(_ fields: [(name: String, value: String)]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: "&")) }
      append(field.name, to: &bytes)
      bytes.append(UInt8(ascii: "="))
      append(field.value, to: &bytes)
    }
    return bytes
  }

  static func encode(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return bytes
  }

  /// The fields of a form; of a repeated field the first. Fields that are not UTF-8 are left out.
  static func decode(_ bytes: [UInt8]) -> [String: String] {
    var fields: [String: String] = [:]
    for field in bytes.split(separator: UInt8(ascii: "&")) {
      let name = field.prefix { $0 != UInt8(ascii: "=") }
      guard let key = text(name), let value = text(field.dropFirst(name.count + 1)) else { continue }
      if fields[key] == nil { fields[key] = value }
    }
    return fields
  }

  private static func text(_ encoded: ArraySlice<UInt8>) -> String? {
    let spaced = encoded.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(validating: PercentCoding.decoded(spaced.span), as: UTF8.self)
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "*"):
        bytes.append(byte)
      case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }
}
