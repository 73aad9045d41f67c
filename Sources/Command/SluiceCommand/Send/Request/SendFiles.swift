import SluiceMessages

/// Checks the files in the arguments of `send`: no option may write to a file that another option reads or writes.
enum SendFiles {
  private static let side = ["har", "record", "events", "dump-header", "cookie-jar"]
  private static let written = ["output"] + side
  private static let read = ["upload-file", "cookie", "netrc-file", "cert", "key", "cacert", "config"]

  /// - Parameter options: the files with options (`-K`), which have already been removed from the arguments.
  static func check(_ arguments: ParsedArguments, _ options: [String]) throws(CommandError) {
    let outputs = written.flatMap { name in arguments.all(name).map { (name, $0) } }
      .filter { !StandardOutput.isNamed(by: $0.1) }
    let inputs =
      read.flatMap { name in arguments.all(name).map { (name, $0) } } + data(arguments)
      + options.map { ("options", $0) }
    for (name, path) in outputs {
      for (other, otherPath) in outputs + inputs where other != name && isSame(path, otherPath) {
        // A cookie jar is read before it is written.
        if name == "cookie-jar", other == "cookie" { continue }
        throw CommandError(
          .usage, "send: --\(name): \(PlainText.path(path)) is also the file of --\(other); name another file")
      }
    }
  }

  /// The files that are written besides the bodies of responses.
  static func sideFiles(_ arguments: ParsedArguments) -> [String] {
    side.flatMap { arguments.all($0) }.filter { !StandardOutput.isNamed(by: $0) }
  }

  /// The files that the values of options name after `@`. In the values of form fields, the names follow `=@` or `=<`.
  private static func data(_ arguments: ParsedArguments) -> [(String, String)] {
    arguments.options.compactMap { option in
      guard let text = option.value.text else { return nil }
      switch option.name {
      case "data", "data-binary", "json", "header", "write-out":
        return text.hasPrefix("@") ? (option.name, String(text.dropFirst())) : nil
      case "data-urlencode":
        return text.firstIndex(of: "@").map { (option.name, String(text[text.index(after: $0)...])) }
      case "form":
        guard let mark = text.firstRange(of: "=@") ?? text.firstRange(of: "=<") else { return nil }
        return (option.name, String(text[mark.upperBound...].prefix { $0 != ";" }))
      default: return nil
      }
    }
  }

  private static func isSame(_ path: String, _ other: String) -> Bool {
    path == other || FileIdentity(at: path).map { $0 == FileIdentity(at: other) } ?? false
  }
}
