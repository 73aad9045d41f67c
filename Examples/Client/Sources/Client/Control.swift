import Sluice
import SluiceControl

/// An engine with a control socket for `sluice ctl --socket`, and a client of that socket.
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
