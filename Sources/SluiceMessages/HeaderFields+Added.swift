extension HeaderFields {
  /// Marks every field that was not in `original` as ``Marks/addedByStage``. A field with another value counts as new.
  package mutating func markAdded(since original: HeaderFields) {
    if buffer.count == original.buffer.count, buffer == original.buffer { return }
    // New fields are written at the end of the buffer. So if the beginning of the buffer is unchanged, a field's
    // position shows whether it is new.
    let isGrown =
      buffer.count > original.buffer.count && buffer.prefix(original.buffer.count).elementsEqual(original.buffer)
    for index in indices {
      let isNew = isGrown ? entries[index].start >= original.buffer.count : !original.hasField(of: self, at: index)
      if isNew { mark(at: index, .addedByStage) }
    }
  }

  private func hasField(of other: HeaderFields, at index: Int) -> Bool {
    let name = other.buffer.span.extracting(other.nameRange(at: index))
    let value = other.buffer[other.valueRange(at: index)]
    return indices.contains { isName(at: $0, name) && buffer[valueRange(at: $0)] == value }
  }
}
