/// A pointer of a plugin that the host only passes back. Unchecked: only the plugin uses what it points to.
struct UncheckedPointer: @unchecked Sendable {
  let address: UnsafeMutableRawPointer?
  init(_ address: UnsafeMutableRawPointer?) { self.address = address }
}
