import FuzzInput
import SluiceTraceContext

/// The entry point that libFuzzer calls with each input: a trace that is read from B3 is valid, and is also valid as
/// `traceparent`.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  if case .trace(let trace) = try? B3(single: bytes.span) { check(trace) }
  // The same bytes are also read as the four headers of B3's other form, one header per line.
  let lines = bytes.split(separator: 0x0A, maxSplits: 3, omittingEmptySubsequences: false).map {
    $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self)
  }
  func line(_ index: Int) -> String? { index < lines.count ? lines[index] : nil }
  let multi = try? B3(traceID: line(0), spanID: line(1), sampled: line(2), flags: line(3))
  if case .trace(let trace) = multi { check(trace) }
  return 0
}

private func check(_ trace: RemoteTrace) {
  FuzzInput.demand(trace.spanID != 0, "a span id of zero was taken")
  FuzzInput.demand(trace.traceID.high | trace.traceID.low != 0, "a trace id of zero was taken")
  let parent = trace.traceParent
  FuzzInput.demand((try? TraceParent(parent.description.utf8.span)) == parent, "the trace is not valid as W3C")
}
