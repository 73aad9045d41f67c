import Sluice
import SluiceControl

/// An engine that `sluice ctl --socket` can talk to, and a client that does.
func control(file: String, socket: String) async throws {
  let engine = try Engine(Configuration(file: file))
  let control = try ControlServer(engine, at: .path(socket))

  let client = try ControlClient(at: socket)
  let status = try await client.send("GET", "/v1/status")
  print("snapshot \(status["snapshot"]?.integer ?? 0)")

  await client.close()
  await engine.shutdown()
  control.stop()
}
