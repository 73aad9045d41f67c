import CJansson
import CSluice
import SluiceJSON

/// The table `sluice.state/1` of a type that keeps a state.
func makeStateTable(_ type: Any.Type) -> sluice_state? {
  guard let type = type as? any StatefulPlugin.Type else { return nil }
  var table = sluice_state()
  table.size = UInt32(MemoryLayout<sluice_state>.size)
  table.flags = type.isStateOptional ? UInt32(SLUICE_STATE_OPTIONAL) : 0
  table.version = type.stateVersion
  table.save = { saveState($0, $1) }
  table.load = { loadState($0, $1, $2, $3) }
  return table
}

private func saveState(
  _ instance: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sluice_error>?
) -> UnsafeMutablePointer<json_t>? {
  var saved: UnsafeMutablePointer<json_t>?
  _ = reporting(to: error) {
    guard let plugin = Instance.from(instance)?.plugin as? any StatefulPlugin else { return }
    saved = try JSONValue(encoding: plugin.saveState()).retainedUnsafeJSON()
  }
  return saved
}

private func loadState(
  _ instance: UnsafeMutableRawPointer?, _ state: UnsafeMutablePointer<json_t>?, _ version: UInt32,
  _ error: UnsafeMutablePointer<sluice_error>?
) -> sluice_status {
  reporting(to: error) {
    guard let plugin = Instance.from(instance)?.plugin as? any StatefulPlugin, let state else { return }
    // A copy, because the plugin can keep parts of it.
    try plugin.load(JSONValue(retaining: state).deepCopy(), fromVersion: version)
  }
}

extension StatefulPlugin {
  fileprivate func load(_ document: JSONValue, fromVersion version: UInt32) throws {
    try loadState(version == Self.stateVersion ? document.decode() : Self.migrate(document, fromVersion: version))
  }
}
