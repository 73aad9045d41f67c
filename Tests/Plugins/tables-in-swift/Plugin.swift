public import SluicePlugin

/// Uses the host's tables from Swift, and tells what came of it in attributes of the transaction and in log records.
struct TablesInSwift: Plugin, RequestInterceptor, ResponseInterceptor, TransactionTracer {
  static let information = PluginInformation(
    id: "tables-in-swift", version: "1.0.0", summary: "Uses the host's tables.")
  static let interests: Set<TransactionEvent.Kind> = [.didComplete]

  let host: PluginHost

  init(configuration: NoConfiguration, host: PluginHost) { self.host = host }

  func intercept(_ request: Request, context: RequestContext) async throws {
    switch context.path {
    case "/attributes": try await setAttributes(context)
    case "/invalid": context.attributes["no name"] = 1
    case "/too-many": try fill(context)
    case "/log": try await log(request, context)
    default: break
    }
  }

  func intercept(_ response: Response, context: ResponseContext) async throws {
    guard context.path == "/attributes" else { return }
    context.attributes["names"] = .text(context.attributes.names.joined(separator: " "))
    if context.attemptNumber == 0 { throw RetryRequestError() }
  }

  func record(_ event: borrowing TransactionEvent) {
    guard let attributes = event.attributes else { return host.log(.info, "tracer=none") }
    let route = attributes["http.route"]
    host.log(.info, "tracer=\(attributes.names.count)", ["route": route ?? "none"])
    // Refused, and counted as a violation.
    let wasSet = try? attributes.set("late", true)
    host.log(.info, "late=\(wasSet.map { "\($0)" } ?? "refused")")
  }

  private func setAttributes(_ context: RequestContext) async throws {
    let attributes = context.attributes
    attributes["http.route"] = "/items/{id}"
    attributes["tries"] = .integer(Int64(context.attemptNumber + 1))
    // Still the same call after it was suspended.
    try await host.sleep(for: .milliseconds(1))
    attributes["share"] = 0.25
    attributes["is-new"] = true
    try attributes.set("user.id", "s3cret", isSensitive: true)
    attributes["removed"] = "x"
    attributes["removed"] = nil
    attributes["never"] = nil
    attributes["read"] = attributes["tries"]
    attributes["is-secret"] = .bool(attributes.isSensitive("user.id") && !attributes.isSensitive("share"))
  }

  private func fill(_ context: RequestContext) throws {
    var count = 0
    while try context.attributes.set("a\(count)", .integer(Int64(count))) { count += 1 }
    host.log(.info, "room=\(count)")
  }

  private func log(_ request: Request, _ context: RequestContext) async throws {
    context.attributes["http.route"] = "/log"
    var evaluated = 0
    func message(_ text: String) -> String {
      evaluated += 1
      return text
    }
    host.log(.debug, message("debug"))
    host.log(.warning, message("with attributes"), ["text": "a\nb", "integer": -1, "number": 1.5, "bool": false])
    host.log(.warning, message("about"), ["http.status": 503], about: request)
    host.log(.warning, message("invalid"), ["no name": 1])
    host.log(.info, "evaluated=\(evaluated)")
    host.log(.info, "logged=\(host.isLogged(.debug)) \(host.isLogged(.info))")
  }
}

@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(TablesInSwift.self, host, abi, error)
}
