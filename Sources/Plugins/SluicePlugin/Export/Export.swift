public import CSluice

/// The revision of the ABI that this SDK was built for.
public let pluginABI: UInt32 = 1

/// The types of the entry point's arguments and result, for its declaration.
public typealias EntryHost = UnsafePointer<sluice_host>?
/// The host's buffer for the error message if the library refuses this host; valid during the call.
public typealias EntryError = UnsafeMutablePointer<sluice_error>?
/// The table of the plugin, which exists as long as the library is mapped; nil refuses this host.
public typealias EntryTable = UnsafePointer<sluice_plugin>?

/// Implements the entry point of a library: makes a type the plugin of this library.
///
///     @c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
///       export(AddHeader.self, host, abi, error)
///     }
public func export(
  _ type: any Plugin.Type, _ host: EntryHost, _ abi: UInt32, _ error: EntryError
) -> EntryTable {
  var table: EntryTable = nil
  _ = reporting(to: error) {
    guard abi >= pluginABI else {
      throw StageFailure(message: "built for ABI \(pluginABI), this host speaks \(abi); use a newer host")
    }
    table = try ExportedPlugin.export(type).table
  }
  return table
}
