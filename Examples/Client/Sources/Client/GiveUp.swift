import Sluice

/// Two ways to cancel: the task, or a `Cancellation` that was submitted with the request.
func giveUp(_ url: HTTPURL) async throws {
  let engine = try Engine(Configuration())
  let task = Task { await engine.transaction(Request(url: url)) }
  task.cancel()
  print("giveUp: \(await task.value.outcome)")

  let cancellation = Cancellation()
  let result = await withCheckedContinuation { continuation in
    engine.submit(Request(url: url), cancellation: cancellation) { continuation.resume(returning: $0) }
    cancellation.cancel()
  }
  print("giveUp: \(result.outcome)")
  await engine.shutdown()
}
