public import CSluice

/// The revision of the ABI that this SDK was built for; the note contains it twice.
public let pluginABI: UInt32 = 1

/// The content of the section `.note.sluice`, which a host reads before any code of the plugin runs.
///
/// In order: 7, 28, 1, 0x6975_6c73, 0x6563 (the owner "sluice" and the sizes), lowest and highest ABI, flags (0), the
/// host features that the plugin requires, and its version: major, minor, patch.
///
///     @section(".note.sluice") @used
///     public let note: PluginNote = (7, 28, 1, 0x6975_6c73, 0x6563, 1, 1, 0, 0, 1, 4, 0)
public typealias PluginNote = (
  UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32
)

/// The types of the entry point's arguments and result, for its declaration.
public typealias PluginEntryHost = UnsafePointer<sluice_host>?
public typealias PluginEntryError = UnsafeMutablePointer<sluice_error>?
public typealias PluginEntryTable = UnsafePointer<sluice_plugin>?

/// The body of the entry point: makes a type the plugin of this library.
///
///     @c(sluice_plugin_entry)
///     public func entry(_ host: PluginEntryHost, _ abi: UInt32, _ error: PluginEntryError) -> PluginEntryTable {
///       export(AddHeader.self, host, abi, error)
///     }
public func export(
  _ type: any Plugin.Type, _ host: PluginEntryHost, _ abi: UInt32, _ error: PluginEntryError
) -> PluginEntryTable {
  var table: PluginEntryTable = nil
  _ = reporting(to: error) {
    guard abi >= pluginABI else {
      throw PluginFailure(message: "built for ABI \(pluginABI), this host speaks \(abi); use a newer host")
    }
    table = try ExportedPlugin.export(type).table
  }
  return table
}
