package import CSluice
package import SluiceJSON
import SluiceMessages

/// A stage that is a part of the program. It provides what the entry point and the table of a library provide for a
/// plugin.
package struct ProgramStage: Sendable {
  package let information: PluginInformation?
  package let configurationSchema: String?
  package let tables: StageTables
  private let make: @Sendable (UnsafePointer<sluice_host>, JSONValue) throws -> Instance

  /// A plugin's type. An instance of it is created with a configuration.
  package init(_ type: any Plugin.Type) throws(StageFailure) {
    try checkStage(type, type.options)
    information = type.information
    configurationSchema = type.configurationSchema
    tables = StageTables(StageKinds(of: type), type.options, of: type)
    make = { try makeInstance(type, $1, $0) }
  }

  /// A value that conforms to protocols of stages.
  package init(_ stage: any Sendable, options: PluginOptions) throws(StageFailure) {
    let plugin = stage as? any Plugin
    let type = Swift.type(of: stage as Any)
    let options = plugin.map { Swift.type(of: $0).options.union(options) } ?? options
    try checkStage(type, options)
    self.init(plugin, StageParts(of: stage), options, type)
  }

  /// Functions of the program.
  package init(_ parts: StageParts, options: PluginOptions) {
    self.init(nil, parts, options, StageParts.self)
  }

  private init(_ plugin: (any Plugin)?, _ parts: StageParts, _ options: PluginOptions, _ type: Any.Type) {
    information = plugin.map { Swift.type(of: $0).information }
    configurationSchema = nil
    tables = StageTables(parts.kinds, options, of: type)
    make = { host, _ in Instance(plugin, parts, host: PluginHost(host)) }
  }

  /// Creates an instance, like `create` of a library; ``destroy`` releases it.
  package func create(
    _ host: UnsafePointer<sluice_host>, _ configuration: JSONValue
  ) throws -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(try make(host, configuration)).toOpaque()
  }

  /// The functions of every instance: `activate`, `deactivate` and `destroy`.
  package static var lifecycle: sluice_plugin {
    var table = sluice_plugin()
    table.size = UInt32(MemoryLayout<sluice_plugin>.size)
    table.abi = pluginABI
    table.activate = { activateInstance($0, $1) }
    table.deactivate = { deactivateInstance($0, $1) }
    table.destroy = { destroyInstance($0) }
    return table
  }
}
