import CBareLoop
import SluiceMessages
import TransportLoad

/// A transport without an engine.
final class TransportSubject: BenchmarkSubject {
  let name: String
  private let load: TransportLoad

  init(_ name: String, _ plan: Plan, processor: Int) throws {
    self.name = name
    var headers = HeaderFields()
    for (name, value) in plan.headers { headers.append(name, value) }
    load = try TransportLoad(
      Request(url: try HTTPURL(plan.url), headers: headers), connections: plan.connections,
      usesHTTP2: plan.usesHTTP2,
      certificateAuthority: plan.certificateAuthority, whenStarted: { _ = bench_pin_thread(Int32(processor)) })
  }

  func run(requests: Int) -> Int { load.run(requests: requests) }
}
