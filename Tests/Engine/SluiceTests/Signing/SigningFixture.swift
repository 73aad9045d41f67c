import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A server, and an engine with the shipped plugin aws-sigv4 at the end of the lists.
final class SigningFixture: Sendable {
  static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

  let server: LoopbackServer
  let engine: Engine
  let log = Watched<[String]>([])

  /// - Parameters:
  ///   - config: members that replace those of the plugin's configuration; null removes a member.
  ///   - lists: the lists in which the plugin is.
  ///   - change: changes the configuration before the plugin is added to it.
  init(
    config: JSONValue = [:], lists: [String] = ["request", "issue"],
    answer: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("ok") },
    change: (inout Configuration) -> Void = { _ in }
  ) throws {
    server = try LoopbackServer(handler: answer)
    let text =
      #"{"plugins": {"sign": \#(try Self.plugin(config))}, "deadline": "10m", "transport": {"timeout": "10m"}}"#
    var configuration = try Configuration(text: Array(text.utf8))
    change(&configuration)
    if lists.contains("request") { configuration.request.append(StageReference("sign")) }
    if lists.contains("issue") { configuration.issue.append(StageReference("sign")) }
    engine = try Engine(configuration) { [log] line in log.update { $0.append(line.message) } }
  }

  /// The plugin as a member of `plugins`.
  static func plugin(_ config: JSONValue = [:]) throws -> String {
    let settings: JSONValue = [
      "accessKeyID": "AKIDEXAMPLE", "secretAccessKey": JSONValue(secret), "region": "eu-west-1",
      "service": "execute-api", "hosts": ["127.0.0.1"],
    ]
    for (key, value) in config.members { settings[key] = value.isNull ? nil : value }
    return #"{"library": "\#(BuiltProducts.library("aws-sigv4"))", "config": \#(try settings.serializedText())}"#
  }

  func send(_ path: String = "/", _ change: (inout Request) -> Void = { _ in }) async throws -> TransactionResult {
    var request = Request(url: try HTTPURL(server.baseURL + path))
    change(&request)
    return await engine.transaction(request)
  }

  /// What a server says about each request that has arrived.
  func verdicts(_ server: LoopbackServer? = nil) async throws -> [String] {
    var verdicts: [String] = []
    for request in (server ?? self.server).requests {
      verdicts.append(try await SignatureVerifier.verdict(on: request, secret: Self.secret))
    }
    return verdicts
  }

  func stop() async {
    await engine.shutdown(drain: .zero)
    server.stop()
  }
}

extension ServerRequest {
  /// The names of the headers that a signature adds.
  var signatureFields: [String] {
    headers.map { $0.name.lowercased() }.filter { $0 == "authorization" || $0.hasPrefix("x-amz-") }.sorted()
  }
}
