import Glibc
import SluiceServer

/// `sluice echo`.
enum EchoCommand {
  static let description = CommandDescription(
    "echo", summary: "Run a server that answers each request with the request, as a document",
    details: """
      Prints its URL when it listens, and runs until SIGINT or SIGTERM. Some paths do something else:

        /status/503          that status, without a body
        /delay/250ms         the document, after that delay
        /bytes/1048576       a body of that many bytes
        /headers?name=value  the document, with these response headers
        /redirect-to?url=…   a redirect to that URL: 302, or &status=307
      """,
    options: [
      Option("port", "p", "N", "Listen on this port; 0, the default, takes any free port"),
      Option("host", nil, "ADDRESS", "Listen on this address (default 127.0.0.1)"),
    ], run: { arguments throws(CommandError) in try serve(arguments) })

  private static func serve(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let port = UInt16(try arguments.integer("port", 0...65535) ?? 0)
    let signals = try ProcessSignals()
    let server = try start(.tcp(host: arguments["host"] ?? "127.0.0.1", port: port))
    try StandardOutput.write("\(server.baseURL)\n")
    var signalled = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    while signals.received == nil { poll(&signalled, 1, -1) }
    server.stop()
    return signals.received.map { .interrupted(by: $0) } ?? .succeeded
  }

  private static func start(_ endpoint: ServerEndpoint) throws(CommandError) -> EmbeddedServer {
    let handler = EchoHandler()
    do { return try EmbeddedServer(on: endpoint) { handler.respond(to: $0) } } catch {
      throw CommandError(.failed, "\(error)")
    }
  }
}
