/// A plugin's description of itself in its ELF note, which is read before any of its code runs (`note.h`).
public struct PluginNote: Sendable, Hashable {
  /// The ABI revisions that the plugin can be used with.
  public let abi: ClosedRange<UInt32>
  /// The flags, which must be 0. No flags are defined yet, and a host refuses a library with an unknown flag.
  public let flags: UInt32
  /// The semantic version; nil if the note leaves it to the plugin's table.
  public let version: String?

  package init(abi: ClosedRange<UInt32>, flags: UInt32, version: String?) {
    self.abi = abi
    self.flags = flags
    self.version = version
  }
}
