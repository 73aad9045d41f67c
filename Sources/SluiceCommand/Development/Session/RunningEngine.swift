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
  /// What was swapped in while it ran, the newest last.
  var swappedIn: [[String: String]] = []
  /// Why it is being stopped; nil where it is not.
  var isStopping = false
  /// Why it is started anew when it has ended.
  var restart: String?
  /// Files that it was started from.
  var files: [String] = []
  /// Lines that it wrote last.
  var lastWords: [String] = []

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
