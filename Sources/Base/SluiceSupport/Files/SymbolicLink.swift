import Glibc

/// Reads symbolic links.
package enum SymbolicLink {
  /// The path that a link contains; nil if the given path is not a link, or if the link's path is not UTF-8.
  package static func target(_ link: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      let count = readlink(link, start, buffer.count)
      guard count > 0, count < buffer.count else { return nil }
      return String(validating: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
