import Glibc
package import SluicePlugin

/// Uses the host's tables from Swift, and reports the results in attributes of the transaction and in log records. It has
/// no entry point, so that a library and a program can use it unchanged.
package struct TablesStage: StageConfigurable, RequestInterceptor, ResponseInterceptor, TransactionTracer {
  package struct StageConfiguration: Decodable, Sendable {
    var name: String
    var count: Int
  }

  package static let information = PluginInformation(
    id: "tables-in-swift", version: "1.0.0", summary: "Uses the host's tables.")
  package static let interests: Set<TransactionEvent.Kind> = [.didComplete]

  package static let stageConfigurationDefaults: JSONValue? = ["count": 1]

  let host: PluginHost
  let hosts: HostList
  let badHosts: String

  package init(configuration: NoConfiguration, host: PluginHost) throws {
    self.host = host
    hosts = try host.hostList(["api.example.com", "*.EXAMPLE.org:8443", "https://bücher.example"], named: "hosts")
    var reason = "none"
    do { _ = try host.hostList(["a.example", "b c"], named: "others") } catch { reason = error.message }
    badHosts = reason
  }

  package func checkStage(_ configuration: StageConfiguration) throws {
    guard configuration.count > 0 else { throw StageFailure(message: "count: expected a number above 0") }
  }

  package func intercept(_ request: StageRequest, context: RequestContext) async throws {
    if let place = context.stageConfiguration(of: Self.self) {
      try await host.sleep(for: .milliseconds(1))
      let again = context.stageConfiguration(of: Self.self)
      context.attributes["place"] = .text("\(place.name) \(place.count) \(again?.name ?? "none")")
    }
    switch context.path {
    case "/attributes": try await setAttributes(context)
    case "/invalid": context.attributes["no name"] = 1
    case "/too-many": try fill(context)
    case "/log": try await log(request, context)
    case "/work": try await work(request, context)
    case "/shared": try await share(context)
    case "/hosts": matchHosts(request, context)
    case "/want-response": request.wantBody(of: .response)
    case "/want-request": wantRequest(request, context)
    case "/stream": stream(request)
    case "/stream-announced": request.respond(status: 200).writeBody(byteCount: 5) { try await $0.write([1, 2, 3]) }
    case "/stream-fails":
      request.respond(status: 200).writeBody { writer in
        try await writer.write([1])
        throw StageFailure(code: "broken", message: "the source broke")
      }
    case "/stream-waits": streamForever(request)
    case "/stream-negative": request.respond(status: 200).writeBody(byteCount: -1) { _ in }
    case "/stream-child": streamInChild(request)
    default: break
    }
  }

  package func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    switch context.path {
    case "/attributes": break
    case "/want-response", "/no-wish": return context.attributes["body"] = .integer(Int64(response.body?.count ?? -1))
    case "/replace": return response.writeBody { try await $0.write(Array("replaced".utf8)) }
    default: return
    }
    context.attributes["names"] = .text(context.attributes.names.joined(separator: " "))
    if context.attemptNumber == 0 { throw RetryRequestError() }
  }

  package func record(_ event: borrowing TransactionEvent) {
    guard let attributes = event.attributes else { return host.log(.info, "tracer=none") }
    let route = attributes["http.route"]
    host.log(.info, "tracer=\(attributes.names.count)", ["route": route ?? "none"])
    // The host refuses this call, and counts a violation.
    let wasSet = try? attributes.set("late", true)
    host.log(.info, "late=\(wasSet.map { "\($0)" } ?? "refused")")
  }

  private func setAttributes(_ context: RequestContext) async throws {
    let attributes = context.attributes
    attributes["http.route"] = "/items/{id}"
    attributes["tries"] = .integer(Int64(context.attemptNumber + 1))
    // After this suspension, it is still the same call, so it can set attributes.
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

  private func work(_ request: StageRequest, _ context: RequestContext) async throws {
    let loop = pthread_self()
    let isElsewhere = try await host.work(onBehalfOf: request) { pthread_equal(loop, pthread_self()) == 0 }
    context.attributes["work.elsewhere"] = .bool(isElsewhere)
    context.attributes["work.back"] = .bool(pthread_equal(loop, pthread_self()) != 0)
    do {
      try await host.work { throw StageFailure(message: "thrown") }
    } catch { context.attributes["work.error"] = .text("\(error)") }
    let values = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<20 { group.addTask { try await host.work { number } } }
      return try await group.reduce(0, +)
    }
    context.attributes["work.sum"] = .integer(Int64(values))
  }

  private func share(_ context: RequestContext) async throws {
    let attributes = context.attributes
    func tell(_ name: String, _ value: AttributeValue) { attributes["shared.\(name)"] = value }
    let before = host.shared["value"]
    tell("before", .bool(before == nil))
    let version = try host.shared.set("value", to: [1, 2, 3])
    tell("read", .bool(host.shared["value"].map { $0.bytes == [1, 2, 3] && $0.version == version } ?? false))
    let stale = try host.shared.exchange("value", expected: version - 1, desired: [])
    tell("stale", .bool(stale == .differs(version: version)))
    let present = try host.shared.exchange("value", expected: nil, desired: [])
    tell("present", .bool(present == .differs(version: version)))
    guard case .exchanged(let next) = try host.shared.exchange("value", expected: version, desired: [4]) else { return }
    tell("greater", .bool(next > version))
    tell("kept", .bool(!host.shared.remove("value", version: version)))
    tell("removed", .bool(host.shared.remove("value") && !host.shared.remove("value")))
    let absent = try host.shared.exchange("value", expected: next, desired: [])
    tell("absent", .bool(absent == .differs(version: nil)))
    try host.shared.set("short", to: [1], for: .nanoseconds(1))
    try await host.sleep(for: .milliseconds(1))
    tell("expired", .bool(host.shared["short"] == nil))
    do { try host.shared.set("", to: []) } catch { tell("no-name", .text(error.code.rawValue)) }
    do { try host.shared.set("large", to: Array(repeating: 0, count: 2 << 20)) } catch {
      tell("large", .text(error.code.rawValue))
    }
    let largest = [UInt8](repeating: 7, count: 1 << 20)
    try host.shared.set("largest", to: largest)
    tell("largest", .bool(host.shared["largest"]?.bytes == largest))
  }

  /// The host compares the URL with the list. For a request that is kept after its call, it reports no match.
  private func matchHosts(_ request: StageRequest, _ context: RequestContext) {
    let original = request.url
    var found: [String] = []
    for url in [
      "http://api.example.com/", "http://API.example.com:81/", "http://api.example.com.evil.example/",
      "https://a.example.org:8443/", "https://a.example.org/", "https://xn--bcher-kva.example/x",
      "http://xn--bcher-kva.example/", "http://api.example.com@evil.example/",
    ] {
      request.url = url
      found.append(hosts.contains(request) ? "yes" : "no")
    }
    request.url = original
    context.attributes["hosts"] = .text(found.joined(separator: " "))
    context.attributes["hosts.error"] = .text(badHosts)
  }

  private func wantRequest(_ request: StageRequest, _ context: RequestContext) {
    let length = request.body.map { "\($0.count)" } ?? "none"
    let before = context.attributes["calls"] ?? ""
    context.attributes["calls"] = .text("\(before)\(length) ")
    request.wantBody(of: .request)
  }

  /// Writes more bytes than the host buffers, so that the writer must wait for the reader.
  private func stream(_ request: StageRequest) {
    let response = request.respond(status: 203)
    response.headers["x-kind"] = "streamed"
    response.writeBody { [host] writer in
      for number in 0..<40 {
        try await writer.write([UInt8](repeating: UInt8(65 + number), count: 100_000))
        if number == 20 { try await host.sleep(for: .milliseconds(1)) }
      }
      try await writer.write([])
    }
  }

  private func streamForever(_ request: StageRequest) {
    request.respond(status: 200).writeBody { [host] writer in
      do {
        while true { try await writer.write([UInt8](repeating: 0, count: 1 << 20)) }
      } catch {
        host.log(.info, "stream=\(error is CancellationError) \(Task.isCancelled)")
        throw error
      }
    }
  }

  /// A child task that waits for a reader is cancelled by its sibling.
  private func streamInChild(_ request: StageRequest) {
    request.respond(status: 200).writeBody { [host] writer in
      let isCancelled = try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          do {
            while true { try await writer.write([UInt8](repeating: 0, count: 1 << 20)) }
          } catch { return error is CancellationError }
        }
        try await host.sleep(for: .milliseconds(1))
        group.cancelAll()
        return try await group.next() ?? false
      }
      host.log(.info, "child=\(isCancelled) \(Task.isCancelled)")
    }
  }

  private func log(_ request: StageRequest, _ context: RequestContext) async throws {
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
