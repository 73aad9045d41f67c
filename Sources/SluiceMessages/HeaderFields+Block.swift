extension HeaderFields {
  /// Collects the fields of a head that was received as one block of bytes.
  ///
  /// The block becomes the buffer of the fields, in one copy: a line `name: value` already has the form of the buffer,
  /// except that a line end follows it instead of a NUL. Lines in another form, such as one with two spaces after the
  /// colon, or one that continues the line before it, are written again after the block.
  ///
  ///     var block = HeaderFields.Block()
  ///     block.append(name: 0..<4, value: 6..<8, in: bytes)    // for each field
  ///     let fields = block.takeFields(from: bytes)
  ///
  /// The ranges refer to the same block in every call; between two calls the block may only grow.
  package struct Block: Sendable {
    /// An entry in `rewritten` has a negative start: -1 stands for offset 0.
    private var entries: [Entry] = []
    private var rewritten: [UInt8] = []
    /// The number of fields of the last head: room for them is made at once.
    private var expectedCount = 8

    package init() {}

    /// The number of fields so far.
    package var count: Int { entries.count }

    /// Forgets fields that were not moved out.
    package mutating func removeAll() {
      if !entries.isEmpty { entries = [] }
      if !rewritten.isEmpty { rewritten = [] }
    }

    /// Adds a field. A byte that belongs to no field must follow the value.
    package mutating func append(name: Range<Int>, value: Range<Int>, in block: Span<UInt8>) {
      let hasForm = value.lowerBound == name.upperBound + 2 && block[name.upperBound + 1] == UInt8(ascii: " ")
      guard hasForm, value.upperBound < block.count else { return rewrite(name, value, in: block) }
      if entries.isEmpty { entries.reserveCapacity(expectedCount) }
      entries.append(Entry(start: name.lowerBound, nameCount: name.count, valueCount: value.count, marks: []))
    }

    /// The length of the last field's name; nil if there is no field.
    package var lastNameCount: Int? { entries.last?.nameCount }

    /// The name of the last field; nil if there is no field.
    package func lastName(in block: Span<UInt8>) -> [UInt8]? {
      guard let last = entries.last else { return nil }
      guard last.start < 0 else { return Array(copying: block.extracting(last.nameRange)) }
      return Array(rewritten[(-1 - last.start)...].prefix(last.nameCount))
    }

    /// Appends the bytes to the value of the last field, as a continuation line does (RFC 9112 §5.2). A space comes
    /// between the two unless one is empty. Does nothing without a field.
    package mutating func continueLast(with value: Range<Int>, in block: Span<UInt8>) {
      guard let last = entries.last else { return }
      if last.start >= 0 {
        entries.removeLast()
        rewrite(last.nameRange, last.valueRange, in: block)
      }
      guard let moved = entries.popLast() else { return }
      // In place of the NUL. The last rewritten field is at the end of the bytes.
      rewritten.removeLast()
      let space = moved.valueCount == 0 || value.isEmpty ? 0 : 1
      if space > 0 { rewritten.append(UInt8(ascii: " ")) }
      rewritten.append(copying: block.extracting(value))
      rewritten.append(0)
      entries.append(
        Entry(
          start: moved.start, nameCount: moved.nameCount, valueCount: moved.valueCount + space + value.count, marks: [])
      )
    }

    /// Moves the fields out; afterwards the block has none.
    package mutating func takeFields(from block: Span<UInt8>) -> HeaderFields {
      var fields = HeaderFields()
      guard !entries.isEmpty else { return fields }
      // A head of many fields says little about the next one.
      expectedCount = Swift.min(Swift.max(entries.count, 8), 64)
      swap(&fields.entries, &entries)
      fields.buffer.reserveCapacity(block.count + rewritten.count)
      fields.buffer.append(copying: block)
      var usedBytes = 0
      for index in fields.entries.indices {
        let entry = fields.entries[index]
        usedBytes += entry.byteCount
        if entry.start >= 0 {
          fields.buffer[entry.valueRange.upperBound] = 0
        } else {
          fields.entries[index] = Entry(
            start: block.count - 1 - entry.start, nameCount: entry.nameCount, valueCount: entry.valueCount, marks: [])
        }
      }
      if !rewritten.isEmpty {
        fields.buffer.append(contentsOf: rewritten)
        rewritten = []
      }
      fields.wastedBytes = fields.buffer.count - usedBytes
      return fields
    }

    private mutating func rewrite(_ name: Range<Int>, _ value: Range<Int>, in block: Span<UInt8>) {
      entries.append(Entry(start: -1 - rewritten.count, nameCount: name.count, valueCount: value.count, marks: []))
      rewritten.append(addingCapacity: name.count + value.count + 3) {
        $0.append(line: block.extracting(name), block.extracting(value))
      }
    }
  }
}
