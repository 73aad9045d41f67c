import CacheRules
import struct SluiceMessages.HeaderFields

/// An entry as a file: a mark, a digest of the following bytes, and these bytes.
///
///     "sluicec1"  SHA-256  url  status  requested  received  names  selection  fields  body
///
/// Numbers have 8 bytes, little endian. A text begins with its length, a list with its count.
enum EntryFile {
  private static let mark = Array("sluicec1".utf8)
  /// The latest time is the end of the year 9999, which is the latest date that a header can hold.
  private static let moments = Timestamp(milliseconds: 0)...Timestamp(milliseconds: 253_402_300_799_999)

  static func bytes(of entry: Entry) -> [UInt8] {
    var content = ByteWriter()
    content.write(Array(entry.url.utf8))
    content.write(Int64(entry.head.status))
    content.write(entry.head.requested.milliseconds)
    content.write(entry.head.received.milliseconds)
    content.write(Int64(entry.selection.names.count))
    for name in entry.selection.names { content.write(Array(name.utf8)) }
    content.write(entry.selection.digest?.bytes ?? [])
    let headers = entry.head.headers
    content.write(Int64(headers.count))
    for index in headers.indices {
      content.write(Array(headers.buffer[headers.nameRange(at: index)]))
      content.write(Array(headers.buffer[headers.valueRange(at: index)]))
    }
    content.write(entry.body)
    return mark + Digest(of: content.bytes).bytes + content.bytes
  }

  /// Nil for an entry that is cut off or changed, has another version, or has a status or a time that no response can
  /// have.
  static func entry(_ bytes: [UInt8]) -> Entry? {
    let start = mark.count + Digest.byteCount
    guard bytes.count > start, bytes.starts(with: mark) else { return nil }
    let content = Array(bytes[start...])
    guard Digest(of: content).bytes.elementsEqual(bytes[mark.count..<start]) else { return nil }
    var reader = ByteReader(content)
    return try? entry(&reader)
  }

  private static func entry(_ reader: inout ByteReader) throws(ByteReader.EndOfBytes) -> Entry {
    let url = try reader.text()
    let status = try reader.number()
    let requested = Timestamp(milliseconds: try reader.number())
    let received = Timestamp(milliseconds: try reader.number())
    guard (100...999).contains(status), moments.contains(requested), moments.contains(received) else {
      throw ByteReader.EndOfBytes()
    }
    var names: [String] = []
    for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
    let digest = try reader.bytes()
    var headers = HeaderFields()
    for _ in 0..<(try reader.count()) {
      let name = try reader.bytes()
      let value = try reader.bytes()
      headers.append(name.span, value.span)
    }
    let body = try reader.bytes()
    return Entry(
      url: url, head: StoredHead(status: Int(status), headers: headers, requested: requested, received: received),
      body: body,
      selection: Entry.Selection(names: names, digest: digest.isEmpty ? nil : Digest(stored: digest)))
  }
}

struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ number: Int64) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ piece: [UInt8]) {
    write(Int64(piece.count))
    bytes.append(contentsOf: piece)
  }
}

struct ByteReader {
  struct EndOfBytes: Error {}

  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func number() throws(EndOfBytes) -> Int64 {
    let piece = rest.prefix(8)
    guard piece.count == 8 else { throw EndOfBytes() }
    rest = rest.dropFirst(8)
    return Int64(bitPattern: piece.reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Reads the number of elements of a list. Each element has at least one byte, so a number above the remaining bytes
  /// is an error.
  mutating func count() throws(EndOfBytes) -> Int {
    let number = try number()
    guard number >= 0, number <= rest.count else { throw EndOfBytes() }
    return Int(number)
  }

  mutating func bytes() throws(EndOfBytes) -> [UInt8] {
    let count = try count()
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func text() throws(EndOfBytes) -> String { String(decoding: try bytes(), as: UTF8.self) }
}
