import Sluice

/// A task that runs on a loop of the engine: its requests start and end without a thread switch.
func stayOnLoop(_ url: HTTPURL) async throws {
  var configuration = Configuration()
  configuration.transport.loops = 2
  let engine = try Engine(configuration)
  try await withThrowingTaskGroup(of: Int.self) { group in
    for executor in engine.executors {
      group.addTask(executorPreference: executor) {
        try await engine.perform(Request(method: "POST", url: url, body: .text("hello"))).status
      }
    }
    for try await status in group { print("stayOnLoop: \(status)") }
  }
  await engine.shutdown()
}
