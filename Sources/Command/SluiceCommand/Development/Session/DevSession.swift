import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceSupport

/// The logic of `sluice dev`: takes the messages of all other threads, one at a time, and decides.
///
///     InotifyWatch ──changed──► mailbox ─► handle ─► swap, reload (control socket) ─► SupervisedProcess
///     SupervisedProcess ──documents, end──►   │
///     standard input ──lines──►           └─► DevOutput: an event a line
///
/// Confined to the thread that runs it. For the kernel, that thread is the parent of the engine's process.
final class DevSession {
  /// An action that is due later.
  enum Timer: Equatable {
    /// Read a refused file again, because it may have been completed without an event.
    case readAgain(library: String, attempt: Int)
    /// Kill the engine's process if it has not ended.
    case killEngine(Int)
    /// Check the engine's pulse.
    case lookAtPulse(Int)
  }

  /// The time that requests in flight have when the engine is restarted.
  static let drain = Duration.seconds(5)
  static let killDelay = Duration.seconds(8)
  /// The time that requests in flight have at the end of the session. It is short, because the user waits.
  static let lastDrain = Duration.seconds(1)
  static let lastKillDelay = Duration.seconds(3)

  let settings: DevSettings
  let mailbox = Mailbox<DevMessage>()
  let output: DevOutput
  let watch: InotifyWatch
  let sources: SourceFolder
  var debounce = Debounce<InotifyWatch.Subject>()
  var timers: [(due: Duration, timer: Timer)] = []

  /// The configuration that was applied last, or that will be applied at the next start.
  var configuration: Configuration?
  /// The content of the configuration file that was read last. It can be invalid.
  var configurationText: [UInt8] = []
  var engine: RunningEngine?
  var engines = 0
  var good = GoodBuilds()
  var libraries: [String: LibraryState] = [:]
  var builds: [PluginBuildRule: BuildState] = [:]
  var lastBuild = 0
  var crashes = CrashLedger()
  /// The hashes of crashed builds that have no predecessor. If the file at a build's path has changed since, the engine
  /// starts with the new content.
  var suspects: Set<String> = []
  var traffic: DevTraffic
  /// The recordings of the requests of `-i`, which a restarted engine needs for replays.
  var recordings: [JSONValue] = []
  /// Nil without `--listen`.
  let endpoint: DevEndpoint?
  var hasStarted = false
  /// Whether the configuration changed while the engine was starting or busy with a command.
  var isReloadDue = false
  /// The snapshot that served the last request.
  var lastSnapshot: Int64 = 1
  /// The last reported reason why nothing serves; nil if none was reported since the engine last started.
  var waitingReason: String?
  /// The reason that was reported before the first build of the session ended. If the start that follows this build
  /// fails for the same reason, it is not reported again, because nobody has changed anything.
  var knownReason: String?

  private var ending: ExitStatus?
  /// The signal that ends the session.
  private var signal: Int32?

  init(_ settings: DevSettings) throws(CommandError) {
    self.settings = settings
    endpoint = try settings.listen.map { place throws(CommandError) in try DevEndpoint(place) }
    output = try DevOutput(isJSON: settings.isJSON)
    sources = try SourceFolder()
    traffic = DevTraffic(recorded: settings.recorded)
    watch = try InotifyWatch { [mailbox] in mailbox.put(.changed($0)) }
    output.onFailure { [mailbox] in mailbox.put(.outputFailed($0)) }
  }

  /// Runs the session to its end. Must be called on the main thread.
  func run() throws(CommandError) -> ExitStatus {
    try readTypedLines()
    try watchOutput()
    readConfiguration()
    start(because: nil)
    var left: ArraySlice<DevMessage> = []
    while ending == nil {
      left = handle(mailbox.take(until: nextDue))
      if ending == nil { handleDue() }
    }
    endProcesses(left)
    if let signal { say(DevEvent(.stopped, "stopped", tone: .quiet).with("signal", JSONValue(Int64(signal)))) }
    let failure = output.finish()
    if let failure, ending != .brokenPipe { throw CommandError(.failed, failure.description) }
    return ending ?? .succeeded
  }

  private func readTypedLines() throws(CommandError) {
    let lines = try InputLines(path: nil, limitBytes: 64 << 20)
    try SystemThread.begin("sluice-typed") { [mailbox] in
      while case .text(let text) = lines.next() {
        if !InputLines.isBlank(text) { mailbox.put(.typed(String(decoding: text, as: UTF8.self))) }
      }
    }.detach()
  }

  /// Ends the session if the reader of standard output closes its end. Without this, the session would notice it only
  /// at the next write.
  private func watchOutput() throws(CommandError) {
    try SystemThread.begin("sluice-reader") { [mailbox] in
      // `poll` reports errors even if no event is requested (poll(2)).
      var output = pollfd(fd: StandardOutput.descriptor, events: 0, revents: 0)
      while poll(&output, 1, -1) < 0, errno == EINTR {}
      mailbox.put(.outputFailed(ByteOutput.Failure(name: "standard output", errorNumber: EPIPE)))
    }.detach()
  }

  // MARK: Messages and times

  /// Handles messages until one of them ends the session. Returns the messages that were not handled.
  func handle(_ messages: [DevMessage]) -> ArraySlice<DevMessage> {
    var left = messages[...]
    while ending == nil, let message = left.popFirst() { handle(message) }
    return left
  }

  func handle(_ message: DevMessage) {
    switch message {
    case .changed(let subjects):
      let now = MonotonicClock.now
      for subject in subjects { debounce.note(subject, at: now, silence: subject.silence) }
    case .engine(let number, let message):
      if number == engine?.number { handle(message) }
    case .build(let number, let message): handleBuild(number, message)
    case .answered(let number, let result):
      if number == engine?.number { commandWasAnswered(result) }
    case .typed(let line):
      traffic.append(line)
      sendRequests()
    case .interrupted(let signal):
      self.signal = signal
      ending = .interrupted(by: signal)
    case .outputFailed(let failure):
      ending = failure.isBrokenPipe ? .brokenPipe : .failed
    }
  }

  private var nextDue: Duration? { ([debounce.nextDue] + timers.map(\.due)).compactMap(\.self).min() }

  private func handleDue() {
    let now = MonotonicClock.now
    let changed = debounce.takeDue(at: now)
    if !changed.isEmpty { handle(changed) }
    let due = timers.filter { $0.due <= now }
    timers.removeAll { $0.due <= now }
    for (_, timer) in due {
      switch timer {
      case .readAgain(let library, let attempt): readAgain(library, attempt)
      case .killEngine(let number): if engine?.number == number { engine?.process.kill(SIGKILL) }
      case .lookAtPulse(let number): if engine?.number == number { lookAtPulse() }
      }
    }
  }

  func after(_ delay: Duration, _ timer: Timer) { timers.append((MonotonicClock.now + delay, timer)) }

  /// - Parameter changed: each subject with the time of its first change.
  private func handle(_ changed: [InotifyWatch.Subject: Duration]) {
    if changed[.file(settings.configuration)] != nil { configurationChanged() }
    var paths: [String: Duration] = [:]
    for (subject, since) in changed {
      if case .file(let path) = subject, libraries[path] != nil { paths[path] = since }
    }
    if !paths.isEmpty { librariesChanged(paths) }
    for rule in builds.keys {
      if let since = rule.sources.compactMap({ changed[.tree($0)] }).min() { sourcesChanged(rule, since: since) }
    }
  }

  func say(_ event: DevEvent) { output.say(event) }
}
