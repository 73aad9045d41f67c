/// The grammar of Semantic Versioning 2.0.0 (semver.org).
package enum SemanticVersion {
  /// Whether a text is a version, such as `1.4.0` or `2.0.0-rc.1+build.5`.
  package static func isValid(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "+"), maxSplits: 1, omittingEmptySubsequences: false)
    let release = parts[0].split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = identifiers(release[0])
    guard numbers.count == 3, numbers.allSatisfy({ isNumber($0) && !hasLeadingZero($0) }) else { return false }
    if release.count > 1 {
      let isValid = identifiers(release[1]).allSatisfy { isWord($0) && !(isNumber($0) && hasLeadingZero($0)) }
      guard isValid else { return false }
    }
    return parts.count == 1 || identifiers(parts[1]).allSatisfy(isWord)
  }

  private static func identifiers(_ text: Substring.UTF8View) -> [Substring.UTF8View] {
    text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
  }

  private static func isNumber(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func hasLeadingZero(_ text: Substring.UTF8View) -> Bool {
    text.count > 1 && text.first == UInt8(ascii: "0")
  }

  private static func isWord(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty
      && text.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
