import CBareLoop
import Glibc
import TransportLoad

do {
  var plan = try Arguments.plan(CommandLine.arguments)
  let client = 0
  let server = 1
  let port = 20_000 + Int(getpid()) % 10_000
  let nginx = try Nginx(port: port, securePort: port + 10_000, processor: server, isSecure: plan.isSecure)
  plan.url = plan.isSecure ? "https://localhost:\(port + 10_000)/" : "http://127.0.0.1:\(port)/"
  if plan.isSecure { plan.certificateAuthority = nginx.authority }
  // These two subjects have more threads than one loop, so they are not confined to one processor.
  let isSpread = [[EditToLive.name], [SwapCost.name]].contains(plan.subjects)
  guard isSpread || bench_pin_thread(Int32(client)) else {
    throw BenchmarkError("cannot pin to processor \(client)")
  }
  if plan.subjects == [HeadersCost.name] {
    try HeadersCost(plan).report()
  } else if plan.subjects == [EditToLive.name] {
    try await EditToLive(plan).report()
  } else if plan.subjects == [SwapCost.name] {
    try await SwapCost(plan, processor: client).report()
  } else {
    var all: [any BenchmarkSubject] = [
      try BareSubject(plan), try TransportSubject("transport", over: .curl, plan, processor: client),
      try TransportSubject("wire", over: .wire, plan, processor: client),
      try EngineSubject(plan, plugins: plan.plugins),
    ]
    // The raw loop has no TLS.
    if !plan.isSecure { all.append(try FloorSubject(plan, port: port)) }
    let subjects = plan.subjects.isEmpty ? all : all.filter { plan.subjects.contains($0.name) }
    guard !subjects.isEmpty else {
      throw BenchmarkError(
        "no such subject; there are \(all.map(\.name).joined(separator: ", ")), and alone \(HeadersCost.name), \(SwapCost.name) or \(EditToLive.name)"
      )
    }
    print(
      "\(plan.url): \(plan.rounds) rounds of \(plan.requests) requests, \(plan.connections) at a time,"
        + " \(plan.headers.count) headers")
    try Comparison(subjects: subjects, plan: plan).run()
  }
  // nginx is kept until here, because it ends with its owner.
  withExtendedLifetime(nginx) {}
} catch {
  var message = "sluice-bench: \(error)\n"
  message.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
  exit(1)
}
