import Glibc

/// `sluice dev`.
enum DevCommand {
  static let description = CommandDescription(
    "dev", summary: "Run a pipeline while its plugins are written: watch, build, swap, restart",
    details: """
      Watches the configuration, the libraries of its plugins, and the sources of plugins with a "build" in the
      configuration. A changed plugin is built, tried out and swapped in while requests flow. An unusable build is refused,
      and the previous one continues to serve. The engine runs in a separate process: when a plugin crashes, the engine is
      started again with the builds that served before, and the bad build is refused.
      Lines on standard input are sent: a URL, a method and a URL, or a request document. A relative URL is resolved against
      transport.baseURL. SIGINT and SIGTERM end the session; a second signal ends it at once.
      """,
    options: [
      Option("config", "c", "FILE", "The configuration of the pipeline; required"),
      Option("input", "i", "FILE", "Send these request documents, one on each line, at the start"),
      Option(
        "listen", nil, "[HOST:]PORT",
        "Accept requests here, send them to transport.baseURL, and answer with the response"),
      Option("json", nil, nil, "Print each event as a JSON document on one line"),
    ], run: { arguments throws(CommandError) in try run(arguments) })

  private static func run(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let settings = try DevSettings(arguments)
    // A background job of a shell gets this signal when it reads from the terminal. By default, the signal stops the
    // process. If the signal is ignored, only the read fails.
    signal(SIGTTIN, SIG_IGN)
    let signals = try ProcessSignals()
    try TaskPool.start()
    let session = try DevSession(settings)
    signals.onSignal { [mailbox = session.mailbox] in
      if let signal = signals.received { mailbox.put(.interrupted(signal)) }
    }
    return try session.run()
  }
}
