public import SluicePlugin
import TablesStage

/// The host looks for this function.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(TablesStage.self, host, abi, error)
}
