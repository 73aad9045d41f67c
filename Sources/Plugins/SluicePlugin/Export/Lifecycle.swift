import CJansson
import CSluice
import SluiceJSON
import SluiceMessages

/// The functions create, activate, deactivate and destroy of the plugin's table.

func createInstance(
  _ host: UnsafePointer<sluice_host>?, _ configuration: UnsafeMutablePointer<json_t>?,
  _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ error: UnsafeMutablePointer<sluice_error>?
) -> sluice_status {
  reporting(to: error) {
    guard let host, let instance, let type = ExportedPlugin.current?.type else {
      throw StageFailure(message: "create was called without a host, or before the entry point")
    }
    let configuration = configuration.map { JSONValue(retaining: $0) }
    instance.pointee = Unmanaged.passRetained(try makeInstance(type, configuration, host)).toOpaque()
  }
}

func activateInstance(
  _ instance: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sluice_error>?
) -> sluice_status {
  reporting(to: error) { try Instance.from(instance)?.plugin?.activate() }
}

func deactivateInstance(_ instance: UnsafeMutableRawPointer?, _ timeout: UInt64) {
  guard let instance = Instance.from(instance) else { return }
  instance.tasks.cancelAll()
  // This call must come before the plugin's own `deactivate`, which can wait for its tasks. The timers are already
  // cancelled, so only this call resumes tasks that sleep.
  instance.host.link.sleeps.cutOff()
  instance.plugin?.deactivate(timeout: Duration(nanoseconds: timeout))
}

/// A task that is still ending keeps the instance alive, without its host.
func destroyInstance(_ instance: UnsafeMutableRawPointer?) {
  guard let instance else { return }
  let last = Unmanaged<Instance>.fromOpaque(instance).takeRetainedValue()
  last.host.link.close()
  // `deactivate` is called only for an instance that was activated.
  last.host.link.sleeps.cutOff()
}

/// Creates an instance of a plugin.
func makeInstance(
  _ type: any Plugin.Type, _ configuration: JSONValue?, _ host: UnsafePointer<sluice_host>
) throws -> Instance {
  guard host.pointee.size >= SLUICE_HOST_SIZE_1, host.pointee.exchange.pointee.size >= SLUICE_EXCHANGE_API_SIZE_1
  else {
    throw StageFailure(message: "the host's tables are shorter than those of ABI \(pluginABI)")
  }
  let host = PluginHost(host)
  let plugin = try type.make(configuration, host)
  return Instance(plugin, StageParts(of: plugin), host: host)
}

extension Plugin {
  /// Decodes the configuration and creates a value with it. A missing configuration counts as empty.
  fileprivate static func make(_ given: JSONValue?, _ host: PluginHost) throws -> Self {
    let configuration: Configuration = try decodeConfiguration(given, configurationDefaults)
    return try Self(configuration: configuration, host: host)
  }
}

/// Decodes a configuration. A missing one counts as empty.
func decodeConfiguration<Configuration: Decodable>(_ given: JSONValue?, _ defaults: JSONValue?) throws -> Configuration
{
  do {
    let given = given.flatMap { $0.isNull ? nil : $0 } ?? .object()
    return try completed(given, defaults).decode(unknownKeys: .refused)
  } catch let error as JSONDecodingError {
    throw StageFailure(message: "config\(error.keyPath.isEmpty ? ":" : "") \(error)")
  }
}

/// A new object that shares the members; the host's object does not change.
private func completed(_ given: JSONValue, _ defaults: JSONValue?) -> JSONValue {
  guard let defaults, given.isObject else { return given }
  let complete = JSONValue.object()
  for (key, value) in defaults.members { complete[key] = value }
  for (key, value) in given.members { complete[key] = value }
  return complete
}

/// Runs a body that can throw; the message goes to the host's buffer, and is cut off between characters if it is too
/// long.
func reporting(to error: UnsafeMutablePointer<sluice_error>?, _ body: () throws -> Void) -> sluice_status {
  do {
    try body()
    return sluice_status(SLUICE_STATUS_OK)
  } catch let thrown {
    error?.pointee.write("\(thrown)")
    return sluice_status(SLUICE_STATUS_FAILED)
  }
}

extension sluice_error {
  fileprivate func write(_ text: String) {
    guard let message, capacity > 0 else { return }
    var end = 0
    for character in text {
      let next = end + character.utf8.count
      guard next < Int(capacity) else { break }
      for (offset, byte) in character.utf8.enumerated() { message[end + offset] = CChar(bitPattern: byte) }
      end = next
    }
    message[end] = 0
  }
}
