public import SluicePluginHost

/// Tries a library out before its code is loaded into the process. This happens at the start of an engine and in each
/// swap, between the private copy and `dlopen`.
///
/// An engine without a trial maps every library that passes the preflight.
public protocol LibraryTrial: Sendable {
  /// Returns if the candidate can be loaded.
  ///
  /// Called once for each library, never on an event loop; several libraries can be examined at the same time. If the
  /// task is cancelled, the trial must stop the examination and end everything that the examination started.
  ///
  /// At the start of an engine, the thread that creates the engine runs this task and waits for it. So the trial must
  /// end without any help of that thread, and must not wait for the thread or for its actor.
  ///
  /// - Throws: why the candidate is refused. The start of an engine fails with this error; a swap reports it as its
  ///   reason.
  func examine(_ candidate: TrialCandidate) async throws(PluginError)
}

/// A build that is examined. It will be loaded at the start of an engine, or will replace the build that serves now.
public struct TrialCandidate: Sendable {
  /// One instance that would be created.
  public struct Instance: Sendable {
    /// The name in the configuration.
    public let name: String
    /// The `config` of the instance as JSON text, with references resolved. It contains secrets, so pass it through a
    /// pipe, never through arguments or the environment.
    public let configuration: String
    /// The configurations of its places, in order. These configurations contain secrets too.
    public let places: [Place]
    /// The state that the serving instance of this name has just saved; nil if that instance has no state, or does not
    /// exist.
    package let state: SavedState?
    /// The id of the plugin that saved the state. A swap does not hand the state over to an instance of another plugin,
    /// even if the instance has the same name; so the trial must not do this either.
    public let stateOwner: String?

    /// Describes an instance; `state` and `stateOwner` belong together, and are nil if no state was saved.
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

    /// Describes a place; `configuration` must be JSON text, and can hold secrets.
    public init(key: String, configuration: String) {
      self.key = key
      self.configuration = configuration
    }
  }

  /// The path in the configuration. It is used only in messages.
  public let path: String
  /// The private copy that will be mapped. It is not moved or removed during the call.
  public let copy: String
  /// The facts that the preflight has read from the library.
  public let facts: LibraryFacts
  /// All instances of the library, in the order of the configuration.
  public let instances: [Instance]
  /// The time limit for the examination.
  public let deadline: Duration
  /// The hash of the copy's content; nil if it is not known.
  package var hash: ContentHash?

  /// Describes a build. `copy` must exist until the examination has ended, and must hold what `facts` describes.
  public init(path: String, copy: String, facts: LibraryFacts, instances: [Instance], deadline: Duration) {
    self.path = path
    self.copy = copy
    self.facts = facts
    self.instances = instances
    self.deadline = deadline
  }
}
