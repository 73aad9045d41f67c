extension HeaderFields {
  /// Marks every field that was not in `original` as ``Marks/addedByStage``. A field with another value counts as new.
  package mutating func markAdded(since original: HeaderFields) {
    if hasSameLines(as: original) { return }
    // New lines are written after the others. So if these are unchanged, a field's position shows whether it is new.
    let isGrown = begins(withLinesOf: original)
    let oldByteCount = original.lineByteCount
    for index in indices {
      let isNew = isGrown ? entry(at: index).start >= oldByteCount : !original.hasField(of: self, at: index)
      if isNew { mark(at: index, .addedByStage) }
    }
  }

  private func hasField(of other: HeaderFields, at index: Int) -> Bool {
    let name = other.buffer.span.extracting(other.nameRange(at: index))
    let value = other.buffer[other.valueRange(at: index)]
    return indices.contains { isName(at: $0, name) && buffer[valueRange(at: $0)] == value }
  }
}
