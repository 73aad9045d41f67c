import Glibc

/// Who else could put code into this process by writing a library or its folder.
enum LibraryPermissions {
  /// Looks at the real file and the folder that holds it, not at the folders above: those are the administrator's
  /// concern, and a home below `/tmp` would otherwise be unusable. A sticky folder counts as writable: others can
  /// put their own file there before ours exists.
  static func check(file: stat, realPath: String, _ subject: PluginError.Subject) throws(PluginError) {
    try refuse(file, "the file", realPath, subject)
    let folder = folder(of: realPath)
    var status = stat()
    guard stat(folder, &status) == 0 else {
      throw PluginError(.unreadable, subject, "its folder \(folder) cannot be examined: \(systemMessage())")
    }
    try refuse(status, "its folder", folder, subject)
  }

  private static func refuse(
    _ status: stat, _ what: String, _ path: String, _ subject: PluginError.Subject
  ) throws(PluginError) {
    guard let reason = reason(mode: status.st_mode, owner: status.st_uid, user: geteuid()) else { return }
    let advice =
      status.st_mode & 0o022 == 0
      ? "use a copy of your own" : "run: chmod go-w \(path)" + (status.isDirectory ? ", or move the library" : "")
    throw PluginError(
      .refusedPermissions, subject, "\(what)\(what == "the file" ? "" : " " + path) \(reason)", advice: advice)
  }

  /// nil when nobody but the user and root can change it.
  static func reason(mode: mode_t, owner: uid_t, user: uid_t) -> String? {
    switch mode & 0o022 {
    case 0: owner == user || owner == 0 ? nil : "belongs to another user (\(owner))"
    case 0o020: "is writable by its group"
    case 0o002: "is writable by others"
    default: "is writable by its group and by others"
    }
  }

  static func folder(of realPath: String) -> String {
    guard let slash = realPath.lastIndex(of: "/"), slash != realPath.startIndex else { return "/" }
    return String(realPath[..<slash])
  }
}
