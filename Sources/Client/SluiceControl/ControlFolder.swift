import Glibc
public import Sluice
import SluiceAssembly
import SluiceServer

/// The user's folder for control sockets: `$XDG_RUNTIME_DIR/sluice`, or `/tmp/sluice-UID` if there is no such
/// directory. Other users have no access to it.
public enum ControlFolder {
  /// An engine that listens at a control socket.
  public struct RunningEngine: Sendable, Hashable {
    /// The path of the socket, in the user's folder.
    public let path: String
    /// The process id of the engine; nil if the kernel does not report it.
    public let process: Int32?
  }

  /// The path of the socket for a new server. If the socket is in the user's folder, creates the folder if necessary.
  public static func path(of place: ControlPlace) throws(ControlError) -> String {
    switch place {
    case .path(let path): return path
    case .userFolder:
      let folder = folder
      try make(folder)
      UnixSocket.removeAbandoned(sockets(in: folder), in: folder)
      return "\(folder)/\(getpid()).sock"
    }
  }

  /// The engines whose sockets are in the user's folder, sorted by path.
  public static func running() -> [RunningEngine] {
    let folder = folder
    guard isPrivate(folder) else { return [] }
    return sockets(in: folder).compactMap { name in
      let path = "\(folder)/\(name)"
      guard case .listening(let process) = UnixSocket.find(at: path) else { return nil }
      return RunningEngine(path: path, process: process)
    }
  }

  /// The path of the socket of the only running engine. Fails if no engine runs, or several.
  public static func onlyPath() throws(ControlError) -> String {
    let running = running()
    guard let first = running.first else {
      let left = abandoned
      throw ControlError(
        .noEngine, "no engine listens at a control socket in \(folder)" + (left.isEmpty ? "" : "; \(words(of: left))"),
        advice: "start one with \"sluice run --control\"; if its configuration names another"
          + " socket, give this path with --socket")
    }
    guard running.count == 1 else {
      let list = running.map { engine in "\n  \(engine.path)" + (engine.process.map { " (process \($0))" } ?? "") }
      throw ControlError(.severalEngines, "\(running.count) engines run; name the socket of one:\(list.joined())")
    }
    return first.path
  }

  /// The sockets of engines that were killed or crashed. The next engine that starts removes them.
  private static var abandoned: [String] {
    let folder = folder
    guard isPrivate(folder) else { return [] }
    return sockets(in: folder).map { "\(folder)/\($0)" }.filter { UnixSocket.find(at: $0) == .abandoned }
  }

  private static func words(of abandoned: [String]) -> String {
    let isOne = abandoned.count == 1
    return "\(abandoned.joined(separator: ", ")) \(isOne ? "is" : "are") left from"
      + " \(isOne ? "an engine" : "engines") that ended without removing \(isOne ? "it" : "them")"
  }

  /// The XDG specification requires an absolute path, and a folder of the user with mode 0700.
  private static var runtimeFolder: String? {
    guard let value = getenv("XDG_RUNTIME_DIR") else { return nil }
    let base = String(cString: value)
    guard base.hasPrefix("/"), isOwn(base) else { return nil }
    return base + "/sluice"
  }

  private static var folder: String { runtimeFolder ?? "/tmp/sluice-\(geteuid())" }

  private static func make(_ folder: String) throws(ControlError) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw ControlError(
        .socket, "cannot make the folder \(folder): \(String(cString: strerror(errno)))",
        advice: "set XDG_RUNTIME_DIR, or name a path")
    }
    guard isPrivate(folder) else {
      throw ControlError(
        .socket, "the folder \(folder) does not belong to this user alone",
        advice: "make it yours with mode 0700, or name a path elsewhere")
    }
  }

  /// Whether the folder belongs to the user alone. A symbolic link is not followed, because everybody can create a link
  /// in /tmp.
  private static func isPrivate(_ folder: String) -> Bool {
    var status = stat()
    guard lstat(folder, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
  }

  private static func isOwn(_ folder: String) -> Bool {
    var status = stat()
    guard stat(folder, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
  }

  /// The names of files that may be sockets.
  private static func sockets(in folder: String) -> [String] {
    names(in: folder).filter { $0.hasSuffix(".sock") }.sorted()
  }

  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }
}
