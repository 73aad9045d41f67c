import CJansson
import CSluice
import Dispatch
import SluiceJSON
import SluiceTestKit

/// A host in memory with one loop, which is a serial queue.
///
/// `@unchecked Sendable`: the tables are written before a plugin gets the host, and only read afterwards. `lentByEnter`
/// and the exchanges are used only on the queue.
final class StubHost: @unchecked Sendable {
  let loop = DispatchQueue(label: "loop")
  let table: UnsafeMutablePointer<sluice_host>
  let exchanges: UnsafeMutablePointer<sluice_exchange_api>
  let log = Watched<[String]>([])
  /// Whether the host is closing. `post` then accepts no more work.
  let isClosing = Watched(false)
  let postCount = Watched(0)
  /// The optional tables of the host, by id. They must be set before a plugin requests them.
  var tables: [String: UnsafeRawPointer] = [:]
  private var lentByEnter: [StubExchange] = []

  init() {
    exchanges = .allocate(capacity: 1)
    exchanges.initialize(to: makeStubExchangeTable())
    table = .allocate(capacity: 1)
    table.initialize(to: sluice_host())
    table.pointee.size = UInt32(MemoryLayout<sluice_host>.size)
    table.pointee.abi = 1
    table.pointee.exchange = UnsafePointer(exchanges)
    table.pointee.handle = Unmanaged.passUnretained(self).toOpaque()
    addCalls()
  }

  deinit {
    table.deallocate()
    exchanges.deallocate()
  }

  private static func from(_ host: UnsafePointer<sluice_host>?) -> StubHost? {
    host?.pointee.handle.map { Unmanaged<StubHost>.fromOpaque($0).takeUnretainedValue() }
  }

  private func addCalls() {
    table.pointee.log = { StubHost.from($0)?.write($1, String(stub: $2)) }
    table.pointee.clock_ns = { _ in 0 }
    table.pointee.extension = { host, id in id.flatMap { StubHost.from(host)?.tables[String(cString: $0)] } }
    table.pointee.post = { host, _, function, context in
      StubHost.from(host)?.post(function, context) ?? sluice_status(SLUICE_STATUS_CLOSING)
    }
    table.pointee.enter = { StubHost.from($0)?.enter($1) }
    table.pointee.resume = { StubHost.from($0)?.resume($1, $2) ?? sluice_status(SLUICE_STATUS_STALE) }
  }

  private func write(_ level: sluice_log_level, _ message: String) {
    log.update { $0.append("\(level) \(message)") }
  }

  private typealias Posted = @convention(c) (UnsafeMutableRawPointer?) -> Void

  private func post(_ function: Posted?, _ context: UnsafeMutableRawPointer?) -> sluice_status {
    guard let function, !isClosing.value else { return sluice_status(SLUICE_STATUS_CLOSING) }
    postCount.update { $0 += 1 }
    let bits = UInt(bitPattern: context)
    loop.async {
      function(UnsafeMutableRawPointer(bitPattern: bits))
      for exchange in self.lentByEnter { exchange.isLent = false }
      self.lentByEnter = []
    }
    return sluice_status(SLUICE_STATUS_OK)
  }

  private func enter(_ token: sluice_token) -> OpaquePointer? {
    guard let exchange = StubExchange.suspended(by: token), !exchange.isGone.value, exchange.resumption.value == nil
    else { return nil }
    exchange.isLent = true
    lentByEnter.append(exchange)
    return exchange.pointer
  }

  private func resume(_ token: sluice_token, _ verdict: sluice_verdict) -> sluice_status {
    guard let exchange = StubExchange.suspended(by: token), !exchange.isGone.value else {
      return sluice_status(SLUICE_STATUS_STALE)
    }
    guard exchange.resumption.value == nil else { return sluice_status(SLUICE_STATUS_ALREADY) }
    exchange.isLent = false
    exchange.resumption.update { $0 = verdict }
    return sluice_status(SLUICE_STATUS_OK)
  }
}
