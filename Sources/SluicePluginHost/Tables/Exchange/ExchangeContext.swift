import CSluice
import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// The function `context`: the facts of a transaction.
enum ExchangeContext {
  static func fill(_ handle: OpaquePointer?, _ context: UnsafeMutablePointer<sluice_context>?) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    let minimum = UInt32(MemoryLayout<UInt32>.size)
    guard let context, context.pointee.size >= minimum else {
      return called.refuse(.invalidArgument, "context: its size is not set")
    }
    called.fill(context, size: context.pointee.size, with: facts(called))
    return Status.ok
  }

  private static func facts(_ called: CalledExchange) -> sluice_context {
    let exchange = called.exchange
    let now = exchange.loop.now
    var facts = sluice_context()
    facts.attempt = UInt32(clamping: exchange.attempt)
    facts.hop = UInt32(clamping: exchange.hop)
    facts.loop = UInt32(clamping: exchange.loop.index)
    facts.transaction_id = exchange.id.bytes
    facts.elapsed_ns = now.duration(since: exchange.started).nanoseconds
    facts.remaining_ns =
      exchange.deadline == .distantFuture ? .max : exchange.deadline.duration(since: now).nanoseconds
    facts.method = ExchangeLine.method(called)
    lendTexts(exchange, called, &facts)
    return facts
  }

  /// All texts in one piece of memory.
  private static func lendTexts(_ exchange: Exchange, _ called: CalledExchange, _ facts: inout sluice_context) {
    let parent = exchange.parent
    let texts = [
      exchange.requestID, path(called), parent.traceparent ?? "", parent.tracestate ?? "", parent.baggage ?? "",
    ]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(texts.reduce(0) { $0 + $1.utf8.count })
    for text in texts { bytes.append(contentsOf: text.utf8) }
    var rest = called.lend(bytes)[...]
    func next(_ text: String) -> sluice_text {
      let taken = UnsafeBufferPointer(rebasing: rest.prefix(text.utf8.count))
      rest = rest.dropFirst(text.utf8.count)
      return text.isEmpty ? .empty : sluice_text(taken)
    }
    facts.request_id = next(texts[0])
    facts.path = next(texts[1])
    facts.parent_traceparent = next(texts[2])
    facts.parent_tracestate = next(texts[3])
    facts.parent_baggage = next(texts[4])
  }

  private static func path(_ called: CalledExchange) -> String {
    guard let text = called.requestTruth?.json["url"]?.string, let url = try? HTTPURL(text, hosts: .idna) else {
      return called.exchange.nativeRequest.url.path
    }
    return url.path
  }
}

extension CalledExchange {
  /// Fills a struct of the plugin that begins with its size, up to that size.
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
