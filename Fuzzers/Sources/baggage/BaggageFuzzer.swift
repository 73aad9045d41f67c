import FuzzInput
import SluiceTraceContext

/// The entry point that libFuzzer calls with each input: baggage stays within its limits, and stays the same when it is
/// written and read again.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  check(content: bytes)
  check(membersOf: bytes)
  return 0
}

private func check(content bytes: [UInt8]) {
  guard let passed = passed(bytes) else { return }
  FuzzInput.demand((1...Baggage.maximumBytes).contains(passed.count), "too many bytes, or none")
  FuzzInput.demand(passed.allSatisfy { $0 == 0x09 || 0x20...0x7E ~= $0 }, "a character that is not printable was taken")
  let members = passed.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
  FuzzInput.demand(members.count <= Baggage.maximumMembers, "too many members")
  let again = Baggage.content(passed.span)
  FuzzInput.demand(again == .part(0..<passed.count), "the output is not accepted again")
}

private func check(membersOf bytes: [UInt8]) {
  let members = Baggage.members(of: String(decoding: bytes, as: UTF8.self))
  let text = Baggage.text(of: members)
  FuzzInput.demand(Baggage.members(of: text) == members, "the output is read back as a different value")
}

private func passed(_ bytes: [UInt8]) -> [UInt8]? {
  switch Baggage.content(bytes.span) {
  case .nothing, .beyondLimits: nil
  case .part(let range): Array(bytes[range])
  case .members(let members): members
  }
}
