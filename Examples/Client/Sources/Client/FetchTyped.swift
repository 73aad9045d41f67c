import Sluice

/// The answer of the echo server: the request that it received.
struct Echo: Decodable {
  let method: String
  let url: String
}

/// A response that must satisfy conditions, and is decoded into a type of the program.
func fetchTyped(_ url: HTTPURL) async throws {
  let engine = try Engine(Configuration())

  let echo = try await engine.perform(
    TypedTransaction(Request(url: url))
      .validating { response in
        guard response.status == 200 else { throw StageFailure(code: "no_echo", message: "status \(response.status)") }
      }
      .decoding(Echo.self)
      .validatingPayload { echo in
        guard echo.method == "GET" else { throw StageFailure(code: "no_get", message: "it came as \(echo.method)") }
      })
  print("typed: \(echo.method) \(echo.url)")
  await engine.shutdown()
}
