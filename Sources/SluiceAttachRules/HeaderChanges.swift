package import SluiceMessages

/// What the request stages have done to the headers of a program, to do the same for later hops: libcurl begins each one
/// with the program's own.
package struct HeaderChanges: Sendable {
  private var added = HeaderFields()
  private var removed = HeaderFields()

  package init() {}

  package init(from before: HeaderFields, to after: HeaderFields) {
    if before == after { return }
    removed = Self.missing(in: after, of: before)
    added = Self.missing(in: before, of: after)
  }

  /// What a stage adds belongs to the origin for which it was added (RFC 9110 §15.4).
  package mutating func leaveOrigin() { added = HeaderFields() }

  package func apply(to fields: inout HeaderFields) {
    for index in removed.indices {
      let all = [Bool](repeating: true, count: fields.count)
      if let place = fields.firstIndex(ofFieldAt: index, in: removed, among: all) { fields.remove(at: place) }
    }
    for index in added.indices {
      fields.append(
        added.buffer.span.extracting(added.nameRange(at: index)),
        added.buffer.span.extracting(added.valueRange(at: index)),
        marks: added.marks(at: index).union(.addedByStage))
    }
  }

  private static func missing(in fields: HeaderFields, of others: HeaderFields) -> HeaderFields {
    var isLeft = [Bool](repeating: true, count: fields.count)
    var missing = HeaderFields()
    for index in others.indices {
      if let same = fields.firstIndex(ofFieldAt: index, in: others, among: isLeft) {
        isLeft[same] = false
      } else {
        missing.append(
          others.buffer.span.extracting(others.nameRange(at: index)),
          others.buffer.span.extracting(others.valueRange(at: index)), marks: others.marks(at: index))
      }
    }
    return missing
  }
}
