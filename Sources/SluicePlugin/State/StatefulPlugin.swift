/// A plugin that hands what it knows over to the next build in a hot swap.
///
/// The instance that serves saves while requests flow, and goes on with them: what it counts after that is not in the state.
/// What has to be exact goes into ``PluginHost/values``. The new instance loads after `init` and before `activate()`.
///
/// The hand-over fails when either method throws, or the state is beyond 16 MiB as JSON; then the swap is refused and the old
/// build serves on, unless ``isStateOptional`` of the new build says that it can begin without.
public protocol StatefulPlugin: Plugin {
  /// Crosses as JSON: no type of one build is a type of another.
  associatedtype State: Codable & Sendable

  /// Counts the forms of `State` over the builds of the plugin; 1 unless said.
  static var stateVersion: UInt32 { get }
  /// Whether a swap goes on when there is no state, or it is not taken; false unless said.
  static var isStateOptional: Bool { get }
  /// Makes a state of one that a build with another version saved. Throws unless said otherwise.
  static func migrate(_ document: JSONValue, fromVersion version: UInt32) throws -> State

  /// On a control thread; may block.
  func saveState() throws -> State
  /// On a control thread; may block.
  func loadState(_ state: State) throws
}

extension StatefulPlugin {
  public static var stateVersion: UInt32 { 1 }
  public static var isStateOptional: Bool { false }

  public static func migrate(_ document: JSONValue, fromVersion version: UInt32) throws -> State {
    throw PluginFailure(message: "the state has version \(version), this build reads \(stateVersion)")
  }
}
