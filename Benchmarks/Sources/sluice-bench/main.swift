import CBareLoop
import Glibc

do {
  var plan = try Arguments.plan(CommandLine.arguments)
  let client = 0
  let server = 1
  let port = 20_000 + Int(getpid()) % 10_000
  let nginx = try Nginx(
    port: port, securePort: port + 10_000, processor: server, isSecure: plan.isSecure,
    streams: plan.streams ?? max(256, plan.connections))
  plan.port = plan.isSecure ? port + 10_000 : port
  plan.url = plan.isSecure ? "https://localhost:\(plan.port)/" : "http://127.0.0.1:\(plan.port)/"
  if plan.isSecure { plan.certificateAuthority = nginx.authority }
  // These subjects need other threads besides that of the loop, so the process is not confined to one processor.
  let isSpread = [[EditToLive.name], [SwapCost.name], [MemoryCost.name]].contains(plan.subjects)
  guard isSpread || bench_pin_thread(Int32(client)) else {
    throw BenchmarkError("cannot pin to processor \(client)")
  }
  if plan.subjects == [HeadersCost.name] {
    try HeadersCost(plan).report()
  } else if plan.subjects == [EditToLive.name] {
    try await EditToLive(plan).report()
  } else if plan.subjects == [SwapCost.name] {
    try await SwapCost(plan, processor: client).report()
  } else if plan.subjects == [MemoryCost.name] {
    try await MemoryCost(plan).report()
  } else {
    let subjects = try Subjects.make(plan, processor: client)
    print(
      "\(plan.url): \(plan.rounds) rounds of \(plan.requests) requests, \(plan.connections) at a time,"
        + " \(plan.headers.count) headers, HTTP/\(plan.usesHTTP2 ? "2" : "1.1")")
    try Comparison(subjects, plan).run()
  }
  // Keeps nginx running until here, because it ends when its object is released.
  withExtendedLifetime(nginx) {}
} catch {
  var message = "sluice-bench: \(error)\n"
  message.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
  exit(1)
}
