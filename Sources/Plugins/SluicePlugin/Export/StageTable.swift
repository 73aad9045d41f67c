import CJansson
import CSluice
import Glibc
import SluiceJSON

/// The table `sluice.stage/1` of a type whose places have configurations.
func makeStageTable(_ type: any Plugin.Type) -> sluice_stage? {
  guard let type = type as? any StageConfigurable.Type else { return nil }
  var table = sluice_stage()
  table.size = UInt32(MemoryLayout<sluice_stage>.size)
  table.config_schema = type.stageConfigurationSchema.map { UnsafePointer(strdup($0)) }
  table.create_stage = { createStage($0, $1, $2, $3) }
  table.destroy_stage = { destroyStage($1) }
  return table
}

private func createStage(
  _ instance: UnsafeMutableRawPointer?, _ configuration: UnsafeMutablePointer<json_t>?,
  _ stage: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ error: UnsafeMutablePointer<sluice_error>?
) -> sluice_status {
  reporting(to: error) {
    guard let stage, let plugin = Instance.from(instance)?.plugin as? any StageConfigurable else {
      throw StageFailure(message: "create_stage was called without an instance")
    }
    let place = try plugin.makePlace(configuration.map { JSONValue(retaining: $0) })
    stage.pointee = Unmanaged.passRetained(place).toOpaque()
  }
}

private func destroyStage(_ stage: UnsafeMutableRawPointer?) {
  if let stage { Unmanaged<StagePlace>.fromOpaque(stage).release() }
}

extension StageConfigurable {
  fileprivate func makePlace(_ given: JSONValue?) throws -> StagePlace {
    let configuration: StageConfiguration = try decodeConfiguration(given, Self.stageConfigurationDefaults)
    try checkStage(configuration)
    return StagePlace(configuration)
  }
}
