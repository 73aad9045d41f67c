package import CSluice

/// The optional tables of a plugin.
///
/// Each function asks the plugin for one table, once, and returns nil if the plugin does not have the table. The result
/// is a copy. If the plugin's table is shorter than the host's, the members that it lacks are zero. [control]
extension PluginGeneration {
  package func interceptor() throws(PluginError) -> sluice_interceptor? {
    if let program { return program.interceptor }
    return try lookUp(SLUICE_INTERCEPTOR_ID, sluice_interceptor(), SLUICE_INTERCEPTOR_SIZE_1)
  }

  package func body() throws(PluginError) -> sluice_body? {
    if let program { return program.body }
    let (table, id) = (try lookUp(SLUICE_BODY_ID, sluice_body(), SLUICE_BODY_SIZE_1), SLUICE_BODY_ID)
    return try require(table, id, "on_chunk") { $0.on_chunk != nil }
  }

  package func tracer() throws(PluginError) -> sluice_tracer? {
    if let program { return program.tracer }
    let table = try lookUp(SLUICE_TRACER_ID, sluice_tracer(), SLUICE_TRACER_SIZE_1)
    return try require(table, SLUICE_TRACER_ID, "on_event") { $0.on_event != nil }
  }

  package func state() throws(PluginError) -> sluice_state? {
    if let program { return program.state }
    let table = try lookUp(SLUICE_STATE_ID, sluice_state(), SLUICE_STATE_SIZE_1)
    return try require(table, SLUICE_STATE_ID, "save and load") { $0.save != nil && $0.load != nil }
  }

  package func stage() throws(PluginError) -> sluice_stage? {
    // A plugin that is a part of the program cannot have a configuration for each place.
    guard program == nil else { return nil }
    let table = try lookUp(SLUICE_STAGE_ID, sluice_stage(), SLUICE_STAGE_SIZE_1)
    return try require(table, SLUICE_STAGE_ID, "create_stage and destroy_stage") {
      $0.create_stage != nil && $0.destroy_stage != nil
    }
  }

  /// JSON Schema (draft-07) for the configuration that a stage can have at a place in a list; nil accepts anything.
  package func stageConfigurationSchema() throws(PluginError) -> String? {
    guard let schema = try stage()?.config_schema else { return nil }
    return try reader(SLUICE_STAGE_ID).text(schema, "config_schema", limitBytes: 1 << 20)
  }

  package func notifications() throws(PluginError) -> sluice_notifications? {
    if let program { return program.notifications }
    return try lookUp(SLUICE_NOTIFICATIONS_ID, sluice_notifications(), SLUICE_NOTIFICATIONS_SIZE_1)
  }

  package func selftest() throws(PluginError) -> sluice_selftest? {
    guard program == nil else { return nil }
    let table = try lookUp(SLUICE_SELFTEST_ID, sluice_selftest(), SLUICE_SELFTEST_SIZE_1)
    return try require(table, SLUICE_SELFTEST_ID, "cases") { $0.count == 0 || $0.cases != nil }
  }

  /// - Parameter least: the table's size in revision 1.
  private func lookUp<Table>(_ id: String, _ zero: Table, _ least: UInt32) throws(PluginError) -> Table? {
    let found = id.withCString { table.extension($0) }
    guard let found else { return nil }
    return try reader(id).read(found, zero: zero, least: least)
  }

  private func require<Table>(
    _ table: Table?, _ id: String, _ members: String, _ isComplete: (Table) -> Bool
  ) throws(PluginError) -> Table? {
    guard let table else { return nil }
    guard isComplete(table) else { throw reader(id).error("has no \(members)") }
    return table
  }

  private func reader(_ id: String) -> TableReader {
    TableReader(subject: .plugin(name: nil, path: path), name: "\"\(id)\"")
  }
}
