import SluicePluginHost
import SluiceSupport

/// Collects what calls of a library change in the process, for the report of a trial.
struct ProcessChanges: Sendable {
  /// A library that changes something in each call would otherwise fill the report.
  private static let limit = 16

  private let found: Locked<[String]>

  /// Must be called once in a process, before the library is loaded.
  init() {
    let found = Locked<[String]>([])
    self.found = found
    ProcessWatch.begin { change in
      let sentence = "\(change.sentence); \(ProcessWatch.advice)"
      found.withLock { if $0.count < Self.limit, !$0.contains(sentence) { $0.append(sentence) } }
    }
  }

  /// One sentence about the library for each change.
  var sentences: [String] { found.withLock { $0 } }
}
