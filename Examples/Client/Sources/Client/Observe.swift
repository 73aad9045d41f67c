import Sluice
import SluiceTraceContext

/// All facts about a transaction, whether it succeeded or failed.
func observe(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.addStage("tenant", StageCode(Tenant(name: "blue")))
  let engine = try Engine(configuration)

  let result = await engine.transaction(
    Request(url: url), parent: ParentContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
  switch result.error {
  case nil: print("observe: \(result.attempts) attempt, \(result.duration)")
  case let error?: print("observe: \(error.code) in \(error.stage ?? "no stage"): \(error.message)")
  }
  print("observe: \(engine.metrics().duration.count) transactions counted")
  await engine.shutdown()
}

/// The error of ``Engine/perform(_:parent:)`` also has the response, if there was one.
func status(_ engine: Engine, _ request: Request) async -> Int? {
  do {
    return try await engine.perform(request).status
  } catch {
    print("\(error.error.code): \(error)")
    return error.result.response?.status
  }
}
