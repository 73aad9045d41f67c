/// A plugin that passes its state to the next build in a hot swap.
///
/// The serving instance saves its state while requests flow, and continues to serve: what it counts after that is not
/// in the state. Exact counts belong in ``PluginHost/values``. The new instance loads the state after `init` and before
/// `activate()`.
///
/// If either method throws, or if the state is larger than 16 MiB as JSON, the swap is refused and the old build
/// continues to serve, unless ``isStateOptional`` of the new build says that it can start without state.
public protocol StatefulPlugin: Plugin {
  /// The type of the state. The state is passed as JSON, because two builds do not share types.
  associatedtype State: Codable & Sendable

  /// The version of `State`; default 1. A build whose `State` has another form must increase it.
  static var stateVersion: UInt32 { get }
  /// Whether a swap continues if there is no state, or if the state is refused; default false.
  static var isStateOptional: Bool { get }
  /// Converts a state that a build with another version has saved. By default it throws.
  static func migrate(_ document: JSONValue, fromVersion version: UInt32) throws -> State

  /// Called on a control thread; may block.
  func saveState() throws -> State
  /// Called on a control thread; may block.
  func loadState(_ state: State) throws
}

extension StatefulPlugin {
  /// Version 1.
  public static var stateVersion: UInt32 { 1 }
  /// False: if the state cannot be saved or loaded, the swap is refused.
  public static var isStateOptional: Bool { false }

  /// Always throws ``StageFailure``: this build reads only states of its own ``stateVersion``.
  public static func migrate(_ document: JSONValue, fromVersion version: UInt32) throws -> State {
    throw StageFailure(message: "the state has version \(version), this build reads \(stateVersion)")
  }
}
