public import SluicePlugin

/// Performs actions on bodies, limits and connections that the headers of the request name.
///
/// - `x-bodies: pass|upper|wait|fail`: the action for the pieces of both bodies. `wait` suspends in each call.
/// - `x-trailers: NAME`: adds to both bodies a trailer NAME whose value is the byte count, and drops the trailer
///   `x-drop`. It works only with an `x-bodies` other than `pass`.
/// - `x-limit: BYTES` sets a limit for the response body. `x-file: PATH` sets a file as the request body.
struct SwiftBodies: Plugin, RequestInterceptor, IssueInterceptor, ResponseInterceptor, BodyInterceptor,
  InformationalInterceptor
{
  static let information = PluginInformation(id: "swift-bodies", version: "1.0.0", summary: "A fixture.")

  private let host: PluginHost
  private let connections: HostConnections?

  init(configuration: NoConfiguration, host: PluginHost) {
    self.host = host
    connections = host.connections
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    request.transactionData = "kept"
    if let bytes = request.headers["x-limit"].flatMap(Int.init) { try request.lower(.responseBytes(bytes)) }
    if let path = request.headers["x-file"] { try request.setBodyFile(path) }
  }

  func interceptIssue(_ request: StageRequest, context: RequestContext) throws {
    request.headers["x-team"] = "blue"
  }

  func interceptBody(_ body: PassingBody) throws -> (any BodyTransform)? {
    host.log(.info, "body=\(body.side) \(body.context.attemptNumber).\(body.context.hop) \(body.response?.status ?? 0)")
    guard let what = body.request.headers["x-bodies"], what != "pass" else { return nil }
    return Marking(what, body.side, host, trailer: body.request.headers["x-trailers"])
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    response.headers["x-issued"] = response.request.issuedHeader("X-Team")
    response.headers["x-data"] = response.request.transactionData as? String
    guard let facts = connections?.facts(of: response.request) else { return }
    response.headers["x-connection"] = "\(facts.version == .http11) \(facts.isSecure == false) \(facts.peer?.port ?? 0)"
  }

  func interceptInformational(_ response: InformationalResponse, of request: StageRequest, context: RequestContext) {
    let fields = response.fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
    host.log(.info, "informational=\(response.status) \(fields) \(request.issuedHeader("x-team") ?? "-")")
  }

  private final class Marking: BodyTransform {
    private struct Broken: Error, CustomStringConvertible {
      let description = "the piece is broken"
    }

    private let what: String
    private let side: BodySide
    private let host: PluginHost
    private let trailer: String?
    private var count = 0

    init(_ what: String, _ side: BodySide, _ host: PluginHost, trailer: String?) {
      self.trailer = trailer
      self.what = what
      self.side = side
      self.host = host
    }

    func transform(_ piece: [UInt8]) async throws -> [UInt8] {
      count += piece.count
      if what == "wait" { try await host.task {}.value }
      if what == "fail", side == .response { throw Broken() }
      return piece.map { 0x61...0x7A ~= $0 ? $0 - 32 : $0 }
    }

    func finish() async throws -> [UInt8] {
      if what == "wait" { try await host.task {}.value }
      return Array("|\(count)".utf8)
    }

    func trailers() async throws -> [(name: String, value: String)] {
      if what == "wait" { try await host.task {}.value }
      return trailer.map { [($0, "\(count)")] } ?? []
    }

    func keepsTrailer(_ name: String, _ value: String) -> Bool { trailer == nil || name != "x-drop" }
  }
}

@section(".sluice.requires.streamed_body") @used let requiresStreamedBody = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(SwiftBodies.self, host, abi, error)
}
