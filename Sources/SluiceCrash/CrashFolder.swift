import Glibc
public import SluicePluginImage
import SluiceSupport

/// Where crash reports are kept for later: a text and a JSON document of each, the oldest removed beyond a number.
public struct CrashFolder: Sendable {
  /// Files of one report, without the end of their names: `2026-11-21T22-10-00-4711`.
  public struct Entry: Sendable, Hashable {
    /// The file with ``CrashReport/text``; it ends in `.txt`.
    public let textPath: String
    /// The file with ``CrashReport/json``; it ends in `.json`.
    public let documentPath: String
  }

  /// How many reports are kept unless the caller says otherwise.
  public static let defaultLimit = 32

  /// The folder, which ``save(_:)`` creates if it does not exist.
  public let path: String
  private let limit: Int

  /// - Parameters:
  ///   - path: nil for ``defaultPath()``; nil is the result where the user has no home.
  ///   - limit: how many reports are kept.
  public init?(at path: String? = nil, limit: Int = Self.defaultLimit) {
    guard let path = path ?? Self.defaultPath() else { return nil }
    self.path = path
    self.limit = max(1, limit)
  }

  /// `$XDG_STATE_HOME/sluice/crashes`, or below `~/.local/state`. A relative XDG_STATE_HOME is ignored, as its
  /// specification wants.
  public static func defaultPath() -> String? { defaultPath(environment: PluginStore.environment) }

  static func defaultPath(environment: (String) -> String?) -> String? {
    if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/sluice/crashes" }
    return PluginStore.home(environment).map { $0 + "/.local/state/sluice/crashes" }
  }

  /// Writes both files, 0600 in a folder that only the user can look into. The folder is made, and has to be the user's own.
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

  /// Sorts by time.
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

  /// What others may have put there stays.
  private static func isReport(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.count > 21 && bytes[10] == UInt8(ascii: "T") && bytes[19] == UInt8(ascii: "Z")
  }
}
