import Glibc

/// The content of a file, in pages of its own, which the kernel gets back at once when the last reference is released.
///
/// It is for large contents that are needed only for a moment. Such an array would stay with the process: the allocator
/// keeps what a thread frees for the next thread, once for each of its arenas.
package final class PageBytes: Sendable {
  package let count: Int
  private let address: UInt
  private let capacity: Int

  /// Reads up to the end of the file, but at most `capacity` bytes. Returns nil, with `errno` set, if that fails. The
  /// kernel provides the pages only as they are filled.
  package init?(reading file: borrowing FileDescriptor, capacity: Int) {
    let capacity = max(capacity, 1)
    let pages = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let pages, pages != MAP_FAILED else { return nil }
    var count = 0
    while count < capacity {
      let step = read(file.raw, pages + count, capacity - count)
      if step < 0 && errno == EINTR { continue }
      guard step >= 0 else {
        let error = errno
        munmap(pages, capacity)
        errno = error
        return nil
      }
      if step == 0 { break }
      count += step
    }
    self.count = count
    self.capacity = capacity
    address = UInt(bitPattern: pages)
  }

  deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), capacity) }

  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
  }
}
