import CElf
import Glibc
import SluicePluginHost

/// What the symbol tables of a library show about it.
struct SymbolSurvey {
  var entry = LibraryFacts.Entry.absent
  /// A function of jansson that the library itself defines.
  var ownJanssonSymbol: String?
  var usesJansson = false
  var usesSwift = false
  /// A function of Swift's runtime that the library defines, exports, or takes from another library.
  var ownRuntimeSymbol: String?
  var exportedRuntimeSymbol: String?
  var foreignRuntimeSymbol: String?
  var threadStarter: String?
  var sanitizer: LibraryFacts.Sanitizer?
  var usesCPlusPlus = false
  var exportedSymbolCount = 0
  var uniqueSymbols: [String] = []
  var strayExports: [String] = []

  /// Marks of the start and end of sections, which some linkers export from every library.
  private static let linkerMarks = [
    "_init", "_fini", "_edata", "_end", "_etext", "__bss_start", "__data_start", LibraryFacts.entrySymbol,
  ]

  /// Functions that jansson's header only declares. Its inline functions are not listed here, because every library
  /// that calls them contains a copy.
  private static let janssonFunctions = [
    "json_object", "json_array", "json_string", "json_integer", "json_delete", "json_loads", "json_loadb",
    "json_dumps", "json_object_get", "json_object_set_new", "json_array_append_new", "json_object_iter",
  ]

  /// Functions of Swift's runtime that nearly all Swift code calls, and two functions of Swift concurrency.
  private static let runtimeFunctions = [
    "swift_retain", "swift_release", "swift_allocObject", "swift_deallocClassInstance", "swift_conformsToProtocol",
    "swift_getTypeByMangledNameInContext", "swift_getWitnessTable", "swift_once", "swift_task_create",
    "swift_task_switch",
  ]

  /// Features that start threads of libdispatch, and the mangled names of their functions.
  private static let threadStarters = [
    ("$sScTss5NeverORs_rlE5sleep", "Task.sleep"), ("$ss5ClockP5sleep", "Task.sleep"), ("$s8Dispatch", "Dispatch"),
    ("dispatch_", "Dispatch"),
  ]

  init(_ file: borrowing ELFFile, _ sections: [ELFSection]) {
    // Swift's metadata, which a stripped library has too. A C target of SwiftPM has these sections without content.
    usesSwift = sections.contains { $0.name.hasPrefix("swift5_") && $0.header.sh_size > 0 }
    for section in sections where section.header.sh_type == SHT_DYNSYM {
      file.forEachSymbol(of: section) { noteDynamic($0, $1) }
    }
    for section in sections where section.header.sh_type == SHT_SYMTAB {
      file.forEachSymbol(of: section) { noteLocal($0, $1) }
    }
  }

  private mutating func noteDynamic(_ name: UnsafePointer<CChar>, _ symbol: GElf_Sym) {
    let isDefined = symbol.isDefined
    let isExported = isDefined && symbol.binding != STB_LOCAL && symbol.isVisible
    if isExported { noteExport(name) }
    if isDefined && symbol.binding == STB_GNU_UNIQUE { uniqueSymbols.append(String(cString: name)) }
    if strcmp(name, LibraryFacts.entrySymbol) == 0 {
      entry = isExported ? (symbol.type == STT_FUNC ? .defined : .notFunction) : isDefined ? .hidden : .undefined
    }
    if !isDefined && Self.isJansson(name) { usesJansson = true }
    if !isDefined, let found = LibraryFacts.Sanitizer.allCases.first(where: { strcmp(name, $0.symbol) == 0 }) {
      sanitizer = found
    }
    if !isDefined, threadStarter == nil { threadStarter = Self.threadStarter(name) }
    if Self.isRuntime(name) {
      if !isDefined { foreignRuntimeSymbol = String(cString: name) }
      if isExported { exportedRuntimeSymbol = String(cString: name) }
    }
    // Local symbols do not count: the start-up object that SwiftPM links into C targets has some.
    if strncmp(name, "_Z", 2) == 0 { usesCPlusPlus = true }
    noteContent(name, symbol)
  }

  private mutating func noteExport(_ name: UnsafePointer<CChar>) {
    exportedSymbolCount += 1
    guard strncmp(name, "$s", 2) != 0 else { return }
    let text = String(cString: name)
    if !Self.linkerMarks.contains(text) { strayExports.append(text) }
  }

  private mutating func noteLocal(_ name: UnsafePointer<CChar>, _ symbol: GElf_Sym) {
    if symbol.isDefined && entry == .absent && strcmp(name, LibraryFacts.entrySymbol) == 0 { entry = .hidden }
    noteContent(name, symbol)
  }

  private mutating func noteContent(_ name: UnsafePointer<CChar>, _ symbol: GElf_Sym) {
    if strncmp(name, "$s", 2) == 0 { usesSwift = true }
    guard symbol.isDefined, symbol.type == STT_FUNC else { return }
    if ownJanssonSymbol == nil && Self.isJansson(name) { ownJanssonSymbol = String(cString: name) }
    if ownRuntimeSymbol == nil && Self.isRuntime(name) { ownRuntimeSymbol = String(cString: name) }
  }

  private static func threadStarter(_ name: UnsafePointer<CChar>) -> String? {
    threadStarters.first { strncmp(name, $0.0, $0.0.utf8.count) == 0 }?.1
  }

  private static func isRuntime(_ name: UnsafePointer<CChar>) -> Bool {
    strncmp(name, "swift_", 6) == 0 && runtimeFunctions.contains { strcmp($0, name) == 0 }
  }

  private static func isJansson(_ name: UnsafePointer<CChar>) -> Bool {
    strncmp(name, "json_", 5) == 0 && janssonFunctions.contains { strcmp($0, name) == 0 }
  }
}

extension GElf_Sym {
  package var isDefined: Bool { st_shndx != UInt16(SHN_UNDEF) }
  var binding: Int32 { Int32(st_info >> 4) }
  package var type: Int32 { Int32(st_info & 15) }
  var isVisible: Bool { [STV_DEFAULT, STV_PROTECTED].contains(Int32(st_other & 3)) }
}
