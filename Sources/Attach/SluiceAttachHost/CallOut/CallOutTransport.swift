import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// The transport of a loop for the requests that plugins make themselves. Confined to its loop.
final class CallOutTransport: Transport {
  private let loop: any EventLoop
  private let service: CallOutService
  /// The transport of the program's transfers.
  private let other: any Transport

  init(_ loop: any EventLoop, _ service: CallOutService, besides other: any Transport) {
    self.loop = loop
    self.service = service
    self.other = other
  }

  func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    let transfer = CallOutTransfer(loop, observer)
    do throws(TransportError) {
      let exchange = try ProgramExchange(request, options, service.settings)
      loop.post { [service] in transfer.begin(exchange, service) }
    } catch { loop.post { transfer.end(.failure(error)) } }
    return transfer
  }

  func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer { other.makeBodyGatherer(options) }

  func stream(of file: FileBody) throws(TransportError) -> BodyStream { try other.stream(of: file) }
}

/// The part of call-outs that all loops share: threads and settings.
final class CallOutService: Sendable {
  let threads: CallOutThreads
  private let current: Locked<TransportSettings>
  private let used: Atomic<Bool>

  init(_ program: ProgramFunctions) {
    threads = CallOutThreads(program)
    current = Locked(TransportSettings())
    used = Atomic(false)
  }

  /// The settings of the transport. Only `tls` and `userAgent` are used.
  var settings: TransportSettings {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }

  /// Whether a plugin has made a call-out, or requires the feature of call-outs.
  var isUsed: Bool { used.load(ordering: .relaxed) }

  func noteUse() { used.store(true, ordering: .relaxed) }
}
