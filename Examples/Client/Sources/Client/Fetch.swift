import Sluice

/// An engine with two closures as stages, and one request.
func fetch(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.addStage(
    "attempts",
    StageCode(
      request: { request, context in
        request.headers["x-attempt"] = String(context.attemptNumber)
      },
      response: { response, context in
        if response.status == 503, context.attemptNumber == 0 { throw RetryRequestError(after: .milliseconds(50)) }
      }))
  let engine = try Engine(configuration)

  let response = try await engine.perform(Request(url: url, headers: ["accept": "application/json"]))
  print("fetch: \(response.status), \(response.body.byteCount ?? 0) bytes")
  await engine.shutdown()
}
