import Glibc
import Sluice
import SluiceControl
import SluiceCrash
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// The reaction to the end of the engine's process, in particular to an end that the session did not cause.
extension DevSession {
  func engineEnded(_ status: WaitStatus) {
    guard let ended = engine else { return }
    engine = nil
    sources.clear(ended.files)
    defer { sources.clear([sources.crashRecord(ended.number)]) }
    if let client = ended.client { Task.detached { await client.close() } }
    let lost = traffic.giveUp()
    if ended.stall == nil, ended.isStopping || waitingReason != nil {
      ended.clients?.giveUp(Self.answer("engine_stopped", "the engine ended before it had answered"))
    }
    if ended.isStopping, ended.stall == nil { return start(because: ended.restart) }
    // The engine has already reported why it cannot serve. A change since then may have fixed the problem.
    if waitingReason != nil {
      if isReloadDue { return configurationChanged() }
      return librariesChanged(libraries.compactMapValues(\.waiting))
    }
    let report = crashReport(of: ended)
    ended.clients?.giveUp(Self.answer(for: ended, status, report))
    let culprits = report?.blamed.map { [$0.library: $0.hash] } ?? culprits(of: ended)
    say(crashed(status, culprits, ended, lost, report))
    let words = ended.stall?.headline ?? "the engine \(Self.words(of: status))"
    recover(from: culprits, wasReady: ended.client != nil, because: words)
    forgetSwap(of: ended)
    // If no engine was started, the session may have given up on some builds. A pending change may replace them.
    guard engine == nil else { return }
    if isReloadDue { configurationChanged() } else { librariesChanged(libraries.compactMapValues(\.waiting)) }
  }

  /// Marks each build as pending again if its swap was under way and it was not refused. No other event will report
  /// this build.
  private func forgetSwap(of ended: RunningEngine) {
    for (library, value) in ended.asked where libraries[library]?.refused != value.hash {
      libraries[library]?.waiting = value.since
    }
  }

  /// The document that a waiting client gets instead of a response.
  private static func answer(for ended: RunningEngine, _ status: WaitStatus, _ report: CrashReport?) -> [UInt8] {
    if let stall = ended.stall { return answer("engine_stalled", "\(stall.headline), and was ended") }
    guard let report else { return answer("engine_crashed", "the engine \(words(of: status))") }
    let said = report.message.map { "; it said: \($0)" } ?? ""
    return answer("engine_crashed", "\(report.headline): \(report.reason)\(said)")
  }

  static func answer(_ code: String, _ message: String) -> [UInt8] {
    let document: JSONValue = [
      "error": ResultDocument.Failure(code: code, message: PrintableText.of(message)).document()
    ]
    return ((try? document.serialized()) ?? []) + [UInt8(ascii: "\n")]
  }

  /// The report of the crash; nil if the process wrote no record.
  private func crashReport(of ended: RunningEngine) -> CrashReport? {
    guard var report = CrashReport(path: sources.crashRecord(ended.number)) else { return nil }
    let secrets = configuration?.plugins.flatMap { Self.strings(in: $0.config) } ?? []
    report.addOutput(ended.output.bytes, hiding: secrets)
    // Symbols must be looked up before the next engine removes the private copies of the libraries.
    report.symbolize(limit: Self.symbolLimit)
    return report
  }

  /// How long a restart waits for the tool that looks up symbols.
  private static let symbolLimit = Duration.seconds(3)

  private static func strings(in value: JSONValue) -> [String] {
    if let text = value.string { return text.utf8.count > 3 ? [text] : [] }
    return value.members.flatMap { strings(in: $0.value) } + value.elements.flatMap { strings(in: $0) }
  }

  /// The builds that are considered at fault if there is no report: the build whose call did not return. If there is no
  /// such call, they are the builds that were being swapped in; if there are none, the builds of the last swap.
  private func culprits(of ended: RunningEngine) -> [String: String] {
    let asked = ended.asked.compactMapValues(\.hash)
    if let call = ended.stall?.call {
      if let build = ended.builds[call.generation] { return [build.library: build.hash] }
      // No report has named this generation, so it is a build that was being swapped in.
      return asked.filter { libraries[$0.key]?.plugins.contains(call.plugin) == true }
    }
    return asked.isEmpty ? ended.swappedIn.last ?? [:] : asked
  }

  private func crashed(
    _ status: WaitStatus, _ culprits: [String: String], _ ended: RunningEngine, _ lost: [String],
    _ report: CrashReport?
  ) -> DevEvent {
    let plugins = culprits.keys.flatMap { libraries[$0]?.plugins ?? [] }.sorted()
    let document = report?.document()
    let stalled = ended.stall.map { "\($0.headline); the engine was ended" }
    let headline = stalled ?? document?["headline"]?.string ?? "the engine \(Self.words(of: status))"
    var event = DevEvent(.crashed, plugins: plugins, headline, tone: .bad)
      .with("inFlight", .array(of: lost)).with("lastOutput", .array(of: ended.output.last(Self.shownWords)))
      .with("report", document).with("stalled", ended.stall?.document)
    switch status {
    case .exited(let code): event = event.with("exitStatus", JSONValue(Int64(code)))
    case .killed(let signal): event = event.with("signal", JSONValue(SignalName.of(signal)))
    }
    if let report {
      event.details = report.text.split(separator: "\n").dropFirst().prefix(Self.shownLines).map {
        PrintableText.of(String($0))
      }
      if let entry = try? CrashFolder()?.save(report) {
        event = event.with("file", JSONValue(entry.textPath))
        event.details.append("kept in \(entry.textPath)")
      }
    }
    if let transaction = ended.stall?.call?.transaction { event.details.append("transaction \(transaction)") }
    if !lost.isEmpty { event.details.append("in flight: \(PrintableText.of(lost.joined(separator: ", ")))") }
    return event
  }

  private static let shownLines = 32
  private static let shownWords = 20

  /// Restarts the engine with earlier builds that have served. If there are none, restarts it with the same builds, or
  /// gives up.
  private func recover(from culprits: [String: String], wasReady: Bool, because reason: String) {
    good.drop(Set(culprits.values))
    // A build without a predecessor is kept, because nothing could serve in its place.
    let bad = culprits.filter { library, hash in good.newest(of: library).map { $0.hash != hash } ?? false }
    for (library, hash) in bad.sorted(by: { $0.key < $1.key }) {
      refuse(hash, of: library, because: reason)
    }
    switch crashes.note(at: MonotonicClock.now, goesBack: !bad.isEmpty, wasReady: wasReady) {
    case .restart:
      let names = bad.keys.flatMap { libraries[$0]?.plugins ?? [] }.sorted().joined(separator: ", ")
      start(
        because: bad.isEmpty ? "with the same builds after a crash" : "with the build of \(names) that served before")
    case .giveUp:
      suspects.formUnion(good.serving.values.map(\.hash))
      let times = wasReady ? "crashed \(CrashLedger.limit) times within \(CrashLedger.span)" : "crashed at its start"
      wait(because: "the engine \(times) with the same builds; fix the plugin: its next build starts the engine again")
    }
  }

  /// Records the refusal in the store, so that no engine of this configuration swaps in this build.
  private func refuse(_ hash: String, of library: String, because reason: String) {
    guard let store = configuration?.store ?? PluginStore.defaultPath() else { return }
    let project = RefusalList.project(of: settings.configuration)
    do throws(PluginError) {
      try RefusalList(store: PluginStore(at: store), project: project).add(hash, because: reason)
    } catch { warn("\(error)") }
    let plugins = libraries[library]?.plugins ?? []
    libraries[library]?.refused = hash
    libraries[library]?.saidUnchanged = false
    say(
      DevEvent(.refused, plugins: plugins, "refused: build \(hash.prefix(12)): \(reason)", tone: .bad)
        .with("subject", "build").with("library", JSONValue(library)).with("hash", JSONValue(hash))
        .with("reason", JSONValue(reason)))
  }

  /// Such as `was ended by SIGSEGV` or `ended with status 3`.
  private static func words(of status: WaitStatus) -> String {
    switch status {
    case .exited(let code): "ended with status \(code)"
    case .killed(let signal): "was ended by \(SignalName.of(signal))"
    }
  }
}
