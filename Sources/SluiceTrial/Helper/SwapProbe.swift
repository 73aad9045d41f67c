package import SluicePluginHost
public import SluicePluginImage

/// Tries a library out before the process loads it: the step of a hot swap between the private copy and `dlopen`.
///
/// An engine without a probe maps every library that passes the preflight.
public protocol SwapProbe: Sendable {
  /// Returns when the candidate may be loaded.
  ///
  /// Called once for each library of a swap, never on an event loop; several may be examined at the same time. If the
  /// task is cancelled, the probe must stop the examination and end everything that the examination started.
  ///
  /// - Throws: why the candidate is refused. The swap reports it as its reason.
  func examine(_ candidate: ProbeCandidate) async throws(PluginError)
}

/// A probe that a thread can wait for. The start of an engine, which does not run as a task, uses it for the first
/// libraries.
public protocol StartProbe: SwapProbe {
  /// Like `examine(_:)`, but blocks. Several libraries may be examined at the same time, each from its own thread.
  func examineAndWait(_ candidate: ProbeCandidate) throws(PluginError)
}

/// A build that is to be loaded, at the start or in place of the build that serves now.
public struct ProbeCandidate: Sendable {
  /// One instance that would be created.
  public struct Instance: Sendable {
    /// The name in the configuration.
    public let name: String
    /// The `config` of the instance as JSON text, with references resolved. It contains secrets: pass it through a
    /// pipe, never through arguments or the environment.
    public let configuration: String
    /// The configurations of its places, in order. They contain secrets too.
    public let places: [Place]
    /// The state that the serving instance of this name has just saved; nil if it has no state, or if there is no such
    /// instance.
    package let state: SavedState?
    /// The id of the plugin that saved it. In the swap another plugin does not get this state, so the trial must not
    /// pass it on either.
    public let stateOwner: String?

    /// Describes an instance; `state` and `stateOwner` belong together, and are nil where none was saved.
    package init(
      name: String, configuration: String, places: [Place] = [], state: SavedState? = nil, stateOwner: String? = nil
    ) {
      self.name = name
      self.configuration = configuration
      self.places = places
      self.state = state
      self.stateOwner = stateOwner
    }
  }

  /// A place of an instance that has a configuration of its own.
  public struct Place: Sendable {
    /// The key in the configuration: `request[0]`.
    public let key: String
    /// The configuration as JSON text, with references resolved.
    public let configuration: String

    /// Describes a place; `configuration` must be JSON text, and may hold secrets.
    public init(key: String, configuration: String) {
      self.key = key
      self.configuration = configuration
    }
  }

  /// The path in the configuration; for messages.
  public let path: String
  /// The private copy that will be mapped. It is not moved or removed during the call.
  public let copy: String
  /// The facts that the preflight has read from the library.
  public let facts: LibraryFacts
  /// All instances of the library, in the order of the configuration.
  public let instances: [Instance]
  /// The time limit for the examination.
  public let deadline: Duration

  /// Describes a build. `copy` must exist until the examination has ended, and must hold what `facts` describes.
  public init(path: String, copy: String, facts: LibraryFacts, instances: [Instance], deadline: Duration) {
    self.path = path
    self.copy = copy
    self.facts = facts
    self.instances = instances
    self.deadline = deadline
  }
}
