import Glibc

/// The environment of programs that this process starts.
package enum ProcessEnvironment {
  /// Returns the variables of this process, each as `NAME=VALUE`, and nil at the end. The given variables replace
  /// variables of the same name. Values keep bytes that are not UTF-8. The caller must free each string with `free`.
  package static func copies(replacing own: [String: String] = [:]) -> [UnsafeMutablePointer<CChar>?] {
    var all: [UnsafeMutablePointer<CChar>?] = []
    var entry = environ
    while let text = entry.pointee {
      if own[name(of: text)] == nil { all.append(strdup(text)) }
      entry += 1
    }
    return all + own.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
  }

  /// Returns the same variables as strings, for comparisons and records. Bytes that are not UTF-8 become U+FFFD.
  package static func texts(replacing own: [String: String] = [:]) -> [String] {
    let copies = copies(replacing: own)
    defer { for copy in copies { free(copy) } }
    return copies.compactMap { $0.map { String(cString: $0) } }
  }

  private static func name(of variable: UnsafePointer<CChar>) -> String {
    let length = strcspn(variable, "=")
    return String(decoding: UnsafeRawBufferPointer(start: variable, count: length), as: UTF8.self)
  }
}
