import SluiceJSON
import SluiceJSONSchema

/// Checks the configuration of an instance against the schema of its plugin.
enum ConfigurationCheck {
  static func check(
    _ configuration: JSONValue, for generation: PluginGeneration, name: String
  ) throws(PluginError) {
    let subject = PluginError.Subject.plugin(name: name, path: generation.path)
    do { try configuration.checkNesting() } catch {
      throw PluginError(.configuration, subject, "config: \(error.message)")
    }
    guard let text = generation.configurationSchema else { return }
    let schema: JSONSchema
    do {
      schema = try JSONSchema(JSONValue(parsing: text))
    } catch {
      throw PluginError(.invalidTable, subject, "its config_schema cannot be used: \(error)")
    }
    let violations = schema.violations(in: configuration)
    guard !violations.isEmpty else { return }
    let places = violations.map { "config\($0.pointer): \($0.message)" }
    throw PluginError(.configuration, subject, places.joined(separator: "; "))
  }
}
