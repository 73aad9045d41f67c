import CSluice
import SluiceMessages
import SluiceTraceContext

/// The facts behind a ``RequestContext``: a copy of the host's record and of its texts.
///
/// Unchecked, since only a caller that holds the single reference changes it (``renew(_:)``).
final class ContextFacts: @unchecked Sendable {
  /// The maximum number of bytes of memory that are kept for the next call.
  private static let keptBytes = 4096

  private var record: sluice_context
  private var memory: UnsafeMutableRawBufferPointer
  /// The parent context, if it was passed as a value and not as texts.
  private let givenParent: ParentContext?

  /// - Parameter context: its texts are copied.
  init(_ context: sluice_context) {
    record = context
    memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    givenParent = nil
    copyTexts()
  }

  /// The facts of a delegate's call.
  init(
    path: String, method: String, attemptNumber: Int, requestID: String, transactionID: TransactionID, hop: Int,
    elapsed: Duration, remaining: Duration?, parent: ParentContext
  ) {
    record = sluice_context()
    record.attempt = UInt32(clamping: attemptNumber)
    record.hop = UInt32(clamping: hop)
    record.transaction_id = transactionID.networkBytes
    record.elapsed_ns = elapsed.nanoseconds
    record.remaining_ns = remaining?.nanoseconds ?? .max
    memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    givenParent = parent
    var (path, method, requestID) = (path, method, requestID)
    path.withUTF8 { path in
      method.withUTF8 { method in
        requestID.withUTF8 { requestID in
          record.path = sluice_text(UnsafeRawBufferPointer(path))
          record.method = sluice_text(UnsafeRawBufferPointer(method))
          record.request_id = sluice_text(UnsafeRawBufferPointer(requestID))
          copyTexts()
        }
      }
    }
  }

  deinit { memory.deallocate() }

  /// Takes the facts of another call, in the same memory. Nothing else must refer to this object.
  func renew(_ context: sluice_context) {
    record = context
    copyTexts()
  }

  /// Copies the record's texts into the memory of this object.
  private func copyTexts() {
    let count =
      record.request_id.size + record.method.size + record.path.size + record.parent_traceparent.size
      + record.parent_tracestate.size + record.parent_baggage.size
    if memory.count < count || memory.count > Self.keptBytes {
      memory.deallocate()
      memory = .allocate(byteCount: max(count, 128), alignment: 1)
    }
    guard var end = memory.baseAddress else { return }
    Self.move(&record.request_id, to: &end)
    Self.move(&record.method, to: &end)
    Self.move(&record.path, to: &end)
    Self.move(&record.parent_traceparent, to: &end)
    Self.move(&record.parent_tracestate, to: &end)
    Self.move(&record.parent_baggage, to: &end)
  }

  @inline(__always)
  private static func move(_ text: inout sluice_text, to end: inout UnsafeMutableRawPointer) {
    guard let source = text.data, text.size > 0 else { return }
    end.copyMemory(from: source, byteCount: text.size)
    text.data = UnsafePointer(end.assumingMemoryBound(to: CChar.self))
    end += text.size
  }

  var path: String { String(record.path) }
  var method: String { String(record.method) }
  var requestID: String { String(record.request_id) }
  var attemptNumber: Int { Int(record.attempt) }
  var transactionID: TransactionID { TransactionID(network: record.transaction_id) }
  var hop: Int { Int(record.hop) }
  var elapsed: Duration { Duration(nanoseconds: record.elapsed_ns) }
  var remaining: Duration? { record.remaining_ns == .max ? nil : Duration(nanoseconds: record.remaining_ns) }

  var parent: ParentContext {
    givenParent
      ?? ParentContext(
        traceparent: Self.value(record.parent_traceparent), tracestate: Self.value(record.parent_tracestate),
        baggage: Self.value(record.parent_baggage))
  }

  private static func value(_ text: sluice_text) -> String? { text.size == 0 ? nil : String(text) }
}

extension ContextFacts: Hashable {
  static func == (left: ContextFacts, right: ContextFacts) -> Bool {
    left === right
      || left.transactionID == right.transactionID && left.attemptNumber == right.attemptNumber && left.hop == right.hop
        && left.elapsed == right.elapsed && left.remaining == right.remaining && left.path == right.path
        && left.method == right.method && left.requestID == right.requestID && left.parent == right.parent
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(transactionID)
    hasher.combine(attemptNumber)
    hasher.combine(hop)
    hasher.combine(elapsed)
  }
}
