import Sluice

/// Many requests at once without a task for each: the completion is called on a loop of the engine.
func collect(_ url: HTTPURL) async throws {
  let engine = try Engine(Configuration())
  let (results, continuation) = AsyncStream.makeStream(of: TransactionResult.self)
  for _ in 0..<100 { engine.submit(Request(url: url)) { continuation.yield($0) } }

  var statuses: [Int: Int] = [:]
  for await result in results.prefix(100) { statuses[result.response?.status ?? 0, default: 0] += 1 }
  print("collect: \(statuses)")
  await engine.shutdown()
}
