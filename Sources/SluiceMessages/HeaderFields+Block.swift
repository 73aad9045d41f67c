extension HeaderFields {
  /// Collects the fields of a head that was received as one block of bytes.
  ///
  /// The block becomes the buffer of the fields, in one copy: a line `name: value` already has the form of the buffer,
  /// except for the CR in place of a NUL. Lines in another form, such as one with two spaces after the colon, one that ends
  /// without CR, or one that continues the line before it, are written again after the block.
  ///
  ///     var block = HeaderFields.Block()
  ///     block.append(name: 0..<4, value: 6..<8, in: bytes)    // for each field
  ///     let fields = block.takeFields(from: bytes)
  ///
  /// The ranges refer to the same block in every call; between two calls the block may only grow.
  @usableFromInline
  package struct Block: Sendable {
    /// The first ``count`` are fields of this head, the others are room that a head before it has left. An entry in
    /// `rewritten` has a negative start: -1 means offset 0.
    @usableFromInline var entries: [Entry] = []
    /// The number of fields so far.
    @usableFromInline package internal(set) var count = 0
    @usableFromInline var rewritten: [UInt8] = []
    /// Room for more fields than this is not kept for the next head.
    private static let keptFields = 32

    package init() {}

    /// Forgets fields that were not moved out.
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
      guard last.start < 0 else { return Array(copying: block.extracting(last.nameRange)) }
      return Array(rewritten[(-1 - last.start)...].prefix(last.nameCount))
    }

    /// Appends the bytes to the value of the last field, as a continuation line does (RFC 9112 §5.2). A space comes
    /// between the two unless one is empty. Does nothing without a field.
    package mutating func continueLast(with value: Range<Int>, in block: Span<UInt8>) {
      guard let last else { return }
      if last.start >= 0 {
        count -= 1
        rewrite(last.nameRange, last.valueRange, in: block)
      }
      let moved = entries[count - 1]
      // In place of the NUL and the LF. The last rewritten field is at the end of the bytes.
      rewritten.removeLast(2)
      let space = moved.valueCount == 0 || value.isEmpty ? 0 : 1
      if space > 0 { rewritten.append(UInt8(ascii: " ")) }
      rewritten.append(copying: block.extracting(value))
      rewritten.append(0)
      rewritten.append(0x0A)
      entries[count - 1] = Entry(
        start: moved.start, nameCount: moved.nameCount, valueCount: moved.valueCount + space + value.count, marks: [])
    }

    /// Moves the fields out; afterwards the block has none.
    package mutating func takeFields(from block: Span<UInt8>) -> HeaderFields {
      var fields = HeaderFields()
      guard count > 0 else { return fields }
      fields.buffer = Array(copying: block)
      // Made from a pointer, because that copies in one piece. Safe because it does not leave the closure.
      fields.entries = unsafe entries.withUnsafeBufferPointer {
        unsafe Array(UnsafeBufferPointer(rebasing: $0[..<count]))
      }
      if !rewritten.isEmpty {
        fields.buffer.append(contentsOf: rewritten)
        for index in fields.entries.indices where fields.entries[index].start < 0 {
          fields.entries[index] = moved(fields.entries[index], behind: block.count)
        }
      }
      fields.wastedBytes = fields.buffer.count - Self.endLines(of: fields.entries, in: &fields.buffer)
      removeAll()
      return fields
    }

    /// A rewritten field, in a buffer that begins with the block.
    private func moved(_ entry: Entry, behind blockCount: Int) -> Entry {
      Entry(
        start: blockCount - 1 - entry.start, nameCount: entry.nameCount, valueCount: entry.valueCount, marks: [])
    }

    /// Writes the NUL after each value, where the CR was. Returns the number of bytes that all fields take.
    private static func endLines(of entries: [Entry], in buffer: inout [UInt8]) -> Int {
      var bytes = buffer.mutableSpan
      var usedBytes = 0
      for entry in entries {
        usedBytes &+= entry.byteCount
        bytes[entry.start &+ entry.byteCount &- 2] = 0
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
