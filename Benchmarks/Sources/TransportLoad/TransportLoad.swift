import Dispatch
import SluiceLoop
public import SluiceMessages
import SluicePipeline
import SluiceTransport

/// Sends requests through the transport alone: there is no pipeline, and the observer does as little as possible. It
/// exists for the benchmarks, which are a separate package and cannot see the transport.
public final class TransportLoad: @unchecked Sendable {
  // Sendable: only the loop changes the counters. Another thread reads them only after it has waited for the semaphore.
  private let loop: Loop
  private let transport: any Transport
  private let request: Request
  private let connections: Int
  private var toStart = 0
  private var running = 0
  private var failed = 0
  private var resends = 0
  private let done = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - usesHTTP2: whether to use HTTP/2 over TLS instead of HTTP/1.1.
  ///   - certificateAuthority: the path of a PEM file; nil uses the system's authorities.
  ///   - whenStarted: called once, on the thread of the loop.
  public init(
    _ request: Request, connections: Int, usesHTTP2: Bool, certificateAuthority: String?,
    whenStarted: @escaping @Sendable () -> Void
  ) throws {
    loop = try Loop()
    var settings = TransportSettings()
    settings.httpVersion = usesHTTP2 ? .http2 : .http11
    settings.tls.ca = certificateAuthority
    // Like the bare loop, these requests do not ask for compressed content.
    settings.decodesContent = false
    transport = try HTTPTransport(loop: loop, settings: settings)
    self.request = request
    self.connections = connections
    loop.post(whenStarted)
  }

  deinit { loop.shutdown() }

  /// Blocks until all requests have ended.
  /// - Returns: how many failed.
  public func run(requests: Int) -> Int {
    loop.post { [self] in
      toStart = requests
      failed = 0
      resends = 0
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
    if end.error?.code == .notProcessed, resends < connections {
      // Until the server's settings have arrived, a new connection can begin more streams than the server allows. The
      // server then refuses some of them.
      resends += 1
      toStart += 1
    } else if end.error != nil {
      failed += 1
    }
    if toStart > 0 { startNext(observer) } else if running == 0 { done.signal() }
  }

  private final class Observer: TransferObserver {
    private let load: TransportLoad
    init(_ load: TransportLoad) { self.load = load }

    func transferWillIssue(_ headers: inout HeaderFields) -> Bool { true }
    func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {}
    func transferDidReceiveHead(_ head: Response) -> BodyDisposition { .collect }
    func transferDidReceive(_ piece: [UInt8]) -> BodyProgress { .proceed }
    func transferDidEnd(_ end: TransferEnd) { load.didEnd(end, self) }
  }
}
