extension HeaderFields {
  /// Marks every field that was not in `original` as ``Marks/addedByStage``. A field with another value counts as new.
  package mutating func markAdded(since original: HeaderFields) {
    if hasSameLines(as: original) { return }
    // New lines are written after the existing ones. So if the existing lines are unchanged, a field's position shows
    // whether the field is new.
    let isGrown = begins(withLinesOf: original)
    let oldByteCount = original.lineByteCount
    for index in indices {
      // Of several equal fields, the last ones count as new.
      let isNew =
        isGrown
        ? entry(at: index).start >= oldByteCount
        : count(of: self, at: index, upTo: index + 1) > original.count(of: self, at: index, upTo: original.count)
      if isNew { mark(at: index, .addedByStage) }
    }
  }

  /// Counts, among the first `end` fields, those with the name and the value of the field at `index` in another list.
  private func count(of other: HeaderFields, at index: Int, upTo end: Int) -> Int {
    let name = other.buffer.span.extracting(other.nameRange(at: index))
    let value = other.buffer.span.extracting(other.valueRange(at: index))
    var count = 0
    for index in 0..<end where isName(at: index, name) && isValue(at: index, value) { count += 1 }
    return count
  }
}
