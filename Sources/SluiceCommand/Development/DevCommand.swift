import Glibc

/// `sluice dev`.
enum DevCommand {
  static let description = CommandDescription(
    "dev", summary: "Run a pipeline while its plugins are written: watch, build, swap, restart",
    details: """
      Watches the configuration, the libraries of its plugins, and the sources of those that say how they are built ("build" in
      the configuration). What changes is built, tried out and swapped in while requests flow; what cannot be used is refused,
      and what served goes on. The engine runs in a process of its own: where a plugin crashes, it is started again with the
      builds that served before, and the bad one is refused.
      Lines typed on standard input are sent: a URL, a method and a URL, or a request document. A relative URL starts from
      transport.baseURL. SIGINT and SIGTERM end it; a second one at once.
      """,
    options: [
      Option("config", "c", "FILE", "The configuration of the pipeline; required"),
      Option("input", "i", "FILE", "Send these request documents, one a line, at the start"),
      Option(
        "listen", nil, "[HOST:]PORT", "Take requests here, send them to transport.baseURL, and answer with the response"
      ),
      Option("json", nil, nil, "Print an event a line as a JSON document"),
    ], run: { arguments throws(CommandError) in try run(arguments) })

  private static func run(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let settings = try DevSettings(arguments)
    // In the background of a shell, reading the terminal is an error and no reason to stop.
    signal(SIGTTIN, SIG_IGN)
    let interruption = try Interruption()
    Waiting.startPool()
    let session = try DevSession(settings)
    interruption.onSignal { [mailbox = session.mailbox] in
      if let signal = interruption.received { mailbox.put(.interrupted(signal)) }
    }
    return try session.run()
  }
}
