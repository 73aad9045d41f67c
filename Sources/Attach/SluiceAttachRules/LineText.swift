/// Lines in one array, each with a NUL at its end, as C reads them. No line has a NUL in it.
package struct LineText: Sendable {
  package private(set) var bytes: [UInt8] = []
  package private(set) var count = 0

  package init() {}

  /// Reserves room for that many bytes, including NULs.
  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  package mutating func append(_ line: String) {
    bytes.append(contentsOf: line.utf8)
    bytes.append(0)
    count += 1
  }

  /// Adds a range of an array and then `ending`, as one line.
  mutating func append(_ range: Range<Int>, of text: [UInt8], ending: [UInt8] = []) {
    bytes.append(contentsOf: text[range])
    if !ending.isEmpty { bytes.append(contentsOf: ending) }
    bytes.append(0)
    count += 1
  }
}

extension [UInt8] {
  /// Adds a line unchanged, and returns its range.
  mutating func append(line: Span<UInt8>) -> Range<Int> {
    let start = count
    // An empty line needs no bytes. Appending nothing to an empty array would write to the object that all empty arrays
    // share.
    if line.isEmpty { return start..<start }
    append(addingCapacity: line.count) { for index in line.indices { $0.append(line[index]) } }
    return start..<count
  }
}
