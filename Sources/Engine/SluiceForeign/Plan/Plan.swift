package import SluiceAssembly
import SluiceJSON
import SluiceMessages

/// The document from which a process makes its pipeline: the configuration, with references in place of secrets, and
/// the checked private copy of each library. The command writes it.
package struct Plan: Sendable {
  package struct Library: Sendable {
    /// The path of the private copy, which exists as long as the command runs.
    package var copy: String
    /// SHA-256 in hexadecimal.
    package var hash: String
    package var buildID: String?
    /// The build id of the shared Swift runtime that the library was linked with; nil if it was not linked with a
    /// shared runtime.
    package var swiftBuildID: String?
    /// Whether the plugin requires call-outs.
    package var callsOut: Bool
  }

  package var configuration: Configuration
  /// Indexed by the path in the configuration.
  package var libraries: [String: Library]
  package var explains: Bool
  /// The folder for the events of each process; nil if events are not written.
  package var events: String?

  /// - Throws: if the bytes are not a plan, or if a reference of the configuration cannot be resolved in this process.
  package init(_ bytes: [UInt8]) throws {
    let document = try JSONValue(parsing: bytes, options: .rejectDuplicates)
    guard let text = document["text"]?.string, let file = document["file"]?.string else { throw Malformed() }
    // Plugins that are given by name are looked up in the installation of the command, not in that of the program.
    configuration = try Configuration(
      text: Array(text.utf8), file: file,
      installedPlugins: InstalledPlugins(given: document["pluginFolder"]?.string))
    libraries = [:]
    guard let entries = document["libraries"] else { throw Malformed() }
    for (path, entry) in entries.members {
      guard let copy = entry["copy"]?.string, let hash = entry["hash"]?.string else { throw Malformed() }
      libraries[path] = Library(
        copy: copy, hash: hash, buildID: entry["buildId"]?.string,
        swiftBuildID: entry["swiftBuildId"]?.string, callsOut: entry["callsOut"]?.bool ?? false)
    }
    explains = document["explain"]?.bool ?? false
    events = document["events"]?.string
  }

  package struct Malformed: Error, CustomStringConvertible {
    package var description: String {
      "this library cannot read the plan; use the command and the library of the same release"
    }
  }
}
