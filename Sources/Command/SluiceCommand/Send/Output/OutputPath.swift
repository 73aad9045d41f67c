import Glibc
import SluiceMessages
import SluiceSupport

/// The path of the output file: the value of `-o`, or with `-O` the name in the URL.
enum OutputPath {
  /// Returns nil for standard output.
  static func make(_ arguments: ParsedArguments) throws(CommandError) -> OutputName? {
    guard let name = try name(arguments) else {
      guard !arguments.has("remote-header-name") else { throw CommandError(.usage, "send: -J needs -O") }
      return nil
    }
    if arguments.has("output-dir"), name.split(separator: "/").contains("..") {
      throw CommandError(
        .usage, "send: -o \(PlainText.quote(name)) leads out of --output-dir; name a file in it")
    }
    let path = arguments["output-dir"].map { $0.hasSuffix("/") ? $0 + name : "\($0)/\(name)" } ?? name
    let existing: OutputName.Existing =
      arguments.has("remote-header-name") ? .keep : arguments.has("no-clobber") ? .number : .replace
    return OutputName(path, existing: existing)
  }

  /// Whether the body goes to a file. A result document does not count, because the body is only a part of it.
  static func isFile(_ arguments: ParsedArguments) -> Bool {
    guard !arguments.has("document") else { return false }
    return arguments.has("remote-name") || arguments["output"].map { !StandardOutput.isNamed(by: $0) } ?? false
  }

  /// Checks whether the options fit together for all requests.
  static func check(_ arguments: ParsedArguments) throws(CommandError) {
    guard !["output", "remote-name", "remote-name-all"].contains(where: arguments.has) else { return }
    for option in ["output-dir", "create-dirs"] where arguments.has(option) {
      throw CommandError(.usage, "send: --\(option) needs -o or -O")
    }
  }

  private static func name(_ arguments: ParsedArguments) throws(CommandError) -> String? {
    guard arguments.has("remote-name") else { return arguments["output"] }
    let name = try remoteName(arguments.operands.last ?? "")
    return arguments.has("remote-header-name") ? String(decoding: visible(Array(name.utf8)), as: UTF8.self) : name
  }

  /// The last component of a URL's path, as it is written in the URL.
  static func remoteName(_ url: String) throws(CommandError) -> String {
    let address = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    let path = address.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
      .dropFirst()
    let name = path.last.map(String.init) ?? ""
    guard isFileName(Array(name.utf8)) else {
      throw CommandError(
        .usage,
        "send: -O: the path of \(PlainText.quote(Redactor().url(url))) does not end with the name of a file; name one with -o"
      )
    }
    return name
  }

  /// Whether a path component can be the name of a file: it is not empty, `.` or `..`, and contains no control
  /// characters.
  static func isFileName(_ name: [UInt8]) -> Bool {
    guard !["", ".", ".."].contains(ArgumentWord(name)) else { return false }
    // Bytes that are not UTF-8 are characters of another charset.
    guard let text = String(validating: name, as: UTF8.self) else { return !name.contains { $0 < 0x20 || $0 == 0x7F } }
    return !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  /// Replaces a dot at the beginning by an underscore. With `-J`, a server must not choose the name of a hidden file,
  /// such as one that a shell reads when it starts.
  static func visible(_ name: [UInt8]) -> [UInt8] {
    name.first == UInt8(ascii: ".") ? [UInt8(ascii: "_")] + name.dropFirst() : name
  }

  /// The first folder of the path that does not exist; the path itself if all its folders exist.
  static func firstMissing(_ path: String) -> String {
    folders(of: path).first { access(SystemPath.of($0), F_OK) != 0 } ?? path
  }

  /// The folders that lead to the file, from the outermost to its own.
  private static func folders(of path: String) -> [String] {
    var folder = path.hasPrefix("/") ? "" : "."
    return path.split(separator: "/").dropLast().map { part in
      folder += "/\(part)"
      return folder
    }
  }

  /// Refuses an output that would have to be a folder, because it leads to another output. With `--create-dirs`, this
  /// would otherwise be found when the second of the two is opened, after the first request was sent.
  ///
  /// - Parameter others: the files that are written besides the bodies of responses.
  static func checkNesting(_ plan: SendPlan, _ others: [String]) throws(CommandError) {
    var outputs: [(path: String, parts: [Substring])] = []
    for index in plan.samples {
      guard let path = try make(plan[index])?.path, !StandardOutput.isNamed(by: path) else { continue }
      outputs.append((path, parts(of: path)))
    }
    let files = Set(outputs.map(\.parts) + others.map(parts))
    for (path, parts) in outputs {
      guard let count = (1..<max(1, parts.count)).first(where: { files.contains(Array(parts.prefix($0))) }) else {
        continue
      }
      throw CommandError(
        SendStatus.notWritten,
        "send: cannot write \(PlainText.path(path)): its folder "
          + "\(PlainText.path("/" + parts.prefix(count).joined(separator: "/"))) is also the name of an output; name another"
      )
    }
  }

  private static func parts(of path: String) -> [Substring] {
    SystemPath.absolute(path).split(separator: "/").filter { $0 != "." }
  }

  static func createFolders(of path: String) throws(CommandError) {
    for folder in folders(of: path) {
      guard mkdir(SystemPath.of(folder), 0o750) == 0 || errno == EEXIST else {
        throw CommandError(.failed, "cannot create the folder \(PlainText.path(folder)): \(SystemError.text(errno))")
      }
    }
  }
}
