/// Makes damaged builds of a library. The same seed gives the same builds. Each is damaged in a place that the loader,
/// the preflight or a trial reads, so that the outcome does not depend on later traffic.
package struct LibraryMutations: Sendable {
  package struct Mutant: Sendable {
    package let what: String
    package let bytes: [UInt8]
  }

  private let whole: LibraryBytes
  /// Functions that every trial calls.
  private let functions: [String]
  private var random: SeededRandom

  /// The values that overwrite a number.
  private static let numbers: [UInt64] = [
    0, 1, 7, 0x1000, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 47, 0x7FFF_FFFF_FFFF_FFFF, 1 << 63, .max, .max - 7,
  ]
  /// DT_FINI, DT_FINI_ARRAY and DT_FINI_ARRAYSZ are not changed, because the functions to which they refer run when the
  /// process ends, and not during the trial.
  private static let endTags: Set<UInt64> = [13, 26, 28]

  package init(of bytes: [UInt8], functions: [String] = ["sluice_plugin_entry"], seed: UInt64) {
    whole = LibraryBytes(bytes)
    self.functions = functions
    random = SeededRandom(seed: seed)
  }

  package mutating func next(_ count: Int) -> [Mutant] { (0..<count).map { mutant($0) } }

  /// Uses the kinds of damage one after the other, so that a few mutants cover all kinds.
  private mutating func mutant(_ index: Int) -> Mutant {
    var library = whole
    let what =
      switch index % 8 {
      case 0: flipByte(in: 4..<64, of: &library, "the ELF header")
      case 1: overwrite(whole.segments.map(\.header), 56, in: &library, "the program header")
      case 2: overwrite(whole.sections.map(\.header), 64, in: &library, "the section table")
      case 3: overwriteDynamic(&library)
      case 4: flipByte(in: range(".dynsym"), of: &library, "the symbol table")
      case 5: flipByte(in: range(".note.sluice"), of: &library, "the note")
      case 6: clearFunction(&library)
      default: truncate(&library)
      }
    return Mutant(what: "\(index): \(what)", bytes: library.bytes)
  }

  private func range(_ section: String) -> Range<Int> { whole.section(section)?.file ?? 0..<64 }

  private mutating func flipByte(in range: Range<Int>, of library: inout LibraryBytes, _ place: String) -> String {
    let index = Int.random(in: range, using: &random)
    let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
    library.bytes[index] ^= bit
    return "bit \(bit) at \(index) in \(place)"
  }

  private mutating func overwrite(
    _ entries: [Int], _ size: Int, in library: inout LibraryBytes, _ place: String
  ) -> String {
    let entry = entries.randomElement(using: &random) ?? 0
    let offset = entry + 8 * Int.random(in: 0..<size / 8, using: &random)
    return overwrite(offset, &library, place)
  }

  private mutating func overwrite(_ offset: Int, _ library: inout LibraryBytes, _ place: String) -> String {
    let number = Self.numbers.randomElement(using: &random) ?? 0
    library.write(number, at: offset, width: 8)
    return "\(number) at \(offset) in \(place)"
  }

  private mutating func overwriteDynamic(_ library: inout LibraryBytes) -> String {
    let entries = whole.dynamicEntries.filter { !Self.endTags.contains($0.tag) }
    guard let entry = entries.randomElement(using: &random) else { return "nothing" }
    return overwrite(entry.valuePlace, &library, "the value of the dynamic tag \(entry.tag)")
  }

  /// Overwrites the first 16 bytes of a function with zeros, so that a call of the function goes wrong.
  private mutating func clearFunction(_ library: inout LibraryBytes) -> String {
    let name = functions.randomElement(using: &random) ?? ""
    guard let range = whole.function(name) else { return "nothing: no function \(name)" }
    for index in range.prefix(16) { library.bytes[index] = 0 }
    return "zeros in the function \(name)"
  }

  private mutating func truncate(_ library: inout LibraryBytes) -> String {
    let start = Int.random(in: 64..<whole.bytes.count, using: &random)
    if Bool.random(using: &random) {
      library.bytes.removeLast(whole.bytes.count - start)
      return "the end is missing from \(start) on"
    }
    // The other half of these builds have zeros in .strtab, which the dynamic loader does not read.
    let table = range(".strtab")
    for index in table { library.bytes[index] = 0 }
    return "zeros in .strtab"
  }
}
