import CLinux
import Glibc
import Sluice
import SluiceAssembly
import SluiceControl
import SluiceCrash
import SluiceJSON
import SluicePipeline
import SluicePluginHost
import SluiceReplay
import SluiceSupport
import SluiceTrial

/// The process in which `sluice dev` runs the engine, started with hidden arguments of the command. A plugin that
/// crashes ends only this process.
final class DevEngine: Sendable {
  static let arguments = ["dev", "engine"]
  private static let lineLimitBytes = 256 << 20

  private let engine: Engine
  private let reporter: EngineReporter
  private let place: ControlPlace
  private let isListening: Bool
  let recordings: EngineRecordings
  private let pulse: EnginePulse

  static func run() -> ExitStatus {
    do throws(CommandError) { return try serve() } catch {
      StandardError.say(error.message)
      return error.status
    }
  }

  private static func serve() throws(CommandError) -> ExitStatus {
    let descriptor = StandardInput.descriptor
    let signals = try ProcessSignals()
    let lines = InputLines(
      owning: fcntl(descriptor, F_DUPFD_CLOEXEC, 3), name: "the supervisor", limitBytes: lineLimitBytes)
    signals.onSignal { lines.interrupt() }
    let channel = try ByteOutput(owning: descriptor, name: "the supervisor")
    defer { _ = channel.finish() }
    guard case .text(let line) = lines.next(), let document = try? JSONValue(parsing: line),
      let order = EngineOrder(document), sluice_die_with_parent(order.parent) != 0
    else { return .failed }
    // It is no error if the crash reporter cannot be installed, for example under a sanitizer. The supervisor then only
    // knows the signal.
    if let path = order.crashRecord { try? CrashReporter.install(path: path) }
    let reporter = EngineReporter(channel)
    let started: DevEngine
    let listener: DevListener?
    let control: ControlServer
    do throws(CommandError) {
      started = try DevEngine(order, reporter)
      listener = try order.listen.map { place throws(CommandError) in
        try DevListener(place, started.engine, reporter, started.recordings)
      }
      control = try started.control()
      try started.pulse.start()
    } catch {
      reporter.send("failed", ["message": JSONValue(error.message), "status": JSONValue(Int64(error.status.code))])
      return error.status
    }
    started.sayReady(control.path)
    let drain = started.obey(lines)
    let deadline = MonotonicClock.now + drain
    listener?.drain(within: drain)
    let rest = max(.zero, deadline - MonotonicClock.now)
    WaitingThread.run { await started.engine.shutdown(drain: rest, deactivation: min(drain, EngineStart.farewell)) }
    started.pulse.stop()
    control.stop()
    return signals.received.map { .interrupted(by: $0) } ?? .succeeded
  }

  private init(_ order: EngineOrder, _ reporter: EngineReporter) throws(CommandError) {
    self.reporter = reporter
    recordings = EngineRecordings(reporter)
    isListening = order.listen != nil
    var configuration = try EngineStart.configuration(
      FileContent.read(order.sources[order.configuration] ?? order.configuration), of: order.configuration)
    place = configuration.control ?? .userFolder
    configuration.control = place
    try EngineStart.checkTLS(&configuration)
    if isListening { try DevListener.complete(&configuration) }
    try TaskPool.start()
    defer { ProcessEnd.watch() }
    Self.watchProcess(reporter)
    let trial = HelperTrial(remembersVerdicts: false) { subject, words in
      reporter.log(LogLine(level: .warning, message: "\(subject): \(words)"))
    }
    engine = try EngineUpdates.followed.start(configuration) { configuration throws(EngineError) in
      try Engine(configuration, sources: order.sources, trial: trial, minimumLogLevel: .info) { reporter.log($0) }
    }
    pulse = EnginePulse(engine, reporter)
    reporter.adopt(engine)
    reporter.adopt(configuration.redaction)
    recordings.begin(with: Self.build(of: engine))
    reporter.whenPublished { [recordings, engine] report in
      recordings.compare(with: Self.build(of: engine), plugins: report.changes.flatMap(\.plugins))
    }
  }

  /// The builds that serve now.
  private static func build(of engine: Engine) -> Replay.Build {
    let configuration = engine.configuration
    return Replay.Build(
      configuration: configuration.text ?? [], file: configuration.file, libraries: engine.libraryCopies)
  }

  private func control() throws(CommandError) -> ControlServer {
    do {
      return try ControlServer(engine, at: place) { [self] (new) async throws(SwapError) in try await reload(new) }
    } catch { throw CommandError(.usage, "control: \(error)") }
  }

  private func reload(_ new: Configuration) async throws(SwapError) -> SwapReport {
    var configuration = new
    // A change of `control` in the configuration takes effect only at the next start.
    configuration.control = place
    // Without a service, the difference is refused, and the engine starts again.
    if isListening { try? DevListener.complete(&configuration) }
    let report = try await engine.reload(configuration)
    reporter.adopt(configuration.redaction)
    return report
  }

  private func sayReady(_ socket: String) {
    let status = WaitingThread.run { [engine] in await engine.status }
    reporter.send(
      "ready",
      [
        "socket": JSONValue(socket), "builds": EngineReporter.builds(status),
        "snapshot": JSONValue(Int64(status.snapshot)),
      ])
  }

  /// Executes the supervisor's messages until one of them asks this process to stop, or none can follow.
  /// - Returns: how much time requests in flight have to finish.
  private func obey(_ lines: InputLines) -> Duration {
    while true {
      switch lines.next() {
      case .text(let line):
        guard let document = try? JSONValue(parsing: line) else { continue }
        if let drain = document["stop"]?.string { return DurationText.duration(drain) ?? .zero }
        if let text = document["request"]?.string {
          request(text, id: document["id"], isOfSet: document["recorded"]?.bool == true)
        }
        if let documents = document["recordings"] { recordings.adopt(documents) }
      case .tooLong: reporter.refuse("the line is too long", of: nil)
      // The supervisor has ended, or a signal has asked this process to end.
      case .end, .failure: return .zero
      }
    }
  }

  private func request(_ text: String, id: JSONValue?, isOfSet: Bool) {
    let line = TypedLine(number: id, given: TypedRequest.id(of: text))
    do {
      var request = try TypedRequest(text, from: engine.baseURL).request
      request.wantsRecording = true
      engine.submit(request) { [reporter, recordings] result in
        recordings.note(result.recording, isOfSet: isOfSet)
        reporter.report(result, of: line)
      }
    } catch { reporter.refuse("\(error)", of: line) }
  }
}
