import SluiceMessages

@testable import SluiceTraceContext

/// Header lines in the order in which they arrive.
typealias Lines = KeyValuePairs<String, String>

extension Lines {
  var fields: HeaderFields {
    var fields = HeaderFields()
    for (name, value) in self { fields.append(name, value) }
    return fields
  }
}

extension Propagators {
  /// Returns propagators by name. A name that is unknown is left out.
  static func of(_ names: String...) -> Propagators { Propagators(names.compactMap { named($0) }) }

  func extract(_ lines: Lines) -> Extraction { extract(from: lines.fields) }

  /// Returns the headers of a hop that continues the trace in these lines.
  func relay(_ lines: Lines, sampler: Sampler = Sampler()) -> HeaderFields {
    inject(HopTrace(extract(lines).parent, newTraceID: .new, spanID: newSpanID, sampler: sampler))
  }

  func inject(_ trace: borrowing HopTrace) -> HeaderFields {
    var sink = FieldSink()
    inject(trace, into: &sink)
    return sink.fields
  }
}

/// A sink that accepts every header.
struct FieldSink: HeaderSink {
  var fields = HeaderFields()

  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    fields.set(name, to: value)
    return true
  }

  mutating func withdraw(_ name: Span<UInt8>) { fields.remove(named: name) }
}

extension TraceID {
  /// The trace id that a test gives to a new trace.
  static let new = TraceID(high: 0xABAB_ABAB_ABAB_ABAB, low: 0xCDCD_CDCD_CDCD_CDCD)
}

/// The span id that a test gives to a hop.
let newSpanID: UInt64 = 0xEFEF_EFEF_EFEF_EFEF
