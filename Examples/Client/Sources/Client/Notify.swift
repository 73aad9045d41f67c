import Sluice

/// A message to the plugins, or to the program if no plugin takes it.
func notify() async throws {
  let engine = try Engine(Configuration())

  engine.setNotificationHandler { topic, payload in
    topic == "greeting" ? .newData : nil
  }
  let result = await engine.notify(topic: "greeting", payload: ["name": "a"], deadline: .seconds(5))
  print("notify: \(result.outcome) after \(result.duration)")
  await engine.shutdown()
}
