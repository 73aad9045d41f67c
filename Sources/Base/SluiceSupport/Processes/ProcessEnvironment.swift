import Glibc

/// The environment of programs that this process starts.
package enum ProcessEnvironment {
  /// Returns the variables of this process, each as `NAME=VALUE`, and nil at the end. The given variables replace
  /// variables of the same name. Values keep bytes that are not UTF-8. The caller must free each string with `free`.
  package static func copies(replacing own: [String: String] = [:]) -> [UnsafeMutablePointer<CChar>?] {
    var all: [UnsafeMutablePointer<CChar>?] = []
    var entry = variable?.pointee
    while let place = entry, let text = place.pointee {
      if own[name(of: text)] == nil { all.append(strdup(text)) }
      entry = place + 1
    }
    return all + own.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") } + [nil]
  }

  /// Returns the same variables as strings, for comparisons and records. Bytes that are not UTF-8 become U+FFFD.
  package static func texts(replacing own: [String: String] = [:]) -> [String] {
    let copies = copies(replacing: own)
    defer { for copy in copies { free(copy) } }
    return copies.compactMap { $0.map { String(cString: $0) } }
  }

  /// Makes an empty environment if there is none, as after clearenv(3): Swift's runtime reads the environment in a
  /// constructor and would crash. Call this before a library is mapped.
  package static func ensure() {
    guard let variable, variable.pointee == nil else { return }
    let empty = List.allocate(capacity: 1)
    empty.initialize(to: nil)
    variable.pointee = empty
  }

  private typealias List = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  /// The C variable `environ`. It is looked up by name because its value can be NULL, which the type in the Glibc module
  /// does not allow.
  private static var variable: UnsafeMutablePointer<List?>? {
    dlsym(nil, "environ")?.assumingMemoryBound(to: List?.self)
  }

  private static func name(of variable: UnsafePointer<CChar>) -> String {
    let length = strcspn(variable, "=")
    return String(decoding: UnsafeRawBufferPointer(start: variable, count: length), as: UTF8.self)
  }
}
