import Glibc

/// The environment for a new process.
package enum ProcessEnvironment {
  /// The variables of this process, each as `NAME=VALUE`; the given variables replace those of the same name.
  package static func current(replacing own: [String: String] = [:]) -> [String] {
    var all: [String] = []
    var entry = environ
    while let text = entry.pointee {
      let variable = String(cString: text)
      if own[String(variable.prefix { $0 != "=" })] == nil { all.append(variable) }
      entry += 1
    }
    return all + own.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }
}
