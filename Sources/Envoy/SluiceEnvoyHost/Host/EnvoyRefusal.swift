/// Why the module refuses a configuration or a plan.
struct EnvoyRefusal: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
