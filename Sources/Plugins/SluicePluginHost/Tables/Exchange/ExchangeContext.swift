import CSluice
import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The function `context`: the facts of a transaction.
enum ExchangeContext {
  static func fill(_ handle: OpaquePointer?, _ context: UnsafeMutablePointer<sluice_context>?) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    let minimum = UInt32(MemoryLayout<UInt32>.size)
    guard let context, context.pointee.size >= minimum else {
      return called.refuse(.invalidArgument, "context: the size in the structure is not set")
    }
    called.fill(context, size: context.pointee.size, with: facts(called, size: context.pointee.size))
    return Status.ok
  }

  /// - Parameter size: the size of the plugin's structure. The texts of members beyond this size are not created.
  private static func facts(_ called: CalledExchange, size: UInt32) -> sluice_context {
    let exchange = called.exchange
    let now = exchange.loop.now
    var facts = sluice_context()
    facts.attempt = UInt32(clamping: exchange.attempt)
    facts.hop = UInt32(clamping: exchange.hop)
    facts.loop = UInt32(clamping: exchange.loop.index)
    facts.transaction_id = exchange.id.bytes
    facts.elapsed_ns = now.nanoseconds(since: exchange.started)
    facts.remaining_ns =
      exchange.deadline == .distantFuture ? .max : exchange.deadline.nanoseconds(since: now)
    if size > beginOfTexts { lendTexts(called, &facts) }
    return facts
  }

  private static let beginOfTexts = UInt32(MemoryLayout<sluice_context>.offset(of: \.request_id) ?? 0)

  private static func lendTexts(_ called: CalledExchange, _ facts: inout sluice_context) {
    let texts = LentTexts.of(called)
    texts.addIdentity(of: called.exchange)
    facts.request_id = texts.requestID
    facts.parent_traceparent = texts.traceparent
    facts.parent_tracestate = texts.tracestate
    facts.parent_baggage = texts.baggage
    facts.method = texts.method
    facts.path = texts.path
    guard let document = called.requestDocument else { return }
    facts.method = ExchangeLine.method(called)
    if let text = document.json["url"]?.string, let url = try? HTTPURL(text, hosts: .idna) {
      facts.path = called.lend(url.path)
    }
  }
}

extension CalledExchange {
  /// Fills a structure of the plugin up to its size, which is its first member.
  /// - Parameter size: the size that the plugin has set, at least the 4 bytes of that member.
  func fill<Record>(_ target: UnsafeMutableRawPointer, size: UInt32, with record: Record) {
    var (record, size) = (record, size)
    withUnsafeBytes(of: &record) { bytes in
      let target = UnsafeMutableRawBufferPointer(start: target, count: Int(size))
      let known = min(target.count, bytes.count)
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<known]))
      // Members that a plugin of a later revision knows, but this host does not, become zero.
      for index in known..<target.count { target[index] = 0 }
      withUnsafeBytes(of: &size) { target.copyMemory(from: $0) }
    }
  }
}
