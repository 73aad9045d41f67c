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
  /// Those of the names `lookingFor` that the file gets from other libraries.
  package let imports: Set<String>
  /// The build id in hex; nil if the linker wrote none.
  package let buildID: String?

  /// Nil for a file that is not ELF.
  package init?(at path: String, lookingFor names: Set<String> = []) {
    let facts = ELFFile.withFile(at: path) { file -> (String?, [String], [Set<String>], String?) in
      let sections = file.sections()
      let note = sections.first { $0.name == ".note.gnu.build-id" }
      let loader = sections.first { $0.name == ".interp" }.map { file.content(of: $0) }
      let text = loader.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      return (
        text, DynamicLinks(file, sections).needed,
        [true, false].map { Self.symbols(names, areDefined: $0, file, sections) },
        note.flatMap { LibraryFacts.buildID(file.content(of: $0)) }
      )
    }
    guard let facts else { return nil }
    (loader, needed, buildID) = (facts.0, facts.1, facts.3)
    (exports, imports) = (facts.2[0], facts.2[1])
  }

  private static func symbols(
    _ names: Set<String>, areDefined: Bool, _ file: borrowing ELFFile, _ sections: [ELFSection]
  ) -> Set<String> {
    var found: Set<String> = []
    for section in sections where section.header.sh_type == SHT_DYNSYM {
      file.forEachSymbol(of: section) { name, symbol in
        guard (symbol.st_shndx != SHN_UNDEF) == areDefined else { return }
        let name = String(cString: name)
        if names.contains(name) { found.insert(name) }
      }
    }
    return found
  }
}
