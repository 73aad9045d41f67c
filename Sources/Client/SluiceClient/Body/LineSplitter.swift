/// Splits bytes into lines that end with LF, CR LF or CR. Does no I/O.
struct LineSplitter: Sendable {
  /// The length of the longest line that is accepted, without its line end.
  let maximumBytes: Int
  private var bytes: [UInt8] = []
  private var start = 0
  /// The position up to which no line end was found.
  private var scanned = 0
  /// Whether the last line ended with CR, so that an LF that follows belongs to that line end.
  private var skipsLineFeed = false

  struct TooLong: Error {}

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  mutating func append(_ chunk: [UInt8]) {
    bytes.removeFirst(start)
    scanned -= start
    start = 0
    bytes += chunk
  }

  /// The next whole line; nil if more bytes are needed.
  mutating func nextLine() throws(TooLong) -> [UInt8]? {
    if skipsLineFeed, start < bytes.count {
      skipsLineFeed = false
      if bytes[start] == 0x0A {
        start += 1
        scanned = start
      }
    }
    while scanned < bytes.count {
      let byte = bytes[scanned]
      guard byte == 0x0A || byte == 0x0D else {
        scanned += 1
        continue
      }
      return try take(byte)
    }
    guard scanned - start <= maximumBytes else { throw TooLong() }
    return nil
  }

  private mutating func take(_ end: UInt8) throws(TooLong) -> [UInt8] {
    guard scanned - start <= maximumBytes else { throw TooLong() }
    let line = Array(bytes[start..<scanned])
    scanned += 1
    start = scanned
    skipsLineFeed = end == 0x0D
    return line
  }

  /// The last line if it has no line end; nil if the bytes ended with a line end.
  mutating func finish() -> [UInt8]? {
    guard start < bytes.count else { return nil }
    defer { start = bytes.count }
    return Array(bytes[start...])
  }
}
