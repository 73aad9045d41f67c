import CElf
import Glibc
import SluicePluginHost

/// What the file of a program or a library says about how it is linked. Reads the file, and runs none of its code.
package struct ProgramFacts: Sendable, Hashable {
  /// What an ELF file is.
  package enum Form: Sendable, Hashable {
    case program, sharedLibrary
    /// A program or library for another machine, an object file, or a core dump.
    case other
    /// The file is shorter than its headers say.
    case truncated
  }

  package let form: Form
  /// Whether the file has a table of sections. Without it, `needed`, `exports`, `imports` and `buildID` are unknown.
  package let hasSections: Bool
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
    guard let facts = ELFFile.withFile(at: path, { Self($0, lookingFor: names) }) else { return nil }
    self = facts
  }

  private init(_ file: borrowing ELFFile, lookingFor names: Set<String>) {
    let sections = file.sections()
    let segments = file.segments()
    let links = DynamicLinks(file, sections)
    let note = sections.first { $0.name == ".note.gnu.build-id" }
    loader = Self.loader(file, segments)
    form = Self.form(file, segments, isProgram: loader != nil || links.isProgram)
    hasSections = !sections.isEmpty
    needed = links.needed
    buildID = note.flatMap { LibraryFacts.buildID(file.content(of: $0)) }
    (exports, imports) = Self.symbols(names, file, sections)
  }

  private static func loader(_ file: borrowing ELFFile, _ segments: [GElf_Phdr]) -> String? {
    guard let segment = segments.first(where: { $0.p_type == PT_INTERP }), segment.p_filesz <= PATH_MAX else {
      return nil
    }
    let path = file.content(at: segment.p_offset, count: Int(segment.p_filesz))
    return String(decoding: path.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func form(_ file: borrowing ELFFile, _ segments: [GElf_Phdr], isProgram: Bool) -> Form {
    let isWhole = segments.allSatisfy { segment in
      let (end, overflow) = segment.p_offset.addingReportingOverflow(segment.p_filesz)
      return !overflow && end <= UInt64(file.sizeBytes)
    }
    guard file.header.e_machine == MachineName.host else { return .other }
    return switch Int32(file.header.e_type) {
    case ET_EXEC: isWhole ? .program : .truncated
    case ET_DYN: isWhole ? isProgram ? .program : .sharedLibrary : .truncated
    default: .other
    }
  }

  private static func symbols(_ names: Set<String>, _ file: borrowing ELFFile, _ sections: [ELFSection])
    -> (exports: Set<String>, imports: Set<String>)
  {
    var exports: Set<String> = []
    var imports: Set<String> = []
    for section in sections where section.header.sh_type == SHT_DYNSYM {
      file.forEachSymbol(of: section) { name, symbol in
        let name = String(cString: name)
        guard names.contains(name) else { return }
        if symbol.st_shndx == SHN_UNDEF { imports.insert(name) } else { exports.insert(name) }
      }
    }
    return (exports, imports)
  }
}
