import SluiceJSON

/// The member `span` of a line of an event log.
struct EventSpan {
  let spanId: String
  let parentSpanId: String?
  let startNs: Int64
  let endNs: Int64

  /// Returns nil if the schema does not allow this value.
  init?(_ document: JSONValue) {
    var strings: [String: String] = [:]
    var counts: [String: Int64] = [:]
    for (name, value) in document.members {
      switch name {
      case "traceId": strings[name] = EventLine.id(value, digits: 32)
      case "spanId", "parentSpanId": strings[name] = EventLine.id(value, digits: 16)
      case "name", "stage", "message": strings[name] = value.string
      case "kind": strings[name] = value.string.flatMap { ["internal", "client"].contains($0) ? $0 : nil }
      case "status": strings[name] = value.string.flatMap { ["unset", "ok", "error"].contains($0) ? $0 : nil }
      case "startNs", "endNs", "droppedAttributes": counts[name] = EventLine.count(value)
      case "isUnfinished": counts[name] = value.bool.map { $0 ? 1 : 0 }
      case "attributes":
        let isRight = value.members.allSatisfy { !$0.value.isObject && !$0.value.isArray && !$0.value.isNull }
        counts[name] = value.isObject && isRight ? 0 : nil
      default: return nil
      }
      guard strings[name] != nil || counts[name] != nil else { return nil }
    }
    let required = ["name", "kind", "stage", "traceId", "spanId", "status"]
    guard required.allSatisfy({ strings[$0] != nil }), counts["isUnfinished"] != nil, let id = strings["spanId"],
      let start = counts["startNs"], let end = counts["endNs"]
    else { return nil }
    spanId = id
    parentSpanId = strings["parentSpanId"]
    startNs = start
    endNs = end
  }
}
