import CSluice

/// A plugin that can have a separate configuration for each of its places in the lists of stages (`sluice.stage/1`, a
/// draft):
///
///     "request": [{"plugin": "limit", "match": {"paths": ["/search"]}, "config": {"rate": 5}}, "limit"]
///
/// A call reads the configuration of its place:
///
///     let rate = context.stageConfiguration(of: Self.self)?.rate ?? configuration.rate
public protocol StageConfigurable: Plugin {
  /// Decoded from `config` of the place; unknown keys are refused.
  associatedtype StageConfiguration: Decodable & Sendable

  /// A JSON Schema (draft-07) that the host checks the configuration of a place against; by default none.
  static var stageConfigurationSchema: String? { get }
  /// Default members. A member that a configuration lacks is added before decoding. By default there are none.
  static var stageConfigurationDefaults: JSONValue? { get }

  /// Checks the configuration of a place, after `init` and before `activate()`: no I/O, no threads. The user sees the
  /// error that it throws. By default every configuration is accepted.
  func checkStage(_ configuration: StageConfiguration) throws
}

extension StageConfigurable {
  /// None: the host checks a place's configuration against no schema.
  public static var stageConfigurationSchema: String? { nil }
  /// None: a missing member stays missing.
  public static var stageConfigurationDefaults: JSONValue? { nil }
  /// Accepts every configuration that could be decoded.
  public func checkStage(_ configuration: StageConfiguration) throws {}
}

extension RequestContext {
  /// The configuration of the place that is called; nil if the place has none. Valid as long as the ``StageRequest`` of
  /// the same call.
  public func stageConfiguration<Stage: StageConfigurable>(of plugin: Stage.Type) -> Stage.StageConfiguration? {
    guard let call = attributes.call else { return nil }
    let place = call.withExchange { _, exchange in
      call.link.places?.pointee.current(exchange).map {
        Unmanaged<StagePlace>.fromOpaque($0).takeUnretainedValue()
      }
    }
    return (place ?? nil)?.configuration as? Stage.StageConfiguration
  }
}

extension ResponseContext {
  /// The configuration of the place that is called; nil if the place has none. Valid as long as the ``StageResponse``
  /// of the same call.
  public func stageConfiguration<Stage: StageConfigurable>(of plugin: Stage.Type) -> Stage.StageConfiguration? {
    request.stageConfiguration(of: plugin)
  }
}

/// The object behind the host's `stage` pointer.
final class StagePlace: Sendable {
  let configuration: any Sendable

  init(_ configuration: any Sendable) { self.configuration = configuration }
}
