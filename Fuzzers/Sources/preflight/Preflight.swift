import FuzzInput
import SluicePluginHost

/// What is read of a library before any of its code runs.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  guard let facts = try? LibraryFacts(bytes: bytes, path: "fuzz.so") else { return 0 }
  FuzzInput.demand(facts.sizeBytes == bytes.count, "another size than that of the input")
  FuzzInput.demand(facts == (try? LibraryFacts(bytes: bytes, path: "fuzz.so")), "the same bytes give other facts")
  FuzzInput.demand(facts.privateLibraries.isEmpty, "the file system was looked at")
  _ = facts.warnings
  let all = HostOffer(allowed: Set(LibraryHazard.allCases))
  // What one host takes that allows nothing, one that allows more takes too.
  if facts.refusal(at: "fuzz.so") == nil {
    FuzzInput.demand(facts.refusal(by: all, at: "fuzz.so") == nil, "a host that allows more takes less")
    FuzzInput.demand(facts.entry == .defined && facts.note != nil, "taken without an entry point, or without a note")
    FuzzInput.demand(facts.hazards.isEmpty, "a hazard was taken")
  }
  return 0
}
