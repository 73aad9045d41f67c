import CBareLoop
import SluiceMessages
import TransportLoad

/// The transport alone.
final class TransportSubject: BenchmarkSubject {
  let name = "transport"
  private let load: TransportLoad

  init(_ plan: Plan, processor: Int) throws {
    var headers = HeaderFields()
    for (name, value) in plan.headers { headers.append(name, value) }
    load = try TransportLoad(
      Request(url: try HTTPURL(plan.url), headers: headers), connections: plan.connections,
      certificateAuthority: plan.certificateAuthority, whenStarted: { _ = bench_pin_thread(Int32(processor)) })
  }

  func run(requests: Int) -> Int { load.run(requests: requests) }
}
