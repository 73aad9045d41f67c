// The buffer that holds all fields: first the room for entries, then the lines.
extension HeaderFields {
  /// Makes a list of these fields in an allocation of its own.
  ///
  /// - Parameters:
  ///   - entries: the bytes of the entries; each entry says where its field is in `lines`.
  ///   - fieldCapacity: the number of fields for which there is room; at least the number of entries.
  ///   - byteCapacity: the number of bytes for which there is room; at least the size of `lines`.
  init(entries: Span<UInt8>, fieldCapacity: Int, lines: Span<UInt8>, byteCapacity: Int) {
    let count = entries.count / Self.entrySize
    let capacity = UInt32(Swift.max(fieldCapacity, count))
    let lineOffset = Int(capacity) * Self.entrySize
    let byteCount = lineOffset + Swift.max(byteCapacity, lines.count)
    // All empty arrays share one object. Appending to an empty array, even nothing, would write to this shared object.
    guard byteCount > 0 else { return }
    // `Array(capacity:initializingWith:)` is not used, because it looks up the type of the array each time.
    buffer.append(addingCapacity: byteCount) { output in
      output.append(copying: entries)
      output.append(zeros: lineOffset - output.count)
      output.append(copying: lines)
    }
    fieldCount = UInt32(count)
    entryCapacity = capacity
  }

  @inlinable static var entrySize: Int { MemoryLayout<Entry>.stride }

  /// The offset of the first line in ``buffer``.
  @inlinable package var lineOffset: Int { Int(entryCapacity) &* Self.entrySize }

  /// The bytes of all lines, including the lines of removed fields.
  package var lineByteCount: Int { buffer.count - lineOffset }

  /// Whether both lists have the same lines, including the lines of removed fields. Marks are not compared.
  package func hasSameLines(as other: HeaderFields) -> Bool {
    lineByteCount == other.lineByteCount && begins(withLinesOf: other)
  }

  /// Whether the lines begin with the lines of another list.
  func begins(withLinesOf other: HeaderFields) -> Bool {
    guard lineByteCount >= other.lineByteCount else { return false }
    let bytes = buffer.span.extracting(lineOffset..<lineOffset + other.lineByteCount)
    return bytes.isIdenticalInContent(to: other.buffer.span.extracting(other.lineOffset...))
  }

  @inlinable @inline(__always)
  func entry(at index: Int) -> Entry {
    precondition(index >= 0 && index < Int(fieldCount), "no such field")
    // Safe because the load checks that it stays in the buffer, which begins with the entries.
    return unsafe buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: index &* Self.entrySize, as: Entry.self)
  }

  /// Writes the entry of a field. At the position ``count`` it is the entry of a new field.
  @inline(__always)
  mutating func setEntry(at index: Int, _ entry: Entry) {
    precondition(index >= 0 && index < Int(entryCapacity), "no room for such a field")
    var span = buffer.mutableSpan
    // Safe because an entry has no padding, and because the store checks that it stays in the buffer.
    var bytes = unsafe span.mutableBytes
    bytes.storeBytes(of: entry, toByteOffset: index &* Self.entrySize, as: Entry.self)
  }

  /// Adds the entry of a line that is in the buffer.
  @inline(__always)
  mutating func append(_ entry: Entry) {
    if fieldCount == entryCapacity { makeRoom(fields: 1, bytes: 0) }
    setEntry(at: count, entry)
    fieldCount += 1
  }

  /// The place of a line, with its NUL and LF.
  func lineRange(_ entry: Entry) -> Range<Int> {
    let start = lineOffset + entry.start
    return start..<start + entry.byteCount
  }

  func copy(fieldCapacity: Int, byteCapacity: Int) -> HeaderFields {
    var copy = HeaderFields(
      entries: buffer.span.extracting(..<(count * Self.entrySize)), fieldCapacity: fieldCapacity,
      lines: buffer.span.extracting(lineOffset...), byteCapacity: byteCapacity)
    copy.wastedBytes = wastedBytes
    return copy
  }

  /// Makes room for more fields and for the bytes of their lines. A message has about ten headers, so there is room for
  /// them at once, instead of growing field by field.
  mutating func makeRoom(fields: Int, bytes: Int) {
    let hasEntries = Int(entryCapacity) - count >= fields
    let hasBytes = buffer.capacity - buffer.count >= bytes
    self = copy(
      fieldCapacity: hasEntries ? Int(entryCapacity) : Swift.max(count * 2, count + fields, 16),
      byteCapacity: hasBytes
        ? buffer.capacity - lineOffset : Swift.max(lineByteCount * 2, lineByteCount + bytes, 512))
  }
}
