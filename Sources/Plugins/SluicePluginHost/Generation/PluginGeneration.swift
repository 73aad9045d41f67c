package import CSluice
import SluiceMessages

/// One build of one plugin: the checked content of its table, and its library. A library stays in the process
/// permanently, even after this object is released.
///
/// Unchecked: the table holds function pointers and strings of a library that is never unloaded; nothing is written after
/// `init`.
package final class PluginGeneration: @unchecked Sendable {
  package let id: String
  package let version: String
  package let summary: String
  /// JSON Schema (draft-07) for the configuration; nil accepts anything.
  package let configurationSchema: String?
  /// A copy of the plugin's table, with the length of the host's table. `destroy` is never NULL; in the table of a
  /// library, `create` and `extension` are never NULL either.
  package let table: sluice_plugin
  /// nil for a part of the program.
  package let library: LoadedLibrary?
  let program: ProgramPlugin?

  package var facts: LibraryFacts? { library?.facts }
  package var hash: ContentHash? { library?.stored.hash }
  /// The number of this generation in its engine. Without an engine, it is the number of the library's copy in the
  /// store (see StoredPlugin). A plugin that is a part of the program has the number 0.
  package let number: Int
  package var path: String? { library?.path }

  package init(_ program: ProgramPlugin) {
    self.program = program
    (id, version, summary) = (program.id, program.version, program.summary)
    configurationSchema = program.configurationSchema
    table = program.lifecycle
    library = nil
    number = 0
  }

  init(
    _ library: LoadedLibrary, _ table: sluice_plugin, _ reader: TableReader, number: Int?
  ) throws(PluginError) {
    self.number = number ?? library.stored.generation
    id = try reader.line(table.id, "id", limitBytes: 255)
    version = try reader.line(table.version, "version", limitBytes: 255)
    summary = try reader.line(table.summary, "summary", limitBytes: 1024)
    configurationSchema =
      table.config_schema == nil ? nil : try reader.text(table.config_schema, "config_schema", limitBytes: 1 << 20)
    guard SemanticVersion.isValid(version) else {
      throw reader.error("has the version \(PlainText.quote(version)), which is not a semantic version such as 1.4.0")
    }
    let isName = id.utf8.allSatisfy { $0.isNameByte }
    guard isName else {
      throw reader.error("has the id \(PlainText.quote(id)); letters, digits, '.', '-' and '_' are allowed")
    }
    for (member, isThere) in [
      ("create", table.create != nil), ("destroy", table.destroy != nil), ("extension", table.extension != nil),
    ] where !isThere {
      throw reader.error("has no \(member)")
    }
    self.table = table
    self.library = library
    program = nil
  }
}

extension UInt8 {
  fileprivate var isNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
