package import SluiceMessages
package import SluiceTraceContext

/// A part of a transaction's work that a stage measures: a child of the hop's span.
package struct StageSpan: Sendable, Hashable {
  package let name: String
  package let kind: SpanKind
  /// The stage that began it, by its name in the configuration.
  package let stage: String
  /// The trace of the hop; if it has none, the trace of the caller; if there is neither, the trace that the transaction
  /// begins.
  package internal(set) var traceID: TraceID
  /// Never 0.
  package let id: UInt64
  /// The span of the hop during which this span began; the caller's span if that hop has sent none. Nil if there is
  /// neither.
  package let parentID: UInt64?
  package let start: Instant
  /// Equal to ``start`` while the span is open.
  package internal(set) var end: Instant
  package internal(set) var status = SpanStatus.unset
  /// Empty unless ``status`` is an error.
  package internal(set) var statusMessage = ""
  /// Whether the transaction ended before the stage ended the span.
  package internal(set) var isUnfinished = false
  /// The attributes in the order in which their names were first set.
  package internal(set) var attributes: [Attribute] = []
  /// The number of attributes that were refused because there were too many.
  package internal(set) var droppedAttributes = 0

  /// Sets an attribute, or replaces its value; false if there are too many.
  mutating func set(_ attribute: Attribute, limit: Int) -> Bool {
    if let index = attributes.firstIndex(where: { $0.name == attribute.name }) {
      attributes[index] = attribute
    } else if attributes.count < limit {
      attributes.append(attribute)
    } else {
      droppedAttributes += 1
      return false
    }
    return true
  }
}

/// The name of an open span within its transaction. A handle is looked up and never dereferenced, so a stale handle is
/// harmless.
package struct SpanHandle: Sendable, Hashable {
  package let slot: UInt32
  package let generation: UInt32

  /// No span.
  package static let none = SpanHandle(slot: 0, generation: 0)

  package init(slot: UInt32, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }
}
