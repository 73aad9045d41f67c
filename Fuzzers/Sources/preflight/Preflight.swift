import FuzzInput
import SluicePluginFile
import SluicePluginHost

/// Reads a library as a host does before any of its code runs.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = FuzzInput.bytes(start, count)
  guard let facts = try? LibraryFacts(bytes: bytes, path: "fuzz.so") else { return 0 }
  FuzzInput.demand(facts.sizeBytes == bytes.count, "the size differs from that of the input")
  FuzzInput.demand(facts == (try? LibraryFacts(bytes: bytes, path: "fuzz.so")), "the same bytes give different facts")
  FuzzInput.demand(facts.privateLibraries.isEmpty, "the file system was accessed")
  _ = facts.warnings
  let all = HostOffer(allowed: Set(LibraryHazard.allCases))
  // A host that allows more must accept every library that a strict host accepts.
  if facts.refusal(at: "fuzz.so") == nil {
    FuzzInput.demand(facts.refusal(by: all, at: "fuzz.so") == nil, "a host that allows more accepts less")
    FuzzInput.demand(facts.entry == .defined && facts.note != nil, "accepted a library without entry point or note")
    FuzzInput.demand(facts.hazards.isEmpty, "a library with a hazard was accepted")
  }
  return 0
}
