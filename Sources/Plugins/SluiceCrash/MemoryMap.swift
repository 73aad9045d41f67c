/// The mapped files and their addresses, from the text of /proc/PID/maps (proc(5)).
struct MemoryMap: Sendable {
  struct Region: Sendable, Hashable {
    let range: Range<UInt64>
    /// The offset in the file of the region's first byte.
    let offset: UInt64
    let path: String
  }

  /// The regions that map a file, in order of their addresses.
  private(set) var regions: [Region] = []

  init(_ lines: some Sequence<Substring>) {
    for line in lines {
      let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard fields.count == 6, let path = fields.last.map({ String($0.drop { $0 == " " }) }), path.hasPrefix("/") else {
        continue
      }
      let bounds = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard bounds.count == 2, bounds[0] < bounds[1], let offset = UInt64(fields[2], radix: 16) else { continue }
      regions.append(Region(range: bounds[0]..<bounds[1], offset: offset, path: Self.current(path)))
    }
  }

  /// The path of the file. For a deleted file, it is the path that the file had.
  private static func current(_ path: String) -> String {
    let mark = " (deleted)"
    return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
  }

  func region(at address: UInt64) -> Region? { regions.first { $0.range.contains(address) } }
}
