import Glibc
import SluiceAssembly
import SluiceMessages

/// The settings that the arguments of `dev` describe.
struct DevSettings: Sendable {
  /// The absolute path of the configuration.
  let configuration: String
  /// The lines with the requests of `-i`.
  let recorded: [String]
  /// `HOST:PORT`; nil for no endpoint.
  var listen: String?
  let isJSON: Bool

  init(_ arguments: ParsedArguments) throws(CommandError) {
    guard let file = arguments["config"] else {
      throw CommandError(.usage, "dev: expected -c with a configuration\ntry \"sluice help dev\"")
    }
    guard access(file, R_OK) == 0 else {
      throw CommandError(.usage, "cannot read \(PlainText.path(file)): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CommandError(
        .usage, "dev: \(PlainText.path(file)) is not a regular file; a configuration is watched and read more than once"
      )
    }
    configuration = Paths.absolute(file)
    isJSON = arguments.has("json")
    if let listen = arguments["listen"] {
      guard ServeSettings.Listener(listen) != nil else {
        throw CommandError(
          .usage, "--listen: expected a port, or an address and a port, found \(PlainText.quote(listen))")
      }
      self.listen = listen
    }
    recorded = try arguments["input"].map { path throws(CommandError) in try Self.lines(of: path) } ?? []
  }

  private static func lines(of path: String) throws(CommandError) -> [String] {
    let input = try InputLines(path: path, limitBytes: 64 << 20)
    var lines: [String] = []
    while true {
      switch input.next() {
      case .text(let text): if !InputLines.isBlank(text) { lines.append(String(decoding: text, as: UTF8.self)) }
      case .tooLong: throw CommandError(.usage, "\(path):\(input.number): the line is longer than 64 MiB")
      case .end: return lines
      case .failure(let error): throw error
      }
    }
  }
}
