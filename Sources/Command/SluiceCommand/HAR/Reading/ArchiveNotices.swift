import Sluice
import SluiceAssembly
import SluiceMessages

/// Counts what was left out of an archive.
struct ArchiveNotices: Sendable {
  /// Entries that follow a redirect of an earlier entry.
  var redirects = 0
  /// Entries of Sluice's own archives that belong to a retry or to the answer to a challenge.
  var repetitions = 0
  /// Entries whose scheme is neither http nor https, by scheme.
  var schemes: [String: Int] = [:]
  /// Headers and cookies whose value in the archive is only `REDACTED`.
  var hiddenHeaders = 0

  /// Reports on standard error what was left out.
  func say(isQuiet: Bool) {
    if !isQuiet, let text = leftOut { StandardError.say("--from-har: left out \(text)", .info) }
    guard hiddenHeaders > 0 else { return }
    let headers =
      hiddenHeaders == 1 ? "1 header or cookie whose value is" : "\(hiddenHeaders) headers or cookies whose values are"
    StandardError.say(
      "--from-har: left out \(headers) \(Redactor.placeholder); requests that need them might fail", .warning)
  }

  /// Nil if no entry was left out.
  private var leftOut: String? {
    var parts: [String] = []
    if redirects > 0 { parts.append("\(Self.entries(redirects)) after a redirect, which the run follows itself") }
    if repetitions > 0 { parts.append("\(Self.entries(repetitions)) of retries and challenges") }
    for (scheme, count) in schemes.sorted(by: { $0.key < $1.key }) {
      parts.append("\(Self.entries(count)) with the scheme \(PlainText.quote(scheme))")
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private static func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(Figures.count(count)) entries" }
}
