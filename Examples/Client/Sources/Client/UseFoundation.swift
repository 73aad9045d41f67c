import SluiceFoundation

/// The calls of a client, with the types of Foundation.
func useFoundation(_ text: String) async throws {
  guard let url = URL(string: text) else { throw URLError(.badURL) }
  let (data, response) = try await Client.shared.data(from: url)
  print("foundation: \(response.statusCode), \(data.count) bytes")
  try await useURLSession(url)
}

/// Existing code with a URLSession whose requests go through the client.
func useURLSession(_ url: URL) async throws {
  let configuration = URLSessionConfiguration.default
  configuration.protocolClasses = [SluiceURLProtocol.self]
  let session = URLSession(configuration: configuration)
  let (data, _) = try await session.data(from: url)
  print("foundation: \(data.count) bytes")
}
