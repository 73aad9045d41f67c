import SluiceControl
import SluiceJSON

/// The engine's process, and its current work.
struct RunningEngine {
  /// A command that the engine got over its control socket.
  enum Command {
    /// These libraries, each with the hash that was read, and the moment of its change.
    case swap([String: (hash: String?, since: Duration)])
    case reload
  }

  let number: Int
  let process: SupervisedProcess
  /// Nil until the engine is ready.
  var client: ControlClient?
  var command: Command?
  /// Libraries of swap commands that got no answer. The connection of such a command ends with the process, and its end
  /// may be reported before the end of the process.
  var unanswered: [String: (hash: String?, since: Duration)] = [:]
  /// The builds that were swapped in while it ran, the newest last.
  var swappedIn: [[String: String]] = []
  /// Whether it is being stopped.
  var isStopping = false
  /// The reason for starting it again when it has ended.
  var restart: String?
  /// The files from which it was started.
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

  /// The libraries that were being swapped in, as far as is known.
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

/// The state of a library of the configuration.
struct LibraryState {
  var plugins: [String]
  /// The content that was handled last, whatever the result.
  var handled: String?
  /// The content that was refused last.
  var refused: String?
  /// Whether unchanged content was already reported.
  var saidUnchanged = false
  /// The content that was read after a change, until it serves.
  var candidate: (hash: String, bytes: [UInt8])?
  /// When the change began for which a swap is running.
  var changedAt: Duration?
  /// The moment since which the library waits for a running command to end.
  var waiting: Duration?
}
