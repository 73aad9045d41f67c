import SluiceJSON

/// What `swift build` has decided to run, as it writes it for llbuild to `.build/debug.yaml`.
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
/// Nobody has promised this form, so only what looks exactly like this is read. The lists are JSON.
struct BuildManifest {
  struct Command: Equatable {
    var inputs: [String] = []
    var outputs: [String] = []
    /// The program first; empty for what llbuild does by itself.
    var arguments: [String] = []
  }

  /// What a plain `swift build` makes.
  private(set) var main: [String] = []
  private(set) var commands: [Command] = []
  /// The index of the command that makes each output.
  private(set) var producers: [String: Int] = [:]

  /// Nil for a text of another form.
  init?(_ text: String) {
    guard let main = read(text, into: &commands) else { return nil }
    self.main = main
    for (index, command) in commands.enumerated() {
      for output in command.outputs {
        // Made twice: which one counts cannot be told.
        guard producers.updateValue(index, forKey: output) == nil else { return nil }
      }
    }
  }

  func producer(of path: String) -> Command? { producers[path].map { commands[$0] } }

  /// What no command makes, and all the same goes into the making of these: files, and folders with a slash at the end.
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

/// One pass over the lines. Gives what the target "main" has.
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
