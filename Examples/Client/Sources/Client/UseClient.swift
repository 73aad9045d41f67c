import SluiceClient

/// The calls of a client.
func useClient(_ url: HTTPURL) async throws {
  let client = try Client()
  let (bytes, response) = try await client.data(from: url)
  print("client: \(response.status), \(bytes.count) bytes")

  let (path, _) = try await client.download(from: url)
  try await followProgress(client, url, to: path)
  print("client: \(try await client.upload(for: Request(method: "POST", url: url), fromFile: path).response.status)")

  try await readJSON(client, url)
  try await streamLines(client, url)
  try await uploadSequence(client, url)
  await client.shutdown()
}

/// Decodes the answer of the echo server, which is JSON.
func readJSON(_ client: Client, _ url: HTTPURL) async throws {
  struct Echo: Decodable, Sendable { var method: String }
  let echo = try await client.json(Echo.self, from: url)
  print("client: \(echo.method)")
}

/// Prints the lines of a response while they arrive.
func streamLines(_ client: Client, _ url: HTTPURL) async throws {
  let (bytes, response) = try await client.bytes(from: url)
  guard response.status == 200 else { return }
  for try await line in bytes.lines { print("client: \(line)") }
}

/// Sends pieces while they are produced.
func uploadSequence(_ client: Client, _ url: HTTPURL) async throws {
  let (pieces, continuation) = AsyncStream.makeStream(of: [UInt8].self)
  for number in 0..<10 { continuation.yield(Array("\(number)\n".utf8)) }
  continuation.finish()
  let (_, response) = try await client.upload(for: Request(method: "POST", url: url), from: pieces)
  print("client: \(response.status)")
}

/// Sends a form with a field and a file.
func uploadForm(_ client: Client, _ url: HTTPURL, _ path: String) async throws {
  var form = MultipartForm()
  form.append(name: "title", value: "A picture")
  try await form.append(name: "picture", fileAt: path, contentType: "image/png")
  let (_, response) = try await client.upload(for: Request(method: "POST", url: url), from: form)
  print("client: \(response.status)")
}

/// Downloads a file, and continues once if the connection breaks.
func download(_ client: Client, _ url: HTTPURL, to path: String) async throws {
  do {
    _ = try await client.download(from: url, to: path)
  } catch {
    guard let data = error.resumeData else { throw error }
    _ = try await client.download(resumeFrom: data)
  }
}
