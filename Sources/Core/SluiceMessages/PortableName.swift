/// Names that can also be names of files and parts of URLs, without escapes: letters, digits, `-`, `_` and `.`. They
/// have no separator and do not begin with a `.`, so they neither hide a file nor lead out of a folder.
package enum PortableName {
  /// - Parameter limit: the largest number of characters.
  package static func isValid(_ name: String, limit: Int) -> Bool {
    guard (1...limit).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }

  /// A description for messages of the names that ``isValid(_:limit:)`` accepts.
  package static func description(limit: Int) -> String {
    "1 to \(limit) letters, digits, \"-\", \"_\" and \".\", without a \".\" at the beginning"
  }

  /// A short name for a text that is not such a name: 16 hex digits (FNV-1a, 64 bits). Two texts can have the same
  /// digest, so it must not decide about trust.
  package static func digest(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
