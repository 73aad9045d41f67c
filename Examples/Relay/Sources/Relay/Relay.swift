import Sluice
import SluiceJSON
import SluiceServer
import SluiceTraceContext

/// A service that passes requests on and keeps their trace. It gets a list, and posts to each URL of the list.
///
///     [{"url": "http://127.0.0.1:7777/a", "arguments": [ … ]}, …]
///
/// `arguments` is the body of the request to `url`. The answer contains the result of each request.
struct Relay: Sendable {
  private let engine: Engine

  init() throws {
    var configuration = Configuration()
    configuration.plugins = [
      PluginConfiguration(name: "headers", source: .builtin("headers"), config: ["hosts": ["*"]])
    ]
    configuration.issue = [StageReference("headers")]
    engine = try Engine(configuration)
  }

  func respond(to request: ServerRequest) async -> ServerResponse {
    let context = TraceContext.continuing(FunctionCarrier { request.headers.values(of: $0) })
    return await TraceContext.$current.withValue(context) {
      guard let calls = try? JSONValue(parsing: request.body), calls.isArray else {
        return .text("expected a list of calls\n", status: 400)
      }
      let answers = JSONValue.array()
      for call in calls.elements { answers.append(await answer(to: call)) }
      return .text((try? answers.serializedText()) ?? "[]", type: "application/json")
    }
  }

  private func answer(to call: JSONValue) async -> JSONValue {
    do {
      let url = try HTTPURL(call["url"]?.string ?? "")
      let body = try (call["arguments"] ?? .array()).serialized()
      let response = try await engine.perform(
        Request(method: "POST", url: url, headers: ["content-type": "application/json"], body: .bytes(body)))
      return ["url": JSONValue(url.string), "status": JSONValue(Int64(response.status))]
    } catch {
      return ["error": JSONValue("\(error)")]
    }
  }
}
