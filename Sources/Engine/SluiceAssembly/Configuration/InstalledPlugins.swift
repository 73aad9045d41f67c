import Glibc
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// The plugins of one installation, which a configuration names without a path: `"library": "bearer-auth"`.
///
/// A name is looked up only in ``folder``. The working folder, the folder of the configuration and
/// environment variables such as `LD_LIBRARY_PATH` have no influence.
public struct InstalledPlugins: Sendable, Hashable {
  /// The folder that is searched; nil if no installation is known.
  public let folder: String?
  /// The reason why ``folder`` is nil, if the reason is known.
  private let reason: String?

  /// The plugins of the running program's installation: for a program `PREFIX/bin/NAME`, they are in
  /// `PREFIX/lib/sluice/plugins`. Symbolic links to the program are followed. A program in a folder with another name
  /// than `bin` has no installed plugins.
  public static let ofThisProgram = InstalledPlugins(program: RunningProgram.path())

  /// The plugins of an installation elsewhere.
  /// - Parameter folder: an absolute path; with a relative path no name is found.
  public init(in folder: String) {
    let isAbsolute = folder.utf8.first == UInt8(ascii: "/") && !folder.utf8.contains(0)
    self.folder = isAbsolute ? folder : nil
    reason = isAbsolute ? nil : "the folder of the installed plugins, \(PlainText.quote(folder)), is not absolute"
  }

  init(program: String?) {
    guard let program else {
      (folder, reason) = (nil, "the path of this program is unknown: /proc/self/exe cannot be read")
      return
    }
    let parts = program.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count >= 2, parts[parts.count - 2].elementsEqual("bin".utf8) else {
      (folder, reason) = (nil, "this program, \(PlainText.path(program)), is not installed in a folder \"bin\"")
      return
    }
    let prefix = parts.dropLast(2).map { "/\(String(decoding: $0, as: UTF8.self))" }.joined()
    (folder, reason) = ("\(prefix)/lib/sluice/plugins", nil)
  }

  /// The installation of another process, which has passed on the path of its folder; nil means that the process knows
  /// no installation.
  package init(given folder: String?) {
    if let folder { self.init(in: folder) } else { self.init(folder: nil, reason: nil) }
  }

  private init(folder: String?, reason: String?) {
    self.folder = folder
    self.reason = reason
  }

  /// The path of the library of a plugin, for a ``PluginConfiguration``.
  public func path(of name: String) throws(ConfigurationError) -> String {
    try path(of: name, at: ConfigurationLocation())
  }

  /// - Parameter location: where the name was found; errors name it.
  package func path(of name: String, at location: ConfigurationLocation) throws(ConfigurationError) -> String {
    guard PluginName.isValid(name) else {
      throw ConfigurationError(
        location,
        "\(PlainText.quote(name)) is neither the path of a library, which has a \"/\" or ends in \".so\", nor the name of "
          + "an installed plugin, which has \(PluginName.rule)")
    }
    let advice = "for a file, write its path, such as \"./lib\(name).so\""
    guard let folder else {
      throw ConfigurationError(
        location, "no installed plugin \"\(name)\" can be found: \(reason ?? "there is no installation")",
        advice: advice)
    }
    let path = "\(folder)/lib\(name).so"
    guard access(path, F_OK) == 0 else {
      throw ConfigurationError(
        location, "no plugin \"\(name)\" is installed in \(PlainText.path(folder)), \(found)", advice: advice)
    }
    return path
  }

  /// The names that can be found, in order.
  package var names: [String] {
    guard let folder else { return [] }
    return FolderListing.names(in: folder).compactMap { file in
      guard file.hasPrefix("lib"), file.hasSuffix(".so") else { return nil }
      let name = String(file.dropFirst(3).dropLast(3))
      return PluginName.isValid(name) ? name : nil
    }.sorted()
  }

  private var found: String {
    let names = names
    if names.isEmpty { return access(folder ?? "", F_OK) == 0 ? "which has none" : "which does not exist" }
    return "which has \(names.joined(separator: ", "))"
  }

  /// Whether a library is given by its name: it has no `/` and does not end in `.so`. Compared by bytes, because a
  /// combining character would hide a `/`.
  package static func isName(_ library: String) -> Bool {
    !library.utf8.contains(UInt8(ascii: "/")) && !library.utf8.suffix(3).elementsEqual(".so".utf8)
  }
}
