import FuzzInput
import SluiceTraceContext

/// Runs every propagator over arbitrary headers: the first byte of a line selects the header.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let lines = FuzzInput.bytes(start, count).split(separator: 0x0A).map { line in
    (name: names[Int(line.first ?? 0) % names.count], value: String(decoding: line.dropFirst(), as: UTF8.self))
  }
  let carrier = FunctionCarrier { name in lines.filter { $0.name == name.lowercased() }.map(\.value) }
  let parent = all.extract(from: carrier).parent
  let hop = HopTrace(parent, newTraceID: TraceID(high: 1, low: 2), spanID: 3)
  FuzzInput.demand(hop.isContinued == (parent.traceparent != nil), "the extracted trace is not continued")
  var sink = Sink()
  all.inject(hop, into: &sink)
  for field in sink.fields {
    FuzzInput.demand(field.value.utf8.allSatisfy { $0 == 0x09 || 0x20...0x7E ~= $0 }, "\(field.name) is not printable")
  }
  let sent = sink.fields
  let next = all.extract(from: FunctionCarrier { name in sent.filter { $0.name == name.lowercased() }.map(\.value) })
  FuzzInput.demand(next.trace?.traceID == hop.traceParent?.traceID, "the next service sees another trace")
  FuzzInput.demand(next.refusals.isEmpty, "the next service refuses \(next.refusals)")
  return 0
}

private let all = Propagators(Propagators.known.map { $0.init() })
private let names = all.headerNames + ["x-b3-parentspanid"]

private struct Sink: HeaderSink {
  var fields: [(name: String, value: String)] = []

  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    fields.append((Self.text(name).lowercased(), Self.text(value)))
    return true
  }

  mutating func withdraw(_ name: Span<UInt8>) {
    let name = Self.text(name).lowercased()
    fields.removeAll { $0.name == name }
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
  }
}
