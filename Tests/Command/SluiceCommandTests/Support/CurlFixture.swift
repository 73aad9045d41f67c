import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A server, and folders with files, for one run of curl or of `send`.
final class CurlFixture {
  private let folder: TemporaryDirectory
  private let work: TemporaryDirectory
  private let server: LoopbackServer
  private let local: EmbeddedServer
  private let localRequests: Watched<[ServerRequest]>
  private let port: String
  private var values: [String: String] = [:]

  init() throws {
    folder = try TemporaryDirectory()
    work = try TemporaryDirectory()
    let answers = CurlAnswers()
    server = try LoopbackServer { answers.answer($0) }
    let requests = Watched<[ServerRequest]>([])
    localRequests = requests
    local = try EmbeddedServer(on: .unix(path: folder.path("s"))) { request in
      requests.update { $0.append(request) }
      return .text("unix\n")
    }
    port = String(server.baseURL.split(separator: ":").last ?? "")
    try writeFiles()
  }

  deinit {
    server.stop()
    local.stop()
  }

  private func writeFiles() throws {
    let passwords = "machine 127.0.0.1 login me password \"p w\"\ndefault login other password o\n"
    // This time is only 30 days away, so no limit of a cookie's lifetime shortens it.
    let expires = (time(nil) / 86_400 + 30) * 86_400
    let cookies = """
      # Netscape HTTP Cookie File
      127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\ts
      127.0.0.1\tFALSE\t/\tFALSE\t\(expires)\tkept\tk
      .example.com\tTRUE\t/\tFALSE\t\(expires)\tother\to

      """
    let options = "# options\nheader = \"X-File: \\\"1\\\"\"\n-A agent\n--request PUT\ndata=a=1\n\nsilent\n"
    values = [
      "url": server.baseURL, "host": "127.0.0.1:\(port)", "port": port, "socket": folder.path("s"),
      "file": try folder.write("line 1\nline=2\r\n", to: "file.txt"),
      "bytes": try folder.write((0...255).map { UInt8($0) }, to: "bytes.bin"),
      "large": try folder.write([UInt8](repeating: 65, count: (1 << 20) + 1), to: "large"),
      "jar": try folder.write(cookies, to: "jar.txt"), "netrc": try folder.write(passwords, to: "netrc"),
      "bare": try folder.write("machine 127.0.0.1\n", to: "bare"),
      "secret": try folder.write("machine 127.0.0.1 password p\n", to: "secret"),
      "headers": try folder.write("X-A: 1\n\nAccept:\nX-B: 2\r\n", to: "headers"),
      "format": try folder.write("%{http_code}\\n\n", to: "format"),
      "options": try folder.write(options, to: "options"),
    ]
    try work.write(passwords.replacing("p w", with: "home"), to: ".netrc")
    try work.write("answe", to: "part.txt")
    try work.write("slash\n", to: "old\\slash")
    try work.write("old\n", to: "old.txt")
  }

  /// What one run of curl or `send` did.
  struct Outcome: Equatable {
    var requests: [String]
    var output: String
    /// The contents of the files in the working folder, by path.
    var files: [String: String]
    var status: Int32
  }

  /// - Parameters:
  ///   - command: the command, in shell syntax.
  ///   - words: its arguments, in shell syntax. A name in braces is replaced by its value.
  private func perform(_ command: String, _ words: String) async throws -> CommandResult {
    var text = words
    for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
    return try await Command.run(
      "sh", ["-c", "cd \(work.path) && exec \(command) \(text)"],
      environment: Tool.cleared.merging(["HOME": work.path]) { $1 })
  }

  /// Runs the command, and returns all requests that the server has got so far. The command's requests come last.
  func received(_ command: String, _ words: String) async throws -> [ServerRequest] {
    let result = try await perform(command, words)
    guard result.status == 0 else { throw TestKitError("\(command) \(words): \(result.errorText)") }
    return server.requests
  }

  func run(_ command: String, _ words: String) async throws -> Outcome {
    let result = try await perform(command, words)
    let requests = (server.requests + localRequests.value).map { plain(CurlCommand.comparable($0)) }
    // Curl writes the cookies of a jar in an order that differs from Sluice's, so the lines are sorted.
    let isJar = words.contains("--cookie-jar")
    func ordered(_ text: String) -> String {
      isJar ? text.split(separator: "\n").sorted().joined(separator: "\n") : text
    }
    return Outcome(
      requests: words.contains("-Z ") || words.contains("--parallel ") ? requests.sorted() : requests,
      output: ordered(plain(result.outputText)),
      files: try Self.files(in: work.path).mapValues { ordered(plain(String(decoding: $0, as: UTF8.self))) },
      status: result.status)
  }

  /// Returns the text without comments, and without parts that differ from run to run.
  private func plain(_ text: String) -> String {
    text.replacing(server.baseURL, with: "{url}").replacing("127.0.0.1:\(port)", with: "{host}")
      .replacing(":\(port)", with: ":{port}").replacing(/Date: [^\r]*/, with: "Date:")
      .replacing(/(?m)^# .*\n/, with: "").replacing(", algorithm=MD5", with: "")
  }

  /// Returns the content of each file in a folder and its subfolders, by relative path.
  private static func files(in folder: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in FileTree.names(in: folder) {
      let path = "\(folder)/\(name)"
      guard FileTree.exists("\(path)/.") else {
        files[name] = try FileTree.read(path)
        continue
      }
      for (below, content) in try Self.files(in: path) { files["\(name)/\(below)"] = content }
    }
    return files
  }
}
