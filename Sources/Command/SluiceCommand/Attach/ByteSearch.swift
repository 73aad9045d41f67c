import Glibc

/// Searches in whole files. Without optimization, `firstRange(of:)` needs many seconds for a large file.
enum ByteSearch {
  /// The position of the first occurrence of a text at or after `start`; nil if there is none.
  static func first(_ text: String, in bytes: [UInt8], from start: Int = 0) -> Int? {
    let text = Array(text.utf8)
    return bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, let first = text.first else { return nil }
      var position = start
      while position + text.count <= bytes.count {
        let room = bytes.count - text.count + 1 - position
        guard let found = memchr(base + position, CInt(first), room) else { return nil }
        if memcmp(found, text, text.count) == 0 { return UnsafeRawPointer(found) - base }
        position = UnsafeRawPointer(found) - base + 1
      }
      return nil
    }
  }
}
