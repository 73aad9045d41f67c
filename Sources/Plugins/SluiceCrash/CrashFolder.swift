import Glibc
import SluicePluginFile
public import SluicePluginHost
import SluiceSupport

/// The folder that keeps crash reports: a text and a JSON document for each. Beyond a limit, the oldest reports are
/// removed.
public struct CrashFolder: Sendable {
  /// The two files of one report. Both names begin with the time and the process id: `2026-11-21T22-10-00Z-4711`.
  public struct Entry: Sendable, Hashable {
    /// The file with ``CrashReport/text``; it ends in `.txt`.
    public let textPath: String
    /// The file with ``CrashReport/json``; it ends in `.json`.
    public let documentPath: String
  }

  /// The number of reports that are kept by default.
  public static let defaultLimit = 32

  /// The folder, which ``save(_:)`` creates if it does not exist.
  public let path: String
  private let limit: Int

  /// - Parameters:
  ///   - path: nil for ``defaultPath()``. The initializer returns nil if the user has no home folder.
  ///   - limit: the number of reports that are kept.
  public init?(at path: String? = nil, limit: Int = Self.defaultLimit) {
    guard let path = path ?? Self.defaultPath() else { return nil }
    self.path = path
    self.limit = max(1, limit)
  }

  /// `$XDG_STATE_HOME/sluice/crashes`, or below `~/.local/state`. A relative path in XDG_STATE_HOME is ignored, as the
  /// XDG specification requires.
  public static func defaultPath() -> String? { defaultPath(environment: PluginStore.environment) }

  static func defaultPath(environment: (String) -> String?) -> String? {
    if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/sluice/crashes" }
    return PluginStore.home(environment).map { $0 + "/.local/state/sluice/crashes" }
  }

  /// Writes both files with mode 0600 into a folder that only the user can read. Creates the folder if necessary. An
  /// existing folder must belong to the user.
  public func save(_ report: CrashReport) throws(PluginError) -> Entry {
    do { try StoreFolder.prepare(path, for: .files) } catch {
      throw PluginError(error.code, .folder(path: path), error.reason, advice: error.advice)
    }
    let base = "\(path)/\(name(of: report))"
    let entry = Entry(textPath: base + ".txt", documentPath: base + ".json")
    try write(Array(report.text.utf8), to: entry.textPath)
    try write(Array((report.json + "\n").utf8), to: entry.documentPath)
    removeOldest()
    return entry
  }

  /// The common beginning of the names of both files. Sorting these names sorts the reports by time.
  private func name(of report: CrashReport) -> String {
    var seconds = time_t(report.moment.components.seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var buffer = [CChar](repeating: 0, count: 32)
    strftime(&buffer, buffer.count, "%Y-%m-%dT%H-%M-%SZ", &parts)
    let moment = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "\(moment)-\(report.process)"
  }

  private func write(_ bytes: [UInt8], to path: String) throws(PluginError) {
    guard let file = FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600),
      file.writeAll(bytes)
    else {
      throw PluginError(
        .store, .folder(path: self.path), "a crash report cannot be written: \(SystemError.text())",
        advice: "free some space, or set XDG_STATE_HOME to a folder of yours")
    }
  }

  private func removeOldest() {
    for end in [".txt", ".json"] {
      for name in FolderListing.names(in: path).filter({ $0.hasSuffix(end) && Self.isReport($0) }).dropLast(limit) {
        unlink("\(path)/\(name)")
      }
    }
  }

  /// Files that are not reports are never removed.
  private static func isReport(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.count > 21 && bytes[10] == UInt8(ascii: "T") && bytes[19] == UInt8(ascii: "Z")
  }
}
