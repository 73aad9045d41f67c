import Glibc
import SluiceControl
import SluiceJSON
import SluiceSupport

/// The engine's process, and what it is doing.
struct RunningEngine {
  /// A command that was sent to the engine over its control socket.
  enum Command {
    /// Swaps these libraries. Each has the hash of the file that was read, and the time at which the file changed.
    case swap([String: (hash: String?, since: Duration)])
    case reload
  }

  let number: Int
  let process: SupervisedProcess
  /// Nil until the engine is ready.
  var client: ControlClient?
  var command: Command?
  /// The reports that have arrived, by number.
  var reports: Set<Int64> = []
  /// The report of the command that was answered but whose report has not arrived. The command lasts until then,
  /// because only the report says which builds serve.
  var awaitedReport: Int64?
  /// The libraries of swap commands that got no answer. When the process ends, the command fails because its connection
  /// closes. The session can notice this before it notices the end of the process.
  var unanswered: [String: (hash: String?, since: Duration)] = [:]
  /// The builds that were swapped in by this process, with the newest at the end.
  var swappedIn: [[String: String]] = []
  /// Whether the process was asked to stop.
  var isStopping = false
  /// Why the engine must be started again after this process has ended.
  var restart: String?
  /// The files that the session has written for the start of the engine or for the running command.
  var files: [String] = []
  /// The last lines that the process wrote.
  var output = OutputTail()
  /// The builds that the process reported, by generation. Functions of a refused build can still run on a loop.
  var builds: [Int64: (library: String, hash: String)] = [:]
  /// The clients that wait for a response; nil without an endpoint.
  var clients: HeldClients?
  /// Nil until the first message of the process.
  var watch: StallWatch?
  /// The stall for which the session has killed the process; nil if it has not killed the process for a stall.
  var stall: StallWatch.Stall?

  /// The libraries of the swap command that is running, and of the swap commands that got no answer.
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
  /// The content with which the engine was last started; nil if it could not be read.
  var started: String?
  /// The content that was last refused or rolled back. It is not swapped in again until another build has served.
  var refused: String?
  /// Whether it was already reported that the content is unchanged.
  var saidUnchanged = false
  /// The content that was read after a change. It is kept until the build serves.
  var candidate: (hash: String, bytes: [UInt8])?
  /// The time of the change that the current swap handles.
  var changedAt: Duration?
  /// The time of the first change that is not handled yet, because a command is running; nil if there is none.
  var waiting: Duration?
  /// The strongest reason to look at the file since then.
  var cause = Cause.session
  /// The status of the file when the session last handled a change of it, or started the engine. A change that the file
  /// already had then is not reported again: the end of a build and the events of the files that it wrote come
  /// separately.
  var seen: stat?

  /// Why the session looks at the file of a library.
  enum Cause: Comparable {
    /// The session itself wants to know the content. Unchanged content is not reported.
    case session
    /// Somebody has changed the file. Unchanged content is reported once.
    case file
    /// A build of changed sources has ended. Unchanged content is always reported.
    case build
  }

  /// Notes that the session has read content that neither serves nor was refused.
  /// - Parameter status: the status of the file before it was read.
  mutating func noteNewContent(_ status: stat?) {
    seen = status
    saidUnchanged = false
  }

  /// Notes that the session has read content that serves or was refused. Returns whether that must be reported.
  /// - Parameter status: the status of the file before it was read.
  mutating func noteKnownContent(_ status: stat?, because cause: Cause) -> Bool {
    // A look that no change has caused notes nothing, so that a change just before it is reported with its own event.
    guard cause != .session else { return false }
    var isChanged = true
    if let status, let seen { isChanged = !status.isUnchanged(since: seen) }
    if let status { seen = status }
    guard cause == .build || (isChanged && !saidUnchanged) else { return false }
    saidUnchanged = true
    return true
  }
}

/// The last lines that a process wrote, in a bounded buffer.
struct OutputTail {
  /// The number of kept lines. A runtime writes the error message before the frames of the stack. The number is so
  /// large that the message is kept even if the stack is deep.
  private static let keptLines = 400
  private static let keptCharacters = 2000

  private var lines: [String] = []

  mutating func append(_ line: String) {
    lines.append(String(line.prefix(Self.keptCharacters)))
    if lines.count > Self.keptLines { lines.removeFirst(lines.count - Self.keptLines) }
  }

  func last(_ count: Int) -> [String] { Array(lines.suffix(count)) }

  var bytes: [UInt8] { Array(lines.joined(separator: "\n").utf8) }
}
