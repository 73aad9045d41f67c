import Glibc
import SluicePluginHost
import SluiceSupport

/// Checks whether other users could put code into this process by changing a library or its folder.
package enum LibraryPermissions {
  /// A file or folder that other users can change: the library or its folder.
  private struct Weakness {
    /// What is wrong, as part of a sentence.
    let words: String
    let path: String
    /// Whether removing a permission is enough; if false, the file or folder belongs to another user.
    let isMode: Bool
  }

  /// Checks the real file and its folder, but not the folders above.
  ///
  /// The administrator is responsible for the folders above, and a check of them would refuse a home below `/tmp`. A
  /// sticky folder counts as writable: other users can put their own file there before ours exists. One error names
  /// both problems, so that the user can correct both at once.
  static func check(file: stat, realPath: String, _ subject: PluginError.Subject) throws(PluginError) {
    let folder = folder(of: realPath)
    var status = stat()
    guard stat(folder, &status) == 0 else {
      throw PluginError(.unreadable, subject, "its folder \(folder) cannot be examined: \(SystemError.text())")
    }
    let weak = [weakness(of: file, "the file", realPath), weakness(of: status, "its folder \(folder)", folder)]
      .compactMap(\.self)
    guard !weak.isEmpty else { return }
    throw PluginError(
      .refusedPermissions, subject, weak.map(\.words).joined(separator: ", and "),
      advice: advice(weak, mentionsFolder: weak.contains { $0.path == folder }))
  }

  private static func weakness(of status: stat, _ what: String, _ path: String) -> Weakness? {
    reason(mode: status.st_mode, owner: status.st_uid, user: geteuid()).map {
      Weakness(words: "\(what) \($0)", path: path, isMode: status.st_mode & 0o022 != 0)
    }
  }

  private static func advice(_ weak: [Weakness], mentionsFolder: Bool) -> String {
    guard weak.allSatisfy(\.isMode) else {
      return "give it to root with chown, or use a copy of your own, in a folder of your own"
    }
    let command = "run: chmod go-w \(weak.map(\.path).joined(separator: " "))"
    return mentionsFolder ? "\(command), or move the library" : command
  }

  /// nil if only the user and root can change it.
  static func reason(mode: mode_t, owner: uid_t, user: uid_t) -> String? {
    switch mode & 0o022 {
    case 0: owner == user || owner == 0 ? nil : "belongs to another user (\(owner))"
    case 0o020: "is writable by its group"
    case 0o002: "is writable by others"
    default: "is writable by its group and by others"
    }
  }

  package static func folder(of realPath: String) -> String {
    guard let slash = realPath.lastIndex(of: "/"), slash != realPath.startIndex else { return "/" }
    return String(realPath[..<slash])
  }
}
