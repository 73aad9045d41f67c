import Sluice
import SluiceAssembly
import SluiceSupport

/// Makes a new plan when the configuration or one of its libraries has changed. Programs take it with their next
/// transfer. Works on two separate threads until the process ends.
final class AttachReload: Sendable {
  private let file: String
  private let arguments: ParsedArguments
  private let folder: AttachFolder
  private let mailbox = Mailbox<Set<InotifyWatch.Subject>>()
  /// The files are watched only after this time. A program that ends before does not wait until the kernel has closed
  /// the watch, which takes about as long as the start of a small program.
  private static let delay = Duration.seconds(1)
  /// Earlier plans are kept too, because they hold the private copies that programs have mapped.
  private let plans: Locked<[AttachPlan]>

  init(_ plan: AttachPlan, of file: String, _ arguments: ParsedArguments, to folder: AttachFolder) {
    self.file = file
    self.arguments = arguments
    self.folder = folder
    plans = Locked([plan])
  }

  /// Begins to watch the files after a short time. If they cannot be watched, only says so: the program can run without
  /// it.
  func start() {
    do throws(CommandError) {
      try SystemThread.begin("sluice-plans") { [self] in
        // Nothing is put into the mailbox before the watch exists.
        _ = mailbox.take(until: MonotonicClock.now + Self.delay)
        watch()
      }.detach()
    } catch { warn(error.message) }
  }

  private func watch() {
    let watch: InotifyWatch
    do throws(CommandError) { watch = try InotifyWatch { [mailbox] in mailbox.put($0) } } catch {
      return warn(error.message)
    }
    watchFiles(with: watch)
    let changed = plans.withLock { $0.last }?.changedPlaces ?? []
    if !changed.isEmpty { mailbox.put(Set(changed.map { .file($0) })) }
    serve(watch)
  }

  private func warn(_ problem: String) {
    StandardError.say("attach: \(problem); changes of the configuration and of plugins have no effect", .warning)
  }

  private func watchFiles(with watch: InotifyWatch) {
    let places = plans.withLock { $0.last?.places ?? [:] }
    if let problem = watch.watch(Set(places.keys.map { .file($0) })) { warn(problem) }
  }

  private func serve(_ watch: InotifyWatch) {
    var debounce = Debounce<InotifyWatch.Subject>()
    while true {
      for subject in mailbox.take(until: debounce.nextDue).flatMap(\.self) {
        debounce.note(subject, at: MonotonicClock.now, silence: subject.silence)
      }
      if debounce.takeDue(at: MonotonicClock.now).isEmpty { continue }
      renew()
      watchFiles(with: watch)
    }
  }

  private func renew() {
    do throws(CommandError) {
      let plan = try AttachPlan(file, arguments)
      guard plans.withLock({ $0.last?.isSame(as: plan) }) != true else { return }
      guard plans.withLock({ $0.last?.runsResponseStages }) == plan.runsResponseStages else {
        // Instances that stay in use were told at their start whether the host runs response stages.
        throw CommandError(.usage, "\(file): attach.response cannot change while the program runs")
      }
      try plan.check()
      try folder.publish(plan.text)
      plans.withLock { $0.append(plan) }
      StandardError.say("attach: a new plan is ready: the program takes it with its next transfer", .info)
    } catch {
      StandardError.say("\(error.message); the program keeps the plan that it has")
    }
  }
}
