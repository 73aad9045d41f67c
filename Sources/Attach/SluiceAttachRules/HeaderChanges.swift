package import SluiceMessages

/// The changes that request stages have made to the headers of a program. They are applied again to each later hop,
/// because libcurl begins each hop with the program's own headers.
package struct HeaderChanges: Sendable {
  private var added = HeaderFields()
  private var removed = HeaderFields()

  package init() {}

  package init(from before: HeaderFields, to after: HeaderFields) {
    if before == after { return }
    let changes = before.changes(to: after)
    removed = before.fields(at: changes.lost)
    added = after.fields(at: changes.added)
  }

  /// Drops the added headers: a header that a stage has added belongs to the origin for which it was added (RFC 9110
  /// §15.4).
  package mutating func leaveOrigin() { added = HeaderFields() }

  package func apply(to fields: inout HeaderFields) {
    for index in removed.indices {
      if let place = fields.firstIndex(ofFieldAt: index, in: removed) { fields.remove(at: place) }
    }
    for index in added.indices {
      fields.append(
        added.buffer.span.extracting(added.nameRange(at: index)),
        added.buffer.span.extracting(added.valueRange(at: index)),
        marks: added.marks(at: index).union(.addedByStage))
    }
  }
}

extension HeaderFields {
  fileprivate func fields(at places: [Int]) -> HeaderFields {
    var chosen = HeaderFields()
    for index in places {
      chosen.append(
        buffer.span.extracting(nameRange(at: index)), buffer.span.extracting(valueRange(at: index)),
        marks: marks(at: index))
    }
    return chosen
  }
}
