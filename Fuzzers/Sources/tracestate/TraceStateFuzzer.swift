import FuzzInput
import SluiceTraceContext

@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  // The threshold of one half, so that a random value in the state is looked for.
  _ = Sampler(.traceIDRatio, ratio: 0.5)
    .samples(TraceID(high: 0, low: 1), parent: nil, state: String(decoding: bytes, as: UTF8.self))
  guard let content = TraceState.content(bytes.span) else { return 0 }
  let text = Array(bytes[content])
  FuzzInput.demand(text.allSatisfy { $0 == 0x09 || 0x20...0x7E ~= $0 }, "a character that is not printable was taken")
  FuzzInput.demand(TraceState.content(text.span) == 0..<text.count, "what is passed on is not passed on again")
  let members = text.split(separator: UInt8(ascii: ",")).filter { $0.contains(UInt8(ascii: "=")) }
  FuzzInput.demand((1...TraceState.maximumMembers).contains(members.count), "too many members, or none")
  return 0
}
