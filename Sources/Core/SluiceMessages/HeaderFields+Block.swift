extension HeaderFields {
  /// Collects the fields of a head that was received as one block of bytes.
  ///
  /// The block becomes the lines of the fields, in one copy: a received line `name: value` already has the form of a
  /// stored line, except for the CR in place of a NUL. Lines in another form, such as one with two spaces after the
  /// colon, one that ends without CR, or one that continues the line before it, are written again after the block.
  ///
  ///     var block = HeaderFields.Block()
  ///     block.append(name: 0..<4, value: 6..<8, in: bytes)    // for each field
  ///     let fields = block.takeFields(from: bytes)
  ///
  /// The ranges refer to the same block in every call; between two calls the block can grow.
  @usableFromInline
  package struct Block: Sendable {
    /// The first ``count`` entries are fields of this head; the entries after them are unused room. An entry in
    /// `rewritten` has a negative start: -1 means offset 0.
    @usableFromInline var entries: [Entry] = []
    /// The number of fields so far.
    @usableFromInline package internal(set) var count = 0
    @usableFromInline var rewritten: [UInt8] = []
    /// If the block has room for more fields than this, the room is not kept for the next head.
    private static let keptFields = 32
    /// Room for the fields that stages add to a response, so that adding them needs no further allocation.
    private static let roomForFields = 8
    private static let roomForBytes = 256

    package init() {}

    /// Removes all fields that ``takeFields(from:)`` has not moved out.
    package mutating func removeAll() {
      count = 0
      if entries.count > Self.keptFields { entries = [] }
      if !rewritten.isEmpty { rewritten = [] }
    }

    /// Adds a field.
    @inlinable @inline(__always)
    package mutating func append(name: Range<Int>, value: Range<Int>, in block: Span<UInt8>) {
      let hasForm = value.lowerBound == name.upperBound + 2 && block[name.upperBound + 1] == UInt8(ascii: " ")
      let end = value.upperBound
      guard hasForm, end + 1 < block.count, block[end] == 0x0D, block[end + 1] == 0x0A else {
        return rewrite(name, value, in: block)
      }
      append(Entry(start: name.lowerBound, nameCount: name.count, valueCount: value.count, marks: []))
    }

    @inlinable @inline(__always)
    mutating func append(_ entry: Entry) {
      if count < entries.count { entries[count] = entry } else { entries.append(entry) }
      count += 1
    }

    private var last: Entry? { count > 0 ? entries[count - 1] : nil }

    /// The length of the last field's name; nil if there is no field.
    package var lastNameCount: Int? { last?.nameCount }

    /// The name of the last field; nil if there is no field.
    package func lastName(in block: Span<UInt8>) -> [UInt8]? {
      guard let last else { return nil }
      guard last.start < 0 else { return Array(copying: block.extracting(last.start..<last.start + last.nameCount)) }
      return Array(rewritten[(-1 - last.start)...].prefix(last.nameCount))
    }

    /// Appends the bytes to the value of the last field, as a continuation line does (RFC 9112 §5.2). A space separates
    /// the old value from the appended bytes, unless one of them is empty. Does nothing if there is no field yet.
    package mutating func continueLast(with value: Range<Int>, in block: Span<UInt8>) {
      guard let last else { return }
      if last.start >= 0 {
        count -= 1
        let value = last.start + last.nameCount + 2
        rewrite(last.start..<last.start + last.nameCount, value..<value + last.valueCount, in: block)
      }
      let moved = entries[count - 1]
      // Overwrites the NUL and the LF of the last rewritten field, which are the last bytes.
      rewritten.removeLast(2)
      let space = moved.valueCount == 0 || value.isEmpty ? 0 : 1
      if space > 0 { rewritten.append(UInt8(ascii: " ")) }
      rewritten.append(copying: block.extracting(value))
      rewritten.append(0)
      rewritten.append(0x0A)
      entries[count - 1] = Entry(
        start: moved.start, nameCount: moved.nameCount, valueCount: moved.valueCount + space + value.count, marks: [])
    }

    /// Returns the fields and removes them from the block.
    package mutating func takeFields(from block: Span<UInt8>) -> HeaderFields {
      guard count > 0 else { return HeaderFields() }
      // Safe because an entry has no padding.
      var fields = HeaderFields(
        entries: unsafe Span<UInt8>(_bytes: entries.span.extracting(..<count).bytes),
        fieldCapacity: count + Self.roomForFields, lines: block,
        byteCapacity: block.count + rewritten.count + Self.roomForBytes)
      if !rewritten.isEmpty { fields.takeRewritten(rewritten, behind: block.count) }
      fields.wastedBytes = fields.lineByteCount - endLines(in: &fields)
      removeAll()
      return fields
    }

    /// Writes the NUL after each value, where the CR was. Returns the number of bytes that all fields take.
    private func endLines(in fields: inout HeaderFields) -> Int {
      let lineOffset = fields.lineOffset
      var bytes = fields.buffer.mutableSpan
      var usedBytes = 0
      for index in 0..<count {
        let entry = entries[index]
        usedBytes &+= entry.byteCount
        // A line that was written again already has its NUL.
        if entry.start >= 0 { bytes[lineOffset &+ entry.start &+ entry.byteCount &- 2] = 0 }
      }
      return usedBytes
    }

    @usableFromInline
    mutating func rewrite(_ name: Range<Int>, _ value: Range<Int>, in block: Span<UInt8>) {
      append(Entry(start: -1 - rewritten.count, nameCount: name.count, valueCount: value.count, marks: []))
      rewritten.append(addingCapacity: name.count + value.count + 4) {
        $0.append(line: block.extracting(name), block.extracting(value))
      }
    }
  }
}

extension HeaderFields {
  /// Appends the lines that were written again, after a block of that size.
  private mutating func takeRewritten(_ lines: [UInt8], behind blockCount: Int) {
    buffer.append(contentsOf: lines)
    for index in indices {
      let entry = entry(at: index)
      guard entry.start < 0 else { continue }
      setEntry(
        at: index,
        Entry(
          start: blockCount - 1 - entry.start, nameCount: entry.nameCount, valueCount: entry.valueCount, marks: []))
    }
  }
}
