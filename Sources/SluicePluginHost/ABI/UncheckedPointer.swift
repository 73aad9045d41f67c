/// A pointer of a plugin's that the host only passes back. Unchecked: what it points to is the plugin's own business.
struct UncheckedPointer: @unchecked Sendable {
  let address: UnsafeMutableRawPointer?
  init(_ address: UnsafeMutableRawPointer?) { self.address = address }
}
