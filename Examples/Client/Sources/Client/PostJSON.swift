import Sluice
import SluiceJSON

/// The value that is sent as JSON.
struct Item: Encodable {
  let name: String
  let count: Int
}

/// A request whose body is a value of the program. The echo server parses it, because the request says that it is JSON.
func postJSON(_ url: HTTPURL) async throws {
  let engine = try Engine(Configuration())

  let request = Request(url: url, body: try .json(Item(name: "a", count: 2)))
  let echo = try await engine.perform(request, decoding: JSONValue.self)
  print("postJSON: \(echo["body"] ?? .null)")
  await engine.shutdown()
}
