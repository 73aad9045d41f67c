import FuzzInput
import MessageProperties

/// The entry point that libFuzzer calls with each input: reading a request gives the same result whether it arrives
/// whole or in pieces, and gives this result again after the message is written and read.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let property = RequestProperties.broken(by: FuzzInput.bytes(start, count))
  FuzzInput.demand(property == nil, property ?? "")
  return 0
}
