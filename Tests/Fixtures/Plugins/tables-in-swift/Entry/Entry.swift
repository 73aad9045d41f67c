public import SluicePlugin
import TablesStage

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(TablesStage.self, host, abi, error)
}
