import SluiceServer
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// The same words for curl and for `sluice send`: what the server gets, what is printed and what is written is the same.
/// `{url}` is the server, `{file}` a file with two lines, `{bytes}` one with all bytes, `{large}` one above 1 MiB.
@Suite(.enabled(if: CurlCommand.path != nil)) struct CurlComparisonTests {
  private static let invocations: [String] = [
    "{url}/", "{url}/a?b=c", "-X DELETE {url}/a", "--request OPTIONS {url}/", "-I {url}/", "--head {url}/",
    "-H 'X-A: 1' -H 'X-B:2' {url}/", "-H 'Accept:' {url}/", "-H 'X-Empty;' {url}/", "-H 'User-Agent:' {url}/",
    "-H 'Host: other.example' {url}/", "-H 'Content-Type: text/plain' -d a {url}/",
    "-d a=1 {url}/", "-d a=1 -d b=2 {url}/", "-d @{file} {url}/", "-d '' {url}/",
    "--data a=1 --data-raw @b {url}/", "--data-ascii a=1 {url}/", "--data-binary @{file} {url}/",
    "--data-binary @{bytes} {url}/", "--data-binary a -d b {url}/", "-d @{file} --data-binary @{file} {url}/",
    "--data-urlencode 'a b&c' {url}/", "--data-urlencode 'n=a b&c' {url}/", "--data-urlencode '=a=b' {url}/",
    "--data-urlencode @{file} {url}/", "--data-urlencode n@{file} {url}/", "--data-urlencode 'n=ü/~-._' {url}/",
    "--data-urlencode n@{bytes} {url}/", "-X PUT -d a {url}/", "-X GET -d a {url}/",
    "-G -d a=1 {url}/", "-G -d a=1 -d b=2 {url}/x?c=3", "--get --data-urlencode 'q=a b' {url}/", "-G {url}/x?c=3",
    "-G -I -d a=1 {url}/",
    "--json '{\"a\": 1}' {url}/", "--json @{file} {url}/", "--json '{\"a\":' --json '1}' {url}/",
    "--json 1 -H 'Accept: text/plain' {url}/", "--json 1 -H 'Content-Type: a/b' {url}/", "-X PATCH --json 1 {url}/",
    "-F a=1 {url}/", "-F a=1 -F b=2 {url}/", "-F 'a=x;type=text/plain' {url}/", "-F f=@{file} {url}/",
    "-F 'f=@{file};type=a/b' {url}/", "-F 'f=@{file};filename=x.txt' {url}/", "-F f=@{bytes} -F a=1 {url}/",
    "-F 'f=@{file};filename=\"a;b.png\";type=image/png' {url}/", "-F 'a=<{file}' {url}/",
    "--form-string 'a=@b;c' {url}/",
    "-F 'f=@{file};type=text/html;charset=utf-8' {url}/", "-F 'a=\"x;y\"' {url}/", "--form a=ü {url}/",
    "-F 'a=1;filename=n' {url}/",
    "-T {file} {url}/x", "-T {file} {url}/up/", "--upload-file {bytes} {url}/x", "-X POST -T {file} {url}/x",
    "-T {large} {url}/x", "--data-binary @{large} {url}/x",
    "-A me/1 {url}/", "--user-agent '' {url}/", "-e http://r.example/ {url}/", "--referer x {url}/",
    "-b a=1 {url}/", "--cookie 'a=1; b=2' {url}/", "-r 0-9 {url}/", "--range -5 {url}/", "-r 5- {url}/",
    "--oauth2-bearer t0ken {url}/", "-u me:pw {url}/", "--user 'me:p:w' {url}/", "--anyauth -u me:pw {url}/",
    "--url {url}/x", "-L {url}/redirect", "-L -d a=1 {url}/redirect", "-L {url}/permanent", "-L -d a=1 {url}/permanent",
    "--max-redirs 5 {url}/redirect",
    "-s {url}/", "-sS {url}/", "-o out {url}/", "--output out {url}/a", "-O {url}/name.txt", "-O '{url}/a/b?c=d'",
    "--output-dir d --create-dirs -o x {url}/", "--create-dirs -o d/e/x {url}/",
    "-O --output-dir d --create-dirs {url}/y",
    "-w '%{http_code}' {url}/", "-w '%{http_code}\\n%{content_type}\\n' -o out {url}/",
    "-w '%{url_effective}' {url}/a?b",
    "-w '%{num_redirects} %{method} %{scheme}' -L {url}/redirect", "-w '%header{x-mark}%%\\t%{size_download}' {url}/",
    "-w '%{remote_ip} %{http_version} %{exitcode}' {url}/status/404",
    "-w '%{onerror}bad %{http_code}' {url}/status/500",
    "-f {url}/status/404", "--fail {url}/status/200", "--fail-with-body {url}/status/500", "{url}/status/404",
    "-f -o out {url}/status/404", "--unix-socket {socket} http://host.example/u", "-m 30 {url}/",
    "--max-time 30 {url}/",
    "--connect-timeout 5 {url}/", "--http1.1 {url}/", "--retry 0 {url}/", "--compressed {url}/gzip", "-k {url}/",
    "--http2-prior-knowledge -h", "-x '' {url}/", "--no-location {url}/redirect",
  ]

  /// What one of the two did.
  private struct Outcome: Equatable {
    var requests: [String]
    var output: String
    var files: [String: [UInt8]]
    var status: Int32
  }

  @Test(arguments: invocations.filter { !$0.contains(" -h") })
  func `curl and send do the same`(_ words: String) async throws {
    let curl = try await run(words) { "\(CurlCommand.path ?? "curl") -L --compressed --fail-with-body \($0)" }
    let send = try await run(words) { "\(Tool.path) send \($0)" }
    #expect(send == curl, "\(words)")
  }

  private func run(_ words: String, _ command: (String) -> String) async throws -> Outcome {
    let folder = try TemporaryDirectory()
    let work = try TemporaryDirectory()
    let place = try TemporaryDirectory()
    let server = try LoopbackServer(handler: Self.answer)
    defer { server.stop() }
    let requests = Watched<[ServerRequest]>([])
    let local = try EmbeddedServer(on: .unix(path: place.path("s"))) { request in
      requests.update { $0.append(request) }
      return .text("unix\n")
    }
    defer { local.stop() }
    let values = [
      "url": server.baseURL, "file": try folder.write("line 1\nline=2\r\n", to: "file.txt"),
      "bytes": try folder.write((0...255).map { UInt8($0) }, to: "bytes.bin"),
      "large": try folder.write([UInt8](repeating: 65, count: (1 << 20) + 1), to: "large"), "socket": place.path("s"),
    ]
    var text = words
    for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
    // What only one of them does by itself, or spells in its own way.
    var line = command(text)
    if line.contains(" -f") || line.contains("--fail ") { line = line.replacing(" --fail-with-body ", with: " ") }
    if line.contains("curl"), line.contains("--no-location") {
      line = line.replacing(" -L ", with: " ").replacing("--no-location", with: "")
    }
    let result = try await Command.run(
      "sh", ["-c", "cd \(work.path) && exec \(line)"], environment: Tool.cleared.merging(["HOME": work.path]) { $1 })
    return Outcome(
      requests: (server.requests + requests.value).map {
        CurlCommand.comparable($0).replacing(server.baseURL.dropFirst(7), with: "{host}")
      },
      output: result.outputText.replacing(server.baseURL, with: "{url}").replacing(/Date: [^\r]*/, with: "Date:"),
      files: try Self.files(in: work.path),
      status: result.status)
  }

  /// The content of each file in a folder and below, by its path from there.
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

  private static let answer: @Sendable (ServerRequest) -> ServerResponse = { request in
    switch request.path {
    case "/redirect": ServerResponse(status: 302, headers: [HeaderLine("Location", "/target")])
    case "/permanent": ServerResponse(status: 308, headers: [HeaderLine("Location", "/target")])
    case let path where path.hasPrefix("/status/"):
      ServerResponse(status: Int(path.dropFirst(8)) ?? 500, body: .bytes(Array("an answer\n".utf8)))
    default:
      ServerResponse(
        headers: [HeaderLine("Content-Type", "text/plain"), HeaderLine("X-Mark", "m")],
        body: .bytes(Array("answer to \(request.method) \(request.target)\n".utf8)))
    }
  }
}
