import CSluice
import SluicePipeline

/// The tables of a plugin that the pipeline calls. They are looked up once. A table that the plugin lacks has only
/// zeros.
struct PluginTables {
  var interceptor = sluice_interceptor()
  var body = sluice_body()
  var tracer = sluice_tracer()
  var notifications = sluice_notifications()
  var state = sluice_state()
  var stage = sluice_stage()
  var capabilities: StageCapabilities = []

  /// - Parameter features: the host's features; functions for other features are left out.
  init(_ generation: PluginGeneration, name: String, features: HostFeatures) throws(PluginError) {
    do {
      interceptor = try generation.interceptor() ?? interceptor
      body = try generation.body() ?? body
      tracer = try generation.tracer() ?? tracer
      notifications = try generation.notifications() ?? notifications
      state = try generation.state() ?? state
      stage = try generation.stage() ?? stage
    } catch { throw error.named(name) }
    keepOnly(features)
    try checkTurns(path: generation.path, name: name)
    capabilities = offered()
  }

  private mutating func keepOnly(_ features: HostFeatures) {
    if !features.contains(.hops) {
      interceptor.on_issue = nil
      interceptor.on_redirect = nil
      interceptor.on_challenge = nil
    }
    if !features.contains(.response) {
      interceptor.on_response = nil
      interceptor.on_failure = nil
    }
    if !features.contains(.requestBody) { interceptor.wants &= ~UInt32(SLUICE_WANTS_REQUEST_BODY) }
    if !features.contains(.responseBody) { interceptor.wants &= ~UInt32(SLUICE_WANTS_RESPONSE_BODY) }
    if !features.contains(.streamedBody) { body = sluice_body() }
    if !features.contains(.notifications) { notifications = sluice_notifications() }
  }

  /// An instance that is SERIAL and BLOCKING must not have calls that cannot suspend: a loop would have to wait until a
  /// call on the pool has returned. Calls that can suspend, or that can run later, wait without blocking the loop.
  private func checkTurns(path: String?, name: String) throws(PluginError) {
    let both = UInt32(SLUICE_FLAG_SERIAL | SLUICE_FLAG_BLOCKING)
    guard interceptor.flags & both == both else { return }
    var found: [String] = []
    if interceptor.on_issue != nil { found.append("on_issue") }
    if interceptor.on_informational != nil { found.append("on_informational") }
    if body.on_chunk != nil { found.append(SLUICE_BODY_ID) }
    if tracer.on_event != nil { found.append("on_event") }
    guard !found.isEmpty else { return }
    throw PluginError(
      .invalidTable, .plugin(name: name, path: path),
      "it is SLUICE_FLAG_SERIAL and SLUICE_FLAG_BLOCKING and has \(found.joined(separator: ", ")): an event loop would have to "
        + "wait until a blocking call has returned",
      advice:
        "its author must leave out one of the flags, or these calls; without SLUICE_FLAG_SERIAL a plugin must guard "
        + "the data that its calls share")
  }

  private func offered() -> StageCapabilities {
    var offered: StageCapabilities = []
    func add(_ capability: StageCapabilities, _ isThere: Bool) { if isThere { offered.insert(capability) } }
    add(.request, interceptor.on_request != nil)
    add(.issue, interceptor.on_issue != nil)
    add(.response, interceptor.on_response != nil)
    add(.failure, interceptor.on_failure != nil)
    add(.informational, interceptor.on_informational != nil)
    add(.redirect, interceptor.on_redirect != nil)
    add(.challenge, interceptor.on_challenge != nil)
    add(.wantsRequestBody, interceptor.wants & UInt32(SLUICE_WANTS_REQUEST_BODY) != 0)
    // A plugin with on_chunk for responses (sluice.body/1) gets the body in pieces, even if it also asks for the whole
    // body.
    let streams = body.on_chunk != nil && body.sides & UInt32(SLUICE_BODY_SIDE_RESPONSE) != 0
    add(.responsePieces, streams)
    add(.wantsResponseBody, !streams && interceptor.wants & UInt32(SLUICE_WANTS_RESPONSE_BODY) != 0)
    add(.requestPieces, body.on_chunk != nil && body.sides & UInt32(SLUICE_BODY_SIDE_REQUEST) != 0)
    add(.trace, tracer.on_event != nil)
    return offered
  }
}
