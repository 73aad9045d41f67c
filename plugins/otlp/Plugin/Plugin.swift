import OTLPRules
public import SluicePlugin
import SluiceSupport

/// Exports spans and durations to an OpenTelemetry collector, by OTLP over HTTP in JSON.
///
///     events ─► Recorder ─► spans ──────► queue ─ batches ─┐
///                   └─► durations ─► histograms ─ periods ─┴─► Collector ─► call-outs, which no stage sees
///
/// An event only costs a copy of the span's content. The documents are built on an event loop.
struct OTLP: Plugin, TransactionTracer {
  static let information = PluginInformation(
    id: "otlp", version: "1.0.0", summary: "Exports spans and durations to an OpenTelemetry collector.")
  static let configurationSchema: String? = OTLPConfiguration.schema
  static let interests: Set<TransactionEvent.Kind> = [.didEndHop, .didEndSpan, .didComplete]

  private let recorder: Recorder
  private let exporter: Exporter
  private let host: PluginHost
  private let warnings: [String]

  init(configuration: OTLPConfiguration, host: PluginHost) throws {
    self.host = host
    let settings = try configuration.settings(for: host)
    warnings = settings.warnings
    exporter = try Exporter(settings, try configuration.schedule(), configuration.signals, host)
    recorder = Recorder(settings, configuration.secrets, exporter)
  }

  /// Not called in a trial, which must not send anything.
  func activate() throws {
    guard !host.isTrial else { return }
    for warning in warnings { host.log(.warning, warning) }
    // After this call, events contain the connections of their hops.
    _ = host.connections
    exporter.start()
  }

  func deactivate(timeout: Duration) { exporter.stop(within: timeout) }

  func record(_ event: borrowing TransactionEvent) { recorder.record(event) }
}

// The features that the host must have.
@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.timers") @used let requiresTimers = true
@section(".sluice.requires.callout") @used let requiresCallout = true

/// The entry point that the host looks for.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(OTLP.self, host, abi, error)
}
