/// An ordered list of HTTP fields with case-insensitive names (RFC 9110 §5.1).
///
/// All fields share one buffer, in one allocation: entries that say where each field is, and after them each field as
/// `name: value`, a NUL and a LF. C code takes lines in this form. With a CR in place of the NUL, a line has the form
/// of HTTP/1.1, so lines are copied unchanged. Copies are copy-on-write.
public struct HeaderFields: Sendable {
  /// The position of one field in the buffer, and its marks.
  @usableFromInline
  struct Entry: Sendable, BitwiseCopyable {
    /// The offset of the field's line, counted from the first byte of all lines.
    @usableFromInline let start: Int
    @usableFromInline let valueCount: Int
    /// The length of the name and the marks. They share one word, because two words would make each entry a third
    /// larger.
    @usableFromInline var nameCountAndMarks: Int

    @inlinable
    init(start: Int, nameCount: Int, valueCount: Int, marks: Marks) {
      self.start = start
      self.valueCount = valueCount
      nameCountAndMarks = nameCount << 8 | Int(marks.rawValue)
    }

    @inlinable var nameCount: Int { nameCountAndMarks >> 8 }
    var marks: Marks {
      get { Marks(rawValue: UInt8(truncatingIfNeeded: nameCountAndMarks)) }
      set { nameCountAndMarks = nameCountAndMarks & ~0xFF | Int(newValue.rawValue) }
    }

    @inlinable var byteCount: Int { nameCount &+ valueCount &+ 4 }
  }

  /// The engine's marks of a field.
  @usableFromInline
  package struct Marks: OptionSet, Sendable, Hashable {
    /// The bits 1 (`sensitive`), 2 (`addedByStage`) and 4 (`forProxy`).
    @usableFromInline package let rawValue: UInt8
    /// Keeps unknown bits, which have no effect.
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value is a secret: the field is dropped when a redirect leaves the origin, and redacted wherever it is
    /// shown.
    @inlinable package static var sensitive: Marks { Marks(rawValue: 1) }
    /// A stage added the field, not the caller: the field is dropped when a redirect leaves the origin.
    @inlinable package static var addedByStage: Marks { Marks(rawValue: 2) }
    /// The field is the engine's answer to a proxy's challenge. It is the only field of a connection that is sent from
    /// the list.
    @inlinable package static var forProxy: Marks { Marks(rawValue: 4) }
  }

  /// The position of a field in the list.
  package typealias Index = Int

  /// Room for ``entryCapacity`` entries, and then the lines. ``nameRange(at:)`` and ``valueRange(at:)`` say where names
  /// and values are.
  ///
  /// Bytes outside these ranges may belong to removed fields.
  @usableFromInline package internal(set) var buffer: [UInt8] = []
  @usableFromInline var fieldCount: UInt32 = 0
  @usableFromInline var entryCapacity: UInt32 = 0
  /// The number of bytes of lines to which no entry refers.
  @usableFromInline var wastedBytes = 0

  /// An empty list, which allocates nothing before the first field.
  @inlinable public init() {}

  /// Reserves room, so that a message of known size is built with one allocation.
  package init(fieldCapacity: Int, byteCapacity: Int) {
    let empty: [UInt8] = []
    self.init(entries: empty.span, fieldCapacity: fieldCapacity, lines: empty.span, byteCapacity: byteCapacity)
  }

  /// A copy in its own storage, with room for more fields and for the bytes of their lines.
  package func withRoom(fields: Int, bytes: Int) -> HeaderFields {
    copy(fieldCapacity: count + fields, byteCapacity: lineByteCount + bytes)
  }

  /// The number of fields; a repeated name counts once for each line.
  public var count: Int { Int(fieldCount) }
  /// Whether there is no field.
  public var isEmpty: Bool { fieldCount == 0 }
  /// The positions of the fields in wire order, from 0; removing a field moves the fields after it.
  @inlinable package var indices: Range<Int> { 0..<Int(fieldCount) }

  /// The bytes that the fields take on the wire in HTTP/1.1, including line ends.
  package var wireByteCount: Int { lineByteCount - wastedBytes }
}
