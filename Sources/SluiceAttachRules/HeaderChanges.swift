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
      let name = removed.buffer.span.extracting(removed.nameRange(at: index))
      let value = removed.buffer[removed.valueRange(at: index)]
      let place = fields.indices.first {
        fields.isName(at: $0, name) && fields.buffer[fields.valueRange(at: $0)] == value
      }
      if let place { fields.remove(at: place) }
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
      let name = others.buffer.span.extracting(others.nameRange(at: index))
      let value = others.buffer[others.valueRange(at: index)]
      let same = fields.indices.first {
        isLeft[$0] && fields.isName(at: $0, name) && fields.buffer[fields.valueRange(at: $0)] == value
      }
      if let same {
        isLeft[same] = false
      } else {
        missing.append(name, value.span, marks: others.marks(at: index))
      }
    }
    return missing
  }
}
