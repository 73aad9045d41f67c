import FuzzInput
import ResponseProperties

/// The entry point that libFuzzer calls with each input: a response is read the same whole and in pieces, and what is
/// read survives being written and read again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let property = ResponseProperties.broken(by: FuzzInput.bytes(start, count))
  FuzzInput.demand(property == nil, property ?? "")
  return 0
}
