import CElf
import CSymbolName
import Glibc
import SluicePluginFile

/// The functions of one ELF file, by their addresses.
struct SymbolTable {
  private struct Symbol {
    let address: UInt64
    /// The address after its last byte.
    let end: UInt64
    let name: String
  }

  /// The segments that the loader maps: their ranges in the file, and their virtual addresses as the file defines them.
  private let segments: [(file: Range<UInt64>, address: UInt64)]
  /// The functions in which the requested addresses are.
  private var found: [UInt64: Symbol] = [:]

  /// Looks all offsets up in one pass over the symbol table, because the table can be long. Returns nil if the file is
  /// missing or not an ELF file.
  init?(path: String, offsets: [UInt64]) {
    let read = ELFFile.withFile(at: path) { file in
      let segments = file.segments().filter { $0.p_type == PT_LOAD }.compactMap(Self.place)
      let places = offsets.compactMap { Self.address(of: $0, in: segments) }
      return (segments, Self.search(file, Set(places)))
    }
    guard let read else { return nil }
    (segments, found) = read
  }

  /// Converts an offset in the file to a virtual address as the file defines it.
  func address(of offset: UInt64) -> UInt64? { Self.address(of: offset, in: segments) }

  /// The demangled name of the function.
  func function(at address: UInt64) -> String? { found[address].map { Self.demangle($0.name) } }

  /// Returns nil if the end of a segment overflows, which can happen if the file is damaged.
  private static func place(_ segment: GElf_Phdr) -> (file: Range<UInt64>, address: UInt64)? {
    let (end, isTooLarge) = segment.p_offset.addingReportingOverflow(max(segment.p_filesz, 1))
    return isTooLarge ? nil : (segment.p_offset..<end, segment.p_vaddr)
  }

  private static func address(of offset: UInt64, in segments: [(file: Range<UInt64>, address: UInt64)]) -> UInt64? {
    segments.first { $0.file.contains(offset) }.map { $0.address &+ (offset - $0.file.lowerBound) }
  }

  /// `.symtab` contains every function. A stripped file only has `.dynsym`.
  private static func search(_ file: borrowing ELFFile, _ places: Set<UInt64>) -> [UInt64: Symbol] {
    let sections = file.sections()
    let table =
      sections.first { $0.header.sh_type == SHT_SYMTAB } ?? sections.first { $0.header.sh_type == SHT_DYNSYM }
    guard let table else { return [:] }
    var found: [UInt64: Symbol] = [:]
    let sorted = places.sorted()
    file.forEachSymbol(of: table) { name, symbol in
      guard symbol.isDefined, symbol.type == STT_FUNC, symbol.st_size > 0 else { return }
      let end = symbol.st_value &+ symbol.st_size
      for place in sorted where place >= symbol.st_value && place < end {
        if found[place] == nil {
          found[place] = Symbol(address: symbol.st_value, end: end, name: String(cString: name))
        }
      }
    }
    return found
  }

  static func demangle(_ symbol: String) -> String {
    let isCxx = symbol.hasPrefix("_Z")
    guard let words = isCxx ? sluice_demangle_cxx(symbol) : sluice_demangle_swift(symbol) else { return symbol }
    defer { free(words) }
    let name = String(cString: words)
    return isCxx ? name : shorter(name)
  }

  /// Removes parts that a reader does not need: the names of the modules `Swift` and `__C`, and the marks of private
  /// names.
  private static func shorter(_ name: String) -> String {
    name.replacing(#/\b(?:Swift|__C)\.|\ in _[0-9A-F]{32}/#, with: "")
  }
}
