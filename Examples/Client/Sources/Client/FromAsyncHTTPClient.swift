import SluiceClient

/// A client with the defaults of `HTTPClient.Configuration()`.
func clientLikeAsyncHTTPClient() throws -> Client {
  var configuration = Configuration()
  configuration.deadline = nil
  configuration.transport.timeout = .seconds(7 * 86_400)
  configuration.transport.connectTimeout = .seconds(10)
  configuration.transport.maximumConnectionsPerHost = 8
  configuration.transport.decodesContent = false
  configuration.transport.proxy = ""
  configuration.redirects.maximum = 5
  configuration.retry.connectionErrors = .always
  return try Client(configuration)
}

/// A body in memory, with a limit for the whole call.
func collectBody(_ client: Client, _ url: HTTPURL) async throws -> [UInt8] {
  var request = Request(url: url)
  request.headers["accept"] = "application/json"
  request.timeout = .seconds(30)
  let (bytes, response) = try await client.data(for: request)
  return response.status == 200 ? bytes : []
}

/// A body while it arrives. `bytes` is a sequence of bytes, and `bytes.chunks` is a sequence of arrays of bytes.
func countBody(_ client: Client, _ url: HTTPURL) async throws -> Int {
  let (bytes, _) = try await client.bytes(from: url)
  var count = 0
  for try await chunk in bytes.chunks { count += chunk.count }
  return count
}

/// A body whose size is known, but which is produced while it is sent.
func sendPieces(_ client: Client, _ url: HTTPURL) async throws -> Int {
  let pieces = AsyncStream<[UInt8]> { continuation in
    for number in 0..<10 { continuation.yield(Array("\(number)\n".utf8)) }
    continuation.finish()
  }
  let request = Request(method: "PUT", url: url, headers: ["content-type": "text/plain"])
  return try await client.upload(for: request, from: pieces, byteCount: 20).response.status
}

func fromAsyncHTTPClient(_ url: HTTPURL) async throws {
  let client = try clientLikeAsyncHTTPClient()
  print("fromAsyncHTTPClient: \(try await collectBody(client, url).isEmpty ? "empty" : "a body")")
  print("fromAsyncHTTPClient: \(try await countBody(client, url) > 0), \(try await sendPieces(client, url))")
  await client.shutdown()
}
