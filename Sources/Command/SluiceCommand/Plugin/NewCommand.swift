import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages

/// `sluice plugin new`.
enum NewCommand {
  static let description = CommandDescription(
    "plugin new", summary: "Create a folder with a plugin that builds at once", operands: "NAME", operandCount: 1...1,
    details: "NAME consists of lower-case letters, digits and dashes. Existing files are not overwritten.",
    options: [
      Option("lang", "l", "LANGUAGE", words: ["c", "cpp", "swift"], "c (default), cpp or swift"),
      Option("path", "p", "DIR", "Create the folder in DIR instead of the current folder"),
    ], run: { arguments throws(CommandError) in try make(arguments) })

  private static func make(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let name = try validated(arguments.operands[0])
    let language = arguments["lang"] ?? "c"
    let files: [PluginTemplate.File]
    switch language {
    case "c": files = PluginTemplate.c(name)
    case "cpp": files = PluginTemplate.cpp(name)
    case "swift": files = PluginTemplate.swift(name)
    default: throw CommandError(.usage, "--lang: expected c, cpp or swift, found \(PlainText.quote(language))")
    }
    let sdk = language == "swift" ? try PluginSDK.find() : nil
    let parent = arguments["path"] ?? "."
    guard Paths.isFolder(parent) else { throw CommandError(.usage, "--path: there is no folder \(parent)") }
    let folder = parent == "." ? name : "\(parent)/\(name)"
    try makeFolder(folder)
    for file in files { try write(file, in: folder) }
    sdk?.link(in: folder)
    try StandardOutput.write(
      """
      \(folder)
        build it:   sluice plugin build \(folder)
        test it:    make -C \(folder) test
        the code:   \(folder)/\(files[0].path)

      """)
    return .succeeded
  }

  private static func validated(_ name: String) throws(CommandError) -> String {
    guard PluginName.isValid(name) else {
      throw CommandError(
        .usage, "plugin new: \(PlainText.quote(name)) is not a valid name for a plugin: expected \(PluginName.rule)")
    }
    return name
  }

  private static func makeFolder(_ path: String) throws(CommandError) {
    guard mkdir(path, 0o755) == 0 else {
      let reason = errno == EEXIST ? "it already exists" : String(cString: strerror(errno))
      throw CommandError(.failed, "plugin new: cannot create the folder \(path): \(reason)")
    }
  }

  private static func write(_ file: PluginTemplate.File, in folder: String) throws(CommandError) {
    let path = "\(folder)/\(file.path)"
    var parent = folder
    for part in file.path.split(separator: "/").dropLast() {
      parent += "/\(part)"
      mkdir(parent, 0o755)
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw CommandError(.failed, "cannot write \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    if let number = Descriptors.write(file.text, to: descriptor) {
      throw CommandError(.failed, "cannot write \(path): \(String(cString: strerror(number)))")
    }
  }
}
