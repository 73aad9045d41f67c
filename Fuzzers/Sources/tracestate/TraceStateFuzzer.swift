import FuzzInput
import SluiceTraceContext

/// The entry point that libFuzzer calls with each input: a `tracestate` that is sent or passed on is valid.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  // The sampler's own decision replaces or removes a threshold in the state.
  let parent = ParentContext(
    traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-03",
    tracestate: String(decoding: bytes, as: UTF8.self))
  for kind in [Sampler.Kind.alwaysOn, .alwaysOff, .parentBasedAlwaysOn] {
    let hop = HopTrace(parent, newTraceID: TraceID(high: 1, low: 1), spanID: 1, sampler: Sampler(kind))
    guard let state = hop.state else { continue }
    FuzzInput.demand(TraceState.content(state.utf8.span) == 0..<state.utf8.count, "the sent state is not valid")
  }
  guard let content = TraceState.content(bytes.span) else { return 0 }
  let text = Array(bytes[content])
  FuzzInput.demand(text.allSatisfy { $0 == 0x09 || 0x20...0x7E ~= $0 }, "a character that is not printable was taken")
  FuzzInput.demand(TraceState.content(text.span) == 0..<text.count, "the output is not accepted again")
  let members = text.split(separator: UInt8(ascii: ",")).filter { $0.contains(UInt8(ascii: "=")) }
  FuzzInput.demand((1...TraceState.maximumMembers).contains(members.count), "too many members, or none")
  return 0
}
