import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The explanation of a transaction as JSON, for its result document. ``ExplanationText`` writes the same facts as
/// text.
enum ExplanationDocument {
  static func make(_ hops: [HopExplanation]) -> JSONValue { .array(of: hops.map(hop)) }

  private static func hop(_ hop: HopExplanation) -> JSONValue {
    let document: JSONValue = [
      "attempt": JSONValue(Int64(hop.attempt)), "hop": JSONValue(Int64(hop.hop)), "method": JSONValue(hop.method),
      "origin": JSONValue(hop.origin.description), "path": JSONValue(hop.path),
      "headers": .array(of: hop.decisions.map(decision)),
    ]
    if !hop.notes.isEmpty { document["notes"] = .array(of: hop.notes) }
    return document
  }

  private static func decision(_ decision: HeaderDecision) -> JSONValue {
    let document: JSONValue = [
      "stage": JSONValue(decision.stage), "header": JSONValue(decision.header),
      "reason": JSONValue(decision.reason.rawValue),
    ]
    document["value"] = decision.value.map { JSONValue($0) }
    document["detail"] = decision.detail.map { JSONValue($0) }
    return document
  }
}
