import Glibc

/// Which file is mapped where, by the kernel's own account.
enum MappedFile {
  /// Whether the file is what lies at an address; nil where /proc cannot be read.
  ///
  /// `stat` and /proc/self/maps give different device numbers on overlayfs and btrfs. So the file is mapped once more, and
  /// two lines of the same table are compared.
  static func isMapped(_ descriptor: CInt, at address: UnsafeRawPointer) -> Bool? {
    guard let probe = mmap(nil, 1, PROT_READ, MAP_PRIVATE, descriptor, 0), probe != MAP_FAILED else { return nil }
    defer { munmap(probe, 1) }
    guard let table = table(), let expected = identity(of: UInt(bitPattern: probe), in: table) else { return nil }
    return identity(of: UInt(bitPattern: address), in: table) == expected
  }

  /// Device and inode of the mapping that holds the address, as the table spells them (proc(5)).
  static func identity(of address: UInt, in table: String) -> String? {
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      let range = fields.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
      guard fields.count >= 5, range.count == 2, range[0] <= address, address < range[1] else { continue }
      return "\(fields[3]) \(fields[4])"
    }
    return nil
  }

  private static func table() -> String? {
    let limitBytes = 16 << 20
    guard let file = FileDescriptor(opening: "/proc/self/maps", O_RDONLY) else { return nil }
    return file.readAll(capacity: limitBytes).map { String(decoding: $0, as: UTF8.self) }
  }
}
