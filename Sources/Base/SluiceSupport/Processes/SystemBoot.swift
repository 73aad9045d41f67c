import Glibc

/// The start of the machine.
package enum SystemBoot {
  /// A UUID that changes each time the machine starts: 36 characters (random(4)); nil if it cannot be read.
  package static let id: String? = {
    guard let file = FileDescriptor(opening: "/proc/sys/kernel/random/boot_id", O_RDONLY),
      let bytes = file.readAll(capacity: 64)
    else { return nil }
    let id = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined()
    return id.utf8.count == 36 ? id : nil
  }()
}
