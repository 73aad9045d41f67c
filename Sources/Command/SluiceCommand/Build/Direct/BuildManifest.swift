import SluiceJSON

/// The commands that `swift build` has planned. `swift build` writes them for llbuild to `.build/debug.yaml`.
///
///     targets:
///       "main": ["<name.module>","<name.dylib>"]
///     commands:
///       "C.name.dylib":
///         tool: shell
///         inputs: ["/a.o"]
///         outputs: ["/libname.so"]
///         args: ["/usr/bin/swiftc","-o","/libname.so"]
///
/// This format is not documented, so the reader accepts exactly this form. The lists are JSON.
struct BuildManifest {
  struct Command: Equatable {
    var inputs: [String] = []
    var outputs: [String] = []
    /// The arguments, beginning with the program; empty for a step that llbuild does itself.
    var arguments: [String] = []
  }

  /// The outputs of a plain `swift build`.
  private(set) var main: [String] = []
  private(set) var commands: [Command] = []
  /// The index of the command that makes each output.
  private(set) var producers: [String: Int] = [:]

  /// Returns nil if the text does not have this form.
  init?(_ text: String) {
    guard let main = read(text, into: &commands) else { return nil }
    self.main = main
    for (index, command) in commands.enumerated() {
      for output in command.outputs {
        // If two commands make the same output, it is unknown which one runs last.
        guard producers.updateValue(index, forKey: output) == nil else { return nil }
      }
    }
  }

  func producer(of path: String) -> Command? { producers[path].map { commands[$0] } }

  /// Returns the sources of the given outputs: all direct and indirect inputs that no command makes. A path that ends
  /// with a slash is a folder.
  func origins(of paths: [String]) -> Set<String> {
    var (found, seen, left): (Set<String>, Set<String>, [String]) = ([], [], paths)
    while let path = left.popLast() {
      guard seen.insert(path).inserted else { continue }
      if let command = producer(of: path) {
        left += command.inputs
      } else if path.hasPrefix("/") {
        found.insert(path)
      }
    }
    return found
  }
}

/// Reads all lines once. Returns the content of the target "main".
private func read(_ text: String, into commands: inout [BuildManifest.Command]) -> [String]? {
  var section: Substring = ""
  var main: [String]?
  for line in text.split(separator: "\n") {
    if !line.hasPrefix(" ") {
      section = line
    } else if section == "targets:" {
      if line.hasPrefix("  \"main\": ") { main = list(line.dropFirst(10)) }
    } else if section == "commands:" {
      if line.hasPrefix("  \""), line.hasSuffix("\":") {
        commands.append(BuildManifest.Command())
      } else if line.hasPrefix("    inputs: ") || line.hasPrefix("    outputs: ") || line.hasPrefix("    args: ") {
        guard let last = commands.indices.last, let colon = line.firstIndex(of: ":"),
          let words = list(line[colon...].dropFirst(2))
        else { return nil }
        switch line[..<colon] {
        case "    inputs": commands[last].inputs = words
        case "    outputs": commands[last].outputs = words
        default: commands[last].arguments = words
        }
      }
    }
  }
  return main
}

private func list(_ text: Substring) -> [String]? {
  guard let value = try? JSONValue(parsing: text.utf8), value.isArray else { return nil }
  let words = value.elements.compactMap(\.string)
  return words.count == value.count ? words : nil
}
