import Glibc
import SluiceSupport

/// Asks the kernel which file is mapped at an address.
enum MappedFile {
  /// Whether the file of this descriptor is mapped at the address; nil if /proc cannot be read.
  ///
  /// `stat` and /proc/self/maps give different device numbers on overlayfs and btrfs. So this function maps the file
  /// once more, and compares the lines of both mappings in /proc/self/maps.
  static func isMapped(_ descriptor: CInt, at address: UnsafeRawPointer) -> Bool? {
    guard let probe = mmap(nil, 1, PROT_READ, MAP_PRIVATE, descriptor, 0), probe != MAP_FAILED else { return nil }
    defer { munmap(probe, 1) }
    guard let table = table(), let expected = identity(of: UInt(bitPattern: probe), in: table) else { return nil }
    return identity(of: UInt(bitPattern: address), in: table) == expected
  }

  /// The device and the inode of the mapping that contains the address, in the form of the table /proc/self/maps
  /// (proc(5)).
  ///
  /// A process that has swapped a thousand builds has ten thousand mappings, so only the matching line is parsed.
  static func identity(of address: UInt, in table: [UInt8]) -> String? {
    table.withUnsafeBytes { bytes in
      guard var line = bytes.baseAddress else { return nil }
      let end = line + bytes.count
      while line < end {
        let lineEnd = memchr(line, CInt(UInt8(ascii: "\n")), end - line).map { UnsafeRawPointer($0) } ?? end
        if holds(line, address) {
          let text = String(decoding: UnsafeRawBufferPointer(start: line, count: lineEnd - line), as: UTF8.self)
          let fields = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
          return fields.count >= 5 ? "\(fields[3]) \(fields[4])" : nil
        }
        line = lineEnd + 1
      }
      return nil
    }
  }

  /// Whether the range at the beginning of a line (`low-high `) contains the address.
  private static func holds(_ line: UnsafeRawPointer, _ address: UInt) -> Bool {
    var rest: UnsafeMutablePointer<CChar>?
    let low = strtoul(line.assumingMemoryBound(to: CChar.self), &rest, 16)
    guard low <= address, let dash = rest, dash.pointee == CChar(UInt8(ascii: "-")) else { return false }
    return address < strtoul(dash + 1, nil, 16)
  }

  /// Reads the table and adds a NUL at its end, so that no number is read beyond the table.
  private static func table() -> [UInt8]? {
    let limitBytes = 16 << 20
    guard let file = FileDescriptor(opening: "/proc/self/maps", O_RDONLY) else { return nil }
    guard var table = file.readAll(capacity: limitBytes) else { return nil }
    table.append(0)
    return table
  }
}
