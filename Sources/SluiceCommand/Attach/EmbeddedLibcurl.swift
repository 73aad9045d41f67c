/// A libcurl in the file of a program or library, recognized by its texts.
struct EmbeddedLibcurl {
  /// Such as `libcurl/7.88.1`; nil if the linker has left this text out because nothing uses it.
  let version: String?

  /// Nil if the file contains no libcurl.
  init?(in bytes: [UInt8]) {
    version = Self.version(in: bytes)
    // The error message for a limit of redirects. Every program that makes transfers contains it.
    let isThere = version != nil || bytes.firstRange(of: Array("Number of redirects hit maximum amount".utf8)) != nil
    if !isThere { return nil }
  }

  var description: String { "it contains its own libcurl\(version.map { " (\($0))" } ?? "")" }

  private static func version(in bytes: [UInt8]) -> String? {
    let mark = Array("libcurl/".utf8)
    var rest = bytes[...]
    while let start = rest.firstRange(of: mark) {
      let digits = bytes[start.upperBound...].prefix { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
      if digits.count >= 5 { return String(decoding: mark + digits, as: UTF8.self) }
      rest = bytes[start.upperBound...]
    }
    return nil
  }
}
