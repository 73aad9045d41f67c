/// A pointer that a plugin gave to the host, and that the host only passes back to the plugin.
///
/// `@unchecked Sendable`: the host never reads or writes the memory that the pointer refers to.
struct UncheckedPointer: @unchecked Sendable {
  let address: UnsafeMutableRawPointer?
  init(_ address: UnsafeMutableRawPointer?) { self.address = address }
}
