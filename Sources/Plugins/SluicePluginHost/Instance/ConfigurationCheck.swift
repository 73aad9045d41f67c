import SluiceJSON
import SluiceJSONSchema

/// Checks the configuration of an instance against the schema of its plugin.
enum ConfigurationCheck {
  static func check(
    _ configuration: JSONValue, for generation: PluginGeneration, name: String, runtime: HostRuntime
  ) throws(PluginError) {
    try check(
      configuration, against: generation.configurationSchema, "config", .plugin(name: name, path: generation.path),
      runtime)
  }

  /// - Parameters:
  ///   - text: the schema; nil accepts anything.
  ///   - key: the key of the configuration, for messages.
  static func check(
    _ configuration: JSONValue, against text: String?, _ key: String, _ subject: PluginError.Subject,
    _ runtime: HostRuntime
  ) throws(PluginError) {
    do { try configuration.checkNesting() } catch {
      throw PluginError(.configuration, subject, "\(key): \(error.message)")
    }
    guard let text else { return }
    let schema: JSONSchema
    do {
      let document = try JSONValue(parsing: text)
      schema = runtime.trustsSchemas ? try JSONSchema(trusting: document) : try JSONSchema(document)
    } catch {
      throw PluginError(.invalidTable, subject, "its config_schema cannot be used: \(error)")
    }
    let violations = schema.violations(in: configuration)
    guard !violations.isEmpty else { return }
    let places = violations.map { "\(key)\($0.pointer): \($0.message)" }
    throw PluginError(.configuration, subject, places.joined(separator: "; "))
  }
}
