import SluiceMessages

/// The `name=value` pairs of a query, decoded as HTML forms encode them.
enum QueryItems {
  static func parse(_ query: Substring) -> [(name: String, value: String)] {
    query.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
    }
  }

  /// Decodes a part: `+` is a space, and a `%` without two hexadecimal digits stays unchanged.
  static func decode(_ text: Substring) -> String {
    let bytes = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return String(decoding: PercentCoding.decoded(bytes.span), as: UTF8.self)
  }
}
