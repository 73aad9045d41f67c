import CBareLoop
import Dispatch
import SluiceCurl
import SluiceLoop
import SluiceMessages
import SluicePipeline

/// The transport alone: no pipeline, an observer that does as little as it can.
final class TransportSubject: BenchmarkSubject, @unchecked Sendable {
  // Sendable: the counters are touched on the loop alone; the semaphore hands them over.
  let name = "transport"
  private let loop: Loop
  private let transport: CurlTransport
  private let request: Request
  private let connections: Int
  private var toStart = 0
  private var running = 0
  private var failed = 0
  private let done = DispatchSemaphore(value: 0)

  init(_ plan: Plan, processor: Int) throws {
    loop = try Loop()
    var settings = TransportSettings()
    settings.tls.ca = plan.certificateAuthority
    // The bare loop doesn't ask for compressed content either.
    settings.decodesContent = false
    transport = try CurlTransport(loop: loop, settings: settings)
    var headers = HeaderFields()
    for (name, value) in plan.headers { headers.append(name, value) }
    request = Request(url: try HTTPURL(plan.url), headers: headers)
    connections = plan.connections
    loop.post { _ = bench_pin_thread(Int32(processor)) }
  }

  deinit { loop.shutdown() }

  func run(requests: Int) -> Int {
    loop.post { [self] in
      toStart = requests
      failed = 0
      for _ in 0..<min(connections, requests) { startNext(Observer(self)) }
    }
    done.wait()
    return failed
  }

  private func startNext(_ observer: Observer) {
    toStart -= 1
    running += 1
    _ = transport.start(request, TransferOptions(), observer: observer)
  }

  private func didEnd(_ end: TransferEnd, _ observer: Observer) {
    running -= 1
    if end.error != nil { failed += 1 }
    if toStart > 0 { startNext(observer) } else if running == 0 { done.signal() }
  }

  private final class Observer: TransferObserver {
    private let subject: TransportSubject
    init(_ subject: TransportSubject) { self.subject = subject }

    func transferWillIssue(_ headers: inout HeaderFields) -> Bool { true }
    func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {}
    func transferDidReceiveHead(_ head: Response) -> BodyDisposition { .collect }
    func transferDidReceive(_ piece: [UInt8]) -> BodyProgress { .proceed }
    func transferDidEnd(_ end: TransferEnd) { subject.didEnd(end, self) }
  }
}
