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
    facts.elapsed_ns = now.nanoseconds(since: exchange.started)
    facts.remaining_ns =
      exchange.deadline == .distantFuture ? .max : exchange.deadline.nanoseconds(since: now)
    facts.method = ExchangeLine.method(called)
    lendTexts(exchange, called, &facts)
    return facts
  }

  /// All texts in one piece of memory.
  private static func lendTexts(_ exchange: Exchange, _ called: CalledExchange, _ facts: inout sluice_context) {
    let requestID = exchange.requestID
    let url = url(called)
    let path = url.pathSlice
    let parent = exchange.parent
    let (traceparent, tracestate, baggage) = (parent.traceparent ?? "", parent.tracestate ?? "", parent.baggage ?? "")
    var count = requestID.utf8.count + path.range.count
    count += traceparent.utf8.count + tracestate.utf8.count + baggage.utf8.count
    let lent = LentBytes(capacity: count)
    called.keep(lent)
    facts.request_id = lent.append(requestID)
    facts.path = lent.append(path.string, path.range)
    facts.parent_traceparent = lent.append(traceparent)
    facts.parent_tracestate = lent.append(tracestate)
    facts.parent_baggage = lent.append(baggage)
  }

  private static func url(_ called: CalledExchange) -> HTTPURL {
    guard let text = called.requestTruth?.json["url"]?.string, let url = try? HTTPURL(text, hosts: .idna) else {
      return called.exchange.nativeRequest.url
    }
    return url
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
