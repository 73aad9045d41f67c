import SluiceMessages
import SluiceTraceContext

/// A header that the stage could set.
struct PlannedHeader: Sendable {
  let kind: HeaderKind
  /// The name, spelled as it is sent.
  let name: String
  /// The other headers that are useful only together with this one.
  var family: [String] = []
  /// Why the configuration omits the header; nil if it does not.
  var absence: String?

  var lowercased: String { name.lowercased() }
}

extension HeadersStage.Settings {
  /// The headers in the order in which they are written, then the common headers that the configuration omits.
  var planned: [PlannedHeader] {
    var headers = traces.propagators.list.flatMap { Self.planned(of: type(of: $0)) }
    if !requestIDHeader.isEmpty { headers.append(PlannedHeader(kind: .requestID, name: Self.text(requestIDHeader))) }
    if let session { headers.append(PlannedHeader(kind: .sessionID, name: Self.text(session.header))) }
    headers += fields.map { PlannedHeader(kind: .fixed, name: Self.text($0.name)) }
    let kinds = Set(headers.map(\.kind))
    if !kinds.contains(.trace) {
      headers.append(PlannedHeader(kind: .trace, name: "traceparent", absence: "no propagator of traces is configured"))
    }
    if !kinds.contains(.baggage) {
      headers.append(PlannedHeader(kind: .baggage, name: "baggage", absence: "its propagator is not configured"))
    }
    return headers
  }

  private static func planned(of propagator: any Propagator.Type) -> [PlannedHeader] {
    let names = propagator.headerNames
    let kind: HeaderKind = propagator == BaggagePropagator.self ? .baggage : .trace
    return names.map { PlannedHeader(kind: kind, name: $0, family: names.map { $0.lowercased() }) }
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
