package import CSluice
package import SluiceJSON

/// A plugin that is a part of the program. It has the same tables as a library, and a function that creates an
/// instance.
///
/// `@unchecked Sendable`: the tables hold functions and numbers, and nothing is written after `init`.
package struct ProgramPlugin: @unchecked Sendable {
  package let id: String
  package let version: String
  package let summary: String
  /// JSON Schema (draft-07) for the configuration; nil accepts anything.
  package let configurationSchema: String?
  /// `activate`, `deactivate` and `destroy`.
  let lifecycle: sluice_plugin
  package var interceptor: sluice_interceptor?
  package var body: sluice_body?
  package var tracer: sluice_tracer?
  package var notifications: sluice_notifications?
  package var state: sluice_state?
  /// The host's table is valid until `destroy` of the returned instance. [control]
  let create: @Sendable (UnsafePointer<sluice_host>, JSONValue) throws -> UnsafeMutableRawPointer

  package init(
    id: String, version: String, summary: String, configurationSchema: String?, lifecycle: sluice_plugin,
    create: @escaping @Sendable (UnsafePointer<sluice_host>, JSONValue) throws -> UnsafeMutableRawPointer
  ) {
    self.id = id
    self.version = version
    self.summary = summary
    self.configurationSchema = configurationSchema
    self.lifecycle = lifecycle
    self.create = create
  }
}
