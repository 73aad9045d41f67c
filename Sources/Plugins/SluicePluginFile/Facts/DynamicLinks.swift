import CElf
import Glibc
import SluicePluginHost
import SluiceSupport

/// What a library's dynamic section says about other libraries.
struct DynamicLinks {
  var soname: String?
  var needed: [String] = []
  /// The folders in which the loader searches for needed libraries (DT_RPATH, DT_RUNPATH).
  var searchPaths: [String] = []
  /// Whether the file is a position-independent program: it has the ELF type of a library, plus the flag DF_1_PIE.
  var isProgram = false
  /// Whether the loader modifies the library's code while it loads the library.
  var hasTextRelocations = false

  init(_ file: borrowing ELFFile, _ sections: [ELFSection]) {
    guard let section = sections.first(where: { $0.header.sh_type == SHT_DYNAMIC }) else { return }
    let strings = Int(section.header.sh_link)
    for entry in file.dynamicEntries(of: section) {
      let value = entry.d_un.d_val
      switch entry.d_tag {
      case Int64(DT_NEEDED): if let name = file.string(in: strings, at: value) { needed.append(name) }
      case Int64(DT_SONAME): soname = file.string(in: strings, at: value)
      case Int64(DT_RPATH), Int64(DT_RUNPATH):
        let paths = file.string(in: strings, at: value) ?? ""
        searchPaths += paths.split(separator: ":").map(String.init)
      case Int64(DT_FLAGS_1): isProgram = value & UInt64(DF_1_PIE) != 0
      case Int64(DT_TEXTREL): hasTextRelocations = true
      case Int64(DT_FLAGS): hasTextRelocations = hasTextRelocations || value & UInt64(DF_TEXTREL) != 0
      default: break
      }
    }
  }

  /// The needed libraries that the loader would find in the library's own folder or below it.
  func privateLibraries(of folder: String?) -> [(name: String, path: String)] {
    guard let folder else { return [] }
    let expanded = searchPaths.map { $0.replacing("${ORIGIN}", with: folder).replacing("$ORIGIN", with: folder) }
    let own = expanded.filter { $0 == folder || $0.hasPrefix(folder + "/") }
    return needed.compactMap { name in
      if name.contains("/") { return (name, name) }
      guard let folder = own.first(where: { access("\($0)/\(name)", F_OK) == 0 }) else { return nil }
      return (name, "\(folder)/\(name)")
    }
  }

  /// The first private library that defines the entry point.
  ///
  /// If the plugin itself defines no entry point, `dlsym` would find the one of this private library.
  func entryProvider(of folder: String?) -> String? {
    privateLibraries(of: folder).first { library in
      guard let image = try? LibraryImage(reading: library.path),
        let entry = try? image.content.withUnsafeBytes({ bytes in
          try ELFFile.withFile(bytes, .plugin(name: nil, path: library.path)) { SymbolSurvey($0, $0.sections()).entry }
        })
      else { return false }
      return entry == .defined
    }?.name
  }
}
