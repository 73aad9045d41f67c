import SluiceControl
import SluiceJSON

/// The engine's process, and what it is about.
struct RunningEngine {
  /// What it was asked for over its control socket.
  enum Command {
    /// These libraries, each with the hash that was read, and the moment of its change.
    case swap([String: (hash: String?, since: Duration)])
    case reload
  }

  let number: Int
  let process: SupervisedProcess
  /// Nil until it is ready.
  var client: ControlClient?
  var command: Command?
  /// What was to be swapped in by commands that got no answer. Their connection ends with the process, and that may be
  /// reported before the process's end.
  var unanswered: [String: (hash: String?, since: Duration)] = [:]
  /// What was swapped in while it ran, the newest last.
  var swappedIn: [[String: String]] = []
  /// Why it is being stopped; nil where it is not.
  var isStopping = false
  /// The reason for starting it again when it has ended.
  var restart: String?
  /// Files that it was started from.
  var files: [String] = []
  /// The last lines that it wrote.
  var output = OutputTail()
  /// The builds that it reported, by their generation.
  var builds: [Int64: GoodBuilds.Build] = [:]
  /// The clients that wait for its response; nil without an endpoint.
  var clients: HeldClients?
  /// Nil until its first pulse.
  var watch: StallWatch?
  /// The stall for which it was killed, if it was.
  var stall: StallWatch.Stall?

  /// What was being swapped in, as far as is known.
  var asked: [String: (hash: String?, since: Duration)] {
    guard case .swap(let libraries) = command else { return unanswered }
    return unanswered.merging(libraries) { $1 }
  }

  var isReady: Bool { client != nil && !isStopping }

  init(number: Int, process: SupervisedProcess) {
    self.number = number
    self.process = process
  }
}

/// What is known of a library of the configuration.
struct LibraryState {
  var plugins: [String]
  /// The content that was looked at last, whatever came of it.
  var handled: String?
  /// The content that was refused last.
  var refused: String?
  /// Whether it was said that nothing changed.
  var saidUnchanged = false
  /// What is read while it changes, until it serves.
  var candidate: (hash: String, bytes: [UInt8])?
  /// When the change began that a swap is under way for.
  var changedAt: Duration?
  /// Since when it waits for a command to end.
  var waiting: Duration?
}
