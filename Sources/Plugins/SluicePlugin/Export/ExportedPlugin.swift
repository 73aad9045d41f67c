import CSluice
import Glibc
import SluiceSupport

/// The plugin of this library and its tables, created on the first call of the entry point and kept permanently,
/// because the library is never unmapped.
///
/// `@unchecked Sendable`: the memory behind the pointers is written once, before the value is shared.
struct ExportedPlugin: @unchecked Sendable {
  let type: any Plugin.Type
  let table: UnsafePointer<sluice_plugin>
  let interceptor: UnsafePointer<sluice_interceptor>?
  let body: UnsafePointer<sluice_body>?
  let tracer: UnsafePointer<sluice_tracer>?
  let notifications: UnsafePointer<sluice_notifications>?
  let state: UnsafePointer<sluice_state>?
  let selfTests: UnsafePointer<sluice_selftest>?
  let stage: UnsafePointer<sluice_stage>?

  private static let shared = Locked<ExportedPlugin?>(nil)

  /// The plugin of this library, for the functions of its table.
  static var current: ExportedPlugin? { shared.withLock { $0 } }

  /// The tables of a type; throws if the type cannot work, or if the library already exports another type.
  static func export(_ type: any Plugin.Type) throws(StageFailure) -> ExportedPlugin {
    try shared.withLock { shared throws(StageFailure) in
      if let known = shared {
        guard known.type == type else {
          throw StageFailure(message: "the library already exports \(known.type); a library can export only one plugin")
        }
        return known
      }
      let made = try ExportedPlugin(type)
      shared = made
      return made
    }
  }

  private init(_ type: any Plugin.Type) throws(StageFailure) {
    try checkStage(type, type.options)
    self.type = type
    let tables = StageTables(StageKinds(of: type), type.options, of: type)
    interceptor = tables.interceptor.map(keep)
    body = tables.body.map(keep)
    tracer = tables.tracer.map(keep)
    notifications = tables.notifications.map(keep)
    state = tables.state.map(keep)
    selfTests = makeSelfTestTable(type).map(keep)
    stage = makeStageTable(type).map(keep)
    table = keep(makePluginTable(type))
  }
}

/// Stores a table permanently.
func keep<Table>(_ table: Table) -> UnsafePointer<Table> {
  let place = UnsafeMutablePointer<Table>.allocate(capacity: 1)
  place.initialize(to: table)
  return UnsafePointer(place)
}

private func makePluginTable(_ type: any Plugin.Type) -> sluice_plugin {
  var table = sluice_plugin()
  table.size = UInt32(MemoryLayout<sluice_plugin>.size)
  table.abi = pluginABI
  table.id = UnsafePointer(strdup(type.information.id))
  table.version = UnsafePointer(strdup(type.information.version))
  table.summary = UnsafePointer(strdup(type.information.summary))
  table.config_schema = type.configurationSchema.map { UnsafePointer(strdup($0)) }
  table.create = { createInstance($0, $1, $2, $3) }
  table.activate = { activateInstance($0, $1) }
  table.deactivate = { deactivateInstance($0, $1) }
  table.destroy = { destroyInstance($0) }
  table.extension = { findExtension($0) }
  return table
}

private func findExtension(_ id: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
  guard let id, let exported = ExportedPlugin.current else { return nil }
  if strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 { return exported.interceptor.map { UnsafeRawPointer($0) } }
  if strcmp(id, SLUICE_BODY_ID) == 0 { return exported.body.map { UnsafeRawPointer($0) } }
  if strcmp(id, SLUICE_TRACER_ID) == 0 { return exported.tracer.map { UnsafeRawPointer($0) } }
  if strcmp(id, SLUICE_NOTIFICATIONS_ID) == 0 { return exported.notifications.map { UnsafeRawPointer($0) } }
  if strcmp(id, SLUICE_STATE_ID) == 0 { return exported.state.map { UnsafeRawPointer($0) } }
  if strcmp(id, SLUICE_SELFTEST_ID) == 0 { return exported.selfTests.map { UnsafeRawPointer($0) } }
  if strcmp(id, SLUICE_STAGE_ID) == 0 { return exported.stage.map { UnsafeRawPointer($0) } }
  return nil
}
