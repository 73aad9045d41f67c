public import SluicePlugin

/// Gets only the events at the ends of hops and of transactions, and logs their facts. Also logs which calls see the
/// header `x-hop`, which is set at the issue.
struct TracesInSwift: Plugin, RequestInterceptor, IssueInterceptor, ResponseInterceptor, TransactionTracer {
  static let information = PluginInformation(id: "traces-in-swift", version: "1.0.0", summary: "A fixture.")
  static let interests: Set<TransactionEvent.Kind> = [.didEndHop, .didComplete]

  private let host: PluginHost

  init(configuration: NoConfiguration, host: PluginHost) { self.host = host }

  func intercept(_ request: StageRequest, context: RequestContext) async throws { see(request, "on_request") }

  func interceptIssue(_ request: StageRequest, context: RequestContext) throws {
    see(request, "on_issue")
    request.headers["x-hop"] = "\(context.attemptNumber).\(context.hop)"
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    see(response.request, "on_response")
  }

  func record(_ event: borrowing TransactionEvent) {
    let trace = "trace:\(event.traceID ?? "nil") span:\(event.spanID ?? "nil") parent:\(event.parentSpanID ?? "nil")"
    let end = "code:\(event.reason?.code ?? "nil") received:\(event.timings?.bytesReceived ?? 0)"
    host.log(
      .info,
      "event=kind:\(event.kind) place:\(event.attemptNumber).\(event.hop) \(trace) sampled:\(event.isSampled) \(end) "
        + "issued:\(event.request?.issuedHeader("x-hop") ?? "absent")")
  }

  private func see(_ request: StageRequest, _ call: String) {
    host.log(.info, "\(call)=\(request.issuedHeader("X-Hop") ?? "absent")")
  }
}

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(TracesInSwift.self, host, abi, error)
}
