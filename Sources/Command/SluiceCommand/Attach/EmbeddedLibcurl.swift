/// A libcurl in the file of a program or library, recognized by its texts.
struct EmbeddedLibcurl {
  /// Such as `libcurl/7.88.1`; nil if the linker has left this text out because nothing uses it.
  let version: String?

  /// Nil if the file contains no libcurl.
  init?(in bytes: [UInt8]) {
    version = Self.version(in: bytes)
    // The error message for a limit of redirects. Every program that makes transfers contains it.
    let isThere = version != nil || ByteSearch.first("Number of redirects hit maximum amount", in: bytes) != nil
    if !isThere { return nil }
  }

  var description: String { "it contains its own libcurl\(version.map { " (\($0))" } ?? "")" }

  private static func version(in bytes: [UInt8]) -> String? {
    let mark = "libcurl/"
    var end = 0
    while let start = ByteSearch.first(mark, in: bytes, from: end) {
      end = start + mark.utf8.count
      let digits = bytes[end...].prefix { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
      if digits.count >= 5 { return mark + String(decoding: digits, as: UTF8.self) }
    }
    return nil
  }
}
