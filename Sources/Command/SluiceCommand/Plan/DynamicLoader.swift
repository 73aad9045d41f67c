import SluicePluginFile
import SluiceSupport

/// The dynamic loader of the system, which reports what it would map.
struct DynamicLoader {
  let path: String

  /// The loader that this command uses.
  static var own: DynamicLoader? {
    RunningProgram.executable.flatMap { ProgramFacts(at: $0)?.loader.map { DynamicLoader(path: $0) } }
  }

  /// The paths of the libraries that a program or a library needs, directly or not. Runs none of their code.
  func libraries(of file: String) -> [String] {
    let text = ToolProcess([path, "--list", file]).output() ?? ""
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(whereSeparator: \.isWhitespace)
      if parts.count >= 3, parts[1] == "=>" { return String(parts[2]) }
      // If a library is referenced by its path, its line has no arrow.
      return parts.first.flatMap { $0.hasPrefix("/") ? String($0) : nil }
    }
  }

  /// The build id of the Swift runtime that a library would get; nil if it does not need the runtime.
  func swiftBuildID(of file: String) -> String? {
    libraries(of: file).first { Paths.name(of: $0) == "libswiftCore.so" }.flatMap { ProgramFacts(at: $0)?.buildID }
  }
}
