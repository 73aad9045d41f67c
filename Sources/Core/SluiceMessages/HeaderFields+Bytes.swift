// Fields as bytes, which the wire and the ABI use; no strings are made.
extension HeaderFields {
  /// The range of the name in ``buffer``; `: ` follows it.
  @inlinable package func nameRange(at index: Int) -> Range<Int> { nameRange(entry(at: index)) }

  /// The range of the value in ``buffer``; a NUL follows it.
  @inlinable package func valueRange(at index: Int) -> Range<Int> { valueRange(entry(at: index)) }

  @inlinable @inline(__always)
  func nameRange(_ entry: Entry) -> Range<Int> {
    let start = lineOffset &+ entry.start
    return start..<start + entry.nameCount
  }

  @inlinable @inline(__always)
  func valueRange(_ entry: Entry) -> Range<Int> {
    let start = lineOffset &+ entry.start &+ entry.nameCount &+ 2
    return start..<start + entry.valueCount
  }

  package func marks(at index: Int) -> Marks { entry(at: index).marks }

  package mutating func mark(at index: Int, _ marks: Marks) { change(at: index, self.marks(at: index).union(marks)) }

  package mutating func unmark(at index: Int, _ marks: Marks) {
    change(at: index, self.marks(at: index).subtracting(marks))
  }

  private mutating func change(at index: Int, _ marks: Marks) {
    var entry = entry(at: index)
    guard entry.marks != marks else { return }
    entry.marks = marks
    setEntry(at: index, entry)
  }

  /// The position of the first field of that name at or after `start`.
  package func firstIndex(named name: Span<UInt8>, from start: Int = 0) -> Int? {
    let bytes = buffer.span
    precondition(start >= 0 && count &* Self.entrySize <= bytes.count)
    var index = start
    while index < count {
      // Safe because all entries are in the buffer, by the precondition.
      let entry = unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: index &* Self.entrySize, as: Entry.self)
      if entry.nameCount == name.count, FieldSyntax.areEqual(bytes.extracting(nameRange(entry)), name) { return index }
      index &+= 1
    }
    return nil
  }

  /// Adds one more field at the end.
  package mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: Marks = []) {
    append(write(name, value, marks: marks))
  }

  /// Appends the bytes to the value of the last field, as a continuation line does (RFC 9112 §5.2). A space separates
  /// the old value from the appended bytes, unless one of them is empty. Does nothing if there is no field yet.
  package mutating func continueLast(with value: Span<UInt8>) {
    guard !isEmpty else { return }
    let last = entry(at: count - 1)
    let line = lineRange(last)
    let isAtEnd = line.upperBound == buffer.count
    let start = isAtEnd ? last.start : lineByteCount
    if !isAtEnd {
      buffer.append(contentsOf: buffer[line])
      wastedBytes += last.byteCount
    }
    // The appended bytes replace the NUL and the LF, which are then written after them.
    let space = last.valueCount == 0 || value.isEmpty ? 0 : 1
    buffer.removeLast(2)
    if space > 0 { buffer.append(UInt8(ascii: " ")) }
    buffer.append(copying: value)
    buffer.append(0)
    buffer.append(0x0A)
    setEntry(
      at: count - 1,
      Entry(
        start: start, nameCount: last.nameCount, valueCount: last.valueCount + space + value.count, marks: last.marks))
    compactIfWasteful()
  }

  /// Replaces all fields of that name by one field, at the place of the first. If there is no such field, adds the new
  /// field at the end.
  package mutating func set(_ name: Span<UInt8>, to value: Span<UInt8>, marks: Marks = []) {
    guard let index = firstIndex(named: name) else { return append(name, value, marks: marks) }
    replace(entry(at: index), at: index, name, value, marks)
  }

  /// Replaces the first field of a name, which is at that position and has that entry, and removes the others.
  @inline(__always)
  mutating func replace(_ old: Entry, at index: Int, _ name: Span<UInt8>, _ value: Span<UInt8>, _ marks: Marks) {
    if old.valueCount == value.count {
      overwrite(old, name, value)
      if old.marks != marks { change(at: index, marks) }
    } else {
      let line = write(name, value, marks: marks)
      wastedBytes += old.byteCount
      setEntry(at: index, line)
      compactIfWasteful()
    }
    if let next = firstIndex(named: name, from: index + 1) { remove(named: name, from: next) }
  }

  /// Removes every field of that name at or after a position.
  package mutating func remove(named name: Span<UInt8>, from start: Int = 0) {
    guard let first = firstIndex(named: name, from: start) else { return }
    var keptCount = first
    for index in first..<count {
      let entry = entry(at: index)
      if isName(at: index, name) {
        wastedBytes += entry.byteCount
      } else {
        setEntry(at: keptCount, entry)
        keptCount += 1
      }
    }
    fieldCount = UInt32(keptCount)
    compactIfWasteful()
  }

  /// Removes one field, and moves the fields after it down by one position; `index` must be one of ``indices``.
  package mutating func remove(at index: Int) {
    wastedBytes += entry(at: index).byteCount
    for next in index + 1..<count { setEntry(at: next - 1, entry(at: next)) }
    fieldCount -= 1
    compactIfWasteful()
  }

  /// Removes all fields and keeps their memory for the next message.
  package mutating func removeAll() {
    buffer.removeLast(lineByteCount)
    fieldCount = 0
    wastedBytes = 0
  }

  /// Writes all fields as lines of HTTP/1.1 with one copy. This works only if all bytes of the buffer belong to fields.
  /// Otherwise returns false and writes nothing: this is so if fields were removed or replaced, or if the fields were
  /// received. In the line of an empty value, the space after the colon is kept. `output` must have room for
  /// ``wireByteCount``.
  package func appendLines(to output: inout OutputSpan<UInt8>) -> Bool {
    guard wastedBytes == 0 else { return false }
    let start = output.count
    output.append(copying: buffer.span.extracting(lineOffset...))
    var written = output.mutableSpan
    for index in indices {
      let entry = entry(at: index)
      written[start + entry.start + entry.byteCount - 2] = 0x0D
    }
    return true
  }

  /// Whether the field at a position has that name, compared case-insensitively.
  package func isName(at index: Int, _ name: Span<UInt8>) -> Bool {
    let entry = entry(at: index)
    return entry.nameCount == name.count && FieldSyntax.areEqual(buffer.span.extracting(nameRange(entry)), name)
  }

  /// Whether the field at a position has exactly that value.
  package func isValue(at index: Int, _ value: Span<UInt8>) -> Bool {
    buffer.span.extracting(valueRange(at: index)).isIdenticalInContent(to: value)
  }

  @inline(__always)
  private mutating func write(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: Marks) -> Entry {
    let byteCount = name.count + value.count + 4
    if buffer.capacity - buffer.count < byteCount { makeRoom(fields: 1, bytes: byteCount) }
    let entry = Entry(start: lineByteCount, nameCount: name.count, valueCount: value.count, marks: marks)
    // Appends everything at once: each separate append would check again whether the buffer is shared and large enough.
    buffer.append(addingCapacity: byteCount) { $0.append(line: name, value) }
    return entry
  }

  /// Overwrites the name and the value of a line with others of the same lengths.
  private mutating func overwrite(_ entry: Entry, _ name: Span<UInt8>, _ value: Span<UInt8>) {
    precondition(entry.nameCount == name.count && entry.valueCount == value.count)
    let line = lineRange(entry)
    precondition(line.lowerBound >= 0 && line.upperBound <= buffer.count)
    // Safe because the line is in the buffer, and because no pointer leaves its closure.
    unsafe buffer.withUnsafeMutableBufferPointer { target in
      guard var place = unsafe target.baseAddress?.advanced(by: line.lowerBound) else { return }
      unsafe place.append(name)
      unsafe place += 2
      unsafe place.append(value)
    }
  }

  /// Rewrites the buffer when removed fields take most of it, so that repeated changes of a header use bounded memory.
  private mutating func compactIfWasteful() {
    guard wastedBytes > 4096, wastedBytes > lineByteCount / 2 else { return }
    var compact = HeaderFields(fieldCapacity: count, byteCapacity: wireByteCount)
    for index in indices {
      let span = buffer.span
      compact.append(
        span.extracting(nameRange(at: index)), span.extracting(valueRange(at: index)), marks: marks(at: index))
    }
    self = compact
  }
}

extension UInt8 {
  /// The byte with A–Z converted to a–z; every other byte unchanged.
  @inlinable package var asciiLowercased: UInt8 { self &- 65 < 26 ? self | 0x20 : self }
}
