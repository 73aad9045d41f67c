public import SluicePlugin

/// Writes one JSON line for every transaction that ends.
///
/// On the loop, an event only costs a copy of the line's content; the plugin's own thread formats and writes the line.
struct AccessLog: Plugin, TransactionTracer {
  static let information = PluginInformation(
    id: "access-log", version: "1.0.0", summary: "Logs transactions as JSON lines, without secrets.")
  static let configurationDefaults: JSONValue? = AccessLogConfiguration.defaults
  static let interests: Set<TransactionEvent.Kind> = [.didComplete]

  private let configuration: AccessLogConfiguration
  private let host: PluginHost
  private let clients: HostClients?
  private let writer: LineWriter

  init(configuration: AccessLogConfiguration, host: PluginHost) throws {
    try configuration.check()
    self.configuration = configuration
    self.host = host
    clients = host.clients
    let spelling = AccessLine(redaction: configuration.redaction)
    writer = LineWriter(capacity: configuration.queueLines, output: LogOutput(path: configuration.output)) {
      spelling.bytes(of: $0)
    }
  }

  /// Not called in a trial, which must not open anything.
  func activate() throws {
    if !host.isTrial { try writer.start(complain: { [host] in host.log(.error, $0) }) }
  }

  func deactivate(timeout: Duration) {
    let unwritten = writer.stop(within: timeout)
    guard unwritten > 0 else { return }
    host.log(.warning, "\(unwritten) lines are missing: they could not be written, or not in time")
  }

  func record(_ event: borrowing TransactionEvent) {
    guard event.kind == .didComplete else { return }
    writer.submit(AccessRecord(event, configuration, clients))
  }
}

/// The entry point that the host looks for.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(AccessLog.self, host, abi, error)
}
