import Sluice
import SluiceJSON
import SluiceMessages

/// `--from-har FILE`: the requests of an HTTP Archive, as lines of input.
///
/// Each entry has a line, which is empty if the entry is not sent. So the number of a line identifies its entry, and
/// `--resume` finds the entry again.
struct ArchivedRequests: Sendable {
  let input: InputLines
  /// The archive itself.
  let file: FileIdentity?
  /// Why entries are not requests, by the number of their line.
  let refusals: [Int: String]
  let notices: ArchiveNotices

  /// Returns nil if the option is not given.
  /// - Parameter lineLimitBytes: a longer request is refused when its line is read.
  static func make(
    _ arguments: ParsedArguments, _ configuration: Configuration, lineLimitBytes: Int
  ) throws(CommandError) -> ArchivedRequests? {
    guard let path = arguments["from-har"] else { return nil }
    guard !arguments.has("input") else { throw CommandError(.usage, "run: give either --from-har or --input") }
    return try ArchivedRequests(path, followsRedirects: configuration.redirects.maximum > 0, lineLimitBytes)
  }

  /// - Parameter followsRedirects: whether the run follows redirects itself.
  private init(_ path: String, followsRedirects: Bool, _ lineLimitBytes: Int) throws(CommandError) {
    file = FileIdentity(at: path)
    let log = try ArchiveFile.log(path)
    var selection = ArchiveSelection(log, followsRedirects: followsRedirects)
    var lines = try TemporaryLines()
    var refusals: [Int: String] = [:]
    for (index, entry) in ((try? log.list("entries")) ?? []).enumerated() {
      var line = Array("{}".utf8)
      do throws(ArchiveMistake) { line = try selection.line(of: entry) } catch { refusals[index + 1] = error.message }
      try lines.append(line)
    }
    input = try lines.input(name: path, limitBytes: lineLimitBytes)
    self.refusals = refusals
    notices = selection.notices
  }

  /// The place that an error about a line names.
  static func place(ofLine line: Int) -> String { "log.entries[\(line - 1)].request" }
}
