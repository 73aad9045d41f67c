import FuzzInput
import SluiceTraceContext

/// The entry point that libFuzzer calls with each input: a `traceparent` that is read keeps its ids when it is written.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  guard let parent = try? TraceParent(bytes.span) else { return 0 }
  FuzzInput.demand(parent.spanID != 0, "a span id of zero was taken")
  FuzzInput.demand(parent.traceID.high | parent.traceID.low != 0, "a trace id of zero was taken")
  let text = parent.description
  FuzzInput.demand(text.utf8.count == 55, "the output does not have 55 characters")
  FuzzInput.demand((try? TraceParent(text.utf8.span)) == parent, "the output is read back as a different value")
  FuzzInput.demand(bytes.dropFirst(3).prefix(49).elementsEqual(text.utf8.dropFirst(3).prefix(49)), "the ids changed")
  return 0
}
