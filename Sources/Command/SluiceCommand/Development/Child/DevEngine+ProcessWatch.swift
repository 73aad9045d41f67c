import SluiceAssembly
import SluicePluginHost
import SluiceSupport

extension DevEngine {
  /// Reports each change of the process's state once.
  static func watchProcess(_ reporter: EngineReporter) {
    let known = Locked<Set<ProcessWatch.Change>>([])
    ProcessWatch.begin { change in
      guard known.withLock({ $0.insert(change).inserted }) else { return }
      let subject = change.call.map { "\($0.subject): " } ?? ""
      reporter.log(LogLine(level: .warning, message: "\(subject)\(change.sentence); \(ProcessWatch.advice)"))
    }
  }
}
