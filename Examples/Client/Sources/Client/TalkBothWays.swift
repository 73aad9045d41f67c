import SluiceClient

/// Sends questions and prints the answers at the same time.
func talkBothWays(_ client: Client, _ url: HTTPURL, _ questions: AsyncStream<String>) async throws {
  let request = Request(method: "POST", url: url)
  try await client.perform(
    request,
    body: { writer in
      for await question in questions { try await writer.write(question) }
    }
  ) { response, reader in
    for try await answer in reader.lines { print("client: \(answer)") }
  }
}
