import CElf
import Glibc
import SluicePluginImage

/// What the file of a program or a library says about how it is linked. Reads the file, and runs none of its code.
package struct ProgramFacts: Sendable, Hashable {
  /// The dynamic loader; nil for a static program.
  package let loader: String?
  /// The libraries that the file itself names.
  package let needed: [String]
  /// Those of the names `lookingFor` that the file exports.
  package let exports: Set<String>
  /// The build id in hex; nil if the linker wrote none.
  package let buildID: String?

  /// Nil for a file that is not ELF.
  package init?(at path: String, lookingFor names: Set<String> = []) {
    let facts = ELFFile.withFile(at: path) { file -> (String?, [String], Set<String>, String?) in
      let sections = file.sections()
      let note = sections.first { $0.name == ".note.gnu.build-id" }
      let loader = sections.first { $0.name == ".interp" }.map { file.content(of: $0) }
      let text = loader.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      return (
        text, DynamicLinks(file, sections).needed, Self.exports(names, file, sections),
        note.flatMap { LibraryFacts.buildID(file.content(of: $0)) }
      )
    }
    guard let facts else { return nil }
    (loader, needed, exports, buildID) = facts
  }

  private static func exports(_ names: Set<String>, _ file: borrowing ELFFile, _ sections: [ELFSection]) -> Set<String>
  {
    var found: Set<String> = []
    for section in sections where section.header.sh_type == SHT_DYNSYM {
      file.forEachSymbol(of: section) { name, symbol in
        guard symbol.st_shndx != SHN_UNDEF else { return }
        let name = String(cString: name)
        if names.contains(name) { found.insert(name) }
      }
    }
    return found
  }
}
