// Fields as bytes, which the wire and the ABI use; no strings are made.
extension HeaderFields {
  /// The range of the name in ``buffer``; `: ` follows it.
  @inlinable package func nameRange(at index: Int) -> Range<Int> { entries[index].nameRange }

  /// The range of the value in ``buffer``; a NUL follows it.
  @inlinable package func valueRange(at index: Int) -> Range<Int> { entries[index].valueRange }

  package func marks(at index: Int) -> Marks { entries[index].marks }

  package mutating func mark(at index: Int, _ marks: Marks) { entries[index].marks.formUnion(marks) }

  package mutating func unmark(at index: Int, _ marks: Marks) { entries[index].marks.subtract(marks) }

  /// The position of the first field of that name at or after `start`.
  package func firstIndex(named name: Span<UInt8>, from start: Int = 0) -> Int? {
    let entries = entries.span
    let bytes = buffer.span
    var index = start
    while index < entries.count {
      let entry = entries[index]
      if entry.nameCount == name.count, FieldSyntax.areEqual(bytes.extracting(entry.nameRange), name) { return index }
      index += 1
    }
    return nil
  }

  /// Adds one more field at the end.
  package mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: Marks = []) {
    entries.append(write(name, value, marks: marks))
  }

  /// Appends the bytes to the value of the last field, as a continuation line does (RFC 9112 §5.2). A space comes
  /// between the two unless one is empty. Does nothing without a field.
  package mutating func continueLast(with value: Span<UInt8>) {
    guard let last = entries.popLast() else { return }
    let line = last.start..<last.start + last.byteCount
    let isAtEnd = line.upperBound == buffer.count
    let start = isAtEnd ? last.start : buffer.count
    if !isAtEnd {
      buffer.append(contentsOf: buffer[line])
      wastedBytes += last.byteCount
    }
    // In place of the NUL and the LF.
    let space = last.valueCount == 0 || value.isEmpty ? 0 : 1
    buffer.removeLast(2)
    if space > 0 { buffer.append(UInt8(ascii: " ")) }
    buffer.append(copying: value)
    buffer.append(0)
    buffer.append(0x0A)
    entries.append(
      Entry(
        start: start, nameCount: last.nameCount, valueCount: last.valueCount + space + value.count, marks: last.marks))
    compactIfWasteful()
  }

  /// Replaces every field of that name by one, at the place of the first; without such a field, adds one at the end.
  package mutating func set(_ name: Span<UInt8>, to value: Span<UInt8>, marks: Marks = []) {
    guard let index = firstIndex(named: name) else { return append(name, value, marks: marks) }
    let entry = write(name, value, marks: marks)
    wastedBytes += entries[index].byteCount
    entries[index] = entry
    if let next = firstIndex(named: name, from: index + 1) { remove(named: name, from: next) }
    compactIfWasteful()
  }

  /// Removes every field of that name at or after a position.
  package mutating func remove(named name: Span<UInt8>, from start: Int = 0) {
    guard let first = firstIndex(named: name, from: start) else { return }
    var keptCount = first
    for index in first..<entries.count {
      if isName(at: index, name) {
        wastedBytes += entries[index].byteCount
      } else {
        entries[keptCount] = entries[index]
        keptCount += 1
      }
    }
    entries.removeLast(entries.count - keptCount)
    compactIfWasteful()
  }

  /// Removes one field, and moves those after it down by one position; `index` must be one of ``indices``.
  package mutating func remove(at index: Int) {
    wastedBytes += entries[index].byteCount
    entries.remove(at: index)
    compactIfWasteful()
  }

  /// Removes all fields and keeps their memory for the next message.
  package mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    buffer.removeAll(keepingCapacity: true)
    wastedBytes = 0
  }

  /// Writes all fields as lines of HTTP/1.1, if all bytes of the buffer belong to fields, so that one copy is enough;
  /// `output` must have room for ``wireByteCount``. An empty value keeps the space before it. Returns false, and writes
  /// nothing, if fields were removed or replaced, or if they were received.
  package func appendLines(to output: inout OutputSpan<UInt8>) -> Bool {
    guard wastedBytes == 0 else { return false }
    let start = output.count
    output.append(copying: buffer.span)
    var written = output.mutableSpan
    for entry in entries { written[start + entry.start + entry.byteCount - 2] = 0x0D }
    return true
  }

  /// Whether the field at a position has that name, compared without case.
  package func isName(at index: Int, _ name: Span<UInt8>) -> Bool {
    let entry = entries[index]
    return entry.nameCount == name.count && FieldSyntax.areEqual(buffer.span.extracting(entry.nameRange), name)
  }

  @inline(__always)
  private mutating func write(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: Marks) -> Entry {
    if buffer.capacity - buffer.count < name.count + value.count + 4 { makeRoom(name.count + value.count + 4) }
    let entry = Entry(start: buffer.count, nameCount: name.count, valueCount: value.count, marks: marks)
    // Appends everything at once: each separate append would check again whether the buffer is shared and large enough.
    buffer.append(addingCapacity: entry.byteCount) { $0.append(line: name, value) }
    return entry
  }

  /// A message has about ten headers, so this reserves room for them at once, instead of growing field by field.
  private mutating func makeRoom(_ count: Int) {
    buffer.reserveCapacity(Swift.max(buffer.count * 2, buffer.count + count, 512))
    entries.reserveCapacity(Swift.max(entries.count + 1, 16))
  }

  /// Rewrites the buffer when removed fields take most of it, so that repeated changes of a header use bounded memory.
  private mutating func compactIfWasteful() {
    guard wastedBytes > 4096, wastedBytes > buffer.count / 2 else { return }
    var compact = HeaderFields(fieldCapacity: entries.count, byteCapacity: buffer.count - wastedBytes)
    for entry in entries {
      let span = buffer.span
      compact.append(
        span.extracting(entry.nameRange), span.extracting(entry.valueRange), marks: entry.marks)
    }
    self = compact
  }
}

extension UInt8 {
  /// The byte with A–Z converted to a–z; every other byte unchanged.
  @inlinable package var asciiLowercased: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}
