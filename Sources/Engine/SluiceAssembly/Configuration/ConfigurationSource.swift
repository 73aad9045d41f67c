import SluiceJSON
import SluiceSupport

/// The text of a configuration, kept so that an error can name the line.
final class ConfigurationSource: Sendable {
  let file: String?
  /// Where to look up libraries that are given by name.
  let installedPlugins: InstalledPlugins
  private let text: [UInt8]

  init(file: String?, text: [UInt8], installedPlugins: InstalledPlugins = .ofThisProgram) {
    self.file = file
    self.installedPlugins = installedPlugins
    self.text = text
  }

  func location(_ pointer: JSONPointer) -> ConfigurationLocation {
    ConfigurationLocation(file: file, line: JSONLocator(text).position(of: pointer).line, key: Self.key(pointer))
  }

  /// Paths in a configuration are relative to its file.
  func resolve(_ path: String) -> String {
    guard !path.hasPrefix("/"), let file, let slash = file.lastIndex(of: "/") else { return SystemPath.absolute(path) }
    return SystemPath.absolute(file[...slash] + path)
  }

  /// The base folder of paths; nil means the folder of the process.
  var folder: String? {
    guard let file, let slash = file.lastIndex(of: "/") else { return nil }
    return slash == file.startIndex ? "/" : SystemPath.absolute(String(file[..<slash]))
  }

  private static func key(_ pointer: JSONPointer) -> String {
    var text = ""
    for token in pointer.tokens {
      if !token.isEmpty, token.allSatisfy(\.isNumber) {
        text += "[\(token)]"
      } else {
        text += text.isEmpty ? token : ".\(token)"
      }
    }
    return text
  }
}
