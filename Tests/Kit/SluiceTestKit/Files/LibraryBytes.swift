/// The bytes of a 64-bit little-endian ELF library, and the places in it that a test may want to damage. The code does
/// not check the library, which must be valid.
package struct LibraryBytes: Sendable {
  /// An entry of the program header (elf(5)).
  package struct Segment: Sendable {
    /// The offset of the entry itself.
    package let header: Int
    package let type: UInt64
    package let file: Range<Int>

    /// Offsets of the entry's members.
    package var typePlace: Int { header }
    package var flagsPlace: Int { header + 4 }
    package var addressPlace: Int { header + 16 }
    package var fileSizePlace: Int { header + 32 }
    package var memorySizePlace: Int { header + 40 }
  }

  package struct Section: Sendable {
    package let header: Int
    package let name: String
    package let type: UInt64
    package let address: UInt64
    package let file: Range<Int>
  }

  package struct DynamicEntry: Sendable {
    package let tag: UInt64
    /// The offset of the entry's value.
    package let valuePlace: Int
    /// The offset of the entry's tag.
    package var tagPlace: Int { valuePlace - 8 }
  }

  package static let load: UInt64 = 1
  package static let dynamic: UInt64 = 2
  package static let interpreter: UInt64 = 3
  package static let note: UInt64 = 4
  package static let stack: UInt64 = 0x6474_e551

  package var bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package func number(at place: Int, width: Int) -> UInt64 {
    bytes[place..<place + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func write(_ number: UInt64, at place: Int, width: Int) {
    for index in 0..<width { bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
  }

  private func place(at place: Int) -> Int { Int(number(at: place, width: 8)) }

  package var segments: [Segment] {
    let (start, size, count) = (place(at: 32), number(at: 54, width: 2), number(at: 56, width: 2))
    return (0..<Int(count)).map { index in
      let header = start + index * Int(size)
      let offset = place(at: header + 8)
      return Segment(
        header: header, type: number(at: header, width: 4), file: offset..<offset + place(at: header + 32))
    }
  }

  package var sections: [Section] {
    let (start, size, count) = (place(at: 40), Int(number(at: 58, width: 2)), Int(number(at: 60, width: 2)))
    let names = place(at: start + Int(number(at: 62, width: 2)) * size + 24)
    return (0..<count).map { index in
      let header = start + index * size
      let offset = place(at: header + 24)
      let type = number(at: header + 4, width: 4)
      // Zero bytes if the type is SHT_NOBITS, because such a section takes no room in the file.
      return Section(
        header: header, name: text(at: names + Int(number(at: header, width: 4))), type: type,
        address: number(at: header + 16, width: 8), file: offset..<offset + (type == 8 ? 0 : place(at: header + 32)))
    }
  }

  package func section(_ name: String) -> Section? { sections.first { $0.name == name } }

  package func segment(_ type: UInt64) -> Segment? { segments.first { $0.type == type } }

  /// The dynamic entries before the null entry that ends the list.
  package var dynamicEntries: [DynamicEntry] {
    guard let segment = segment(Self.dynamic) else { return [] }
    let entries = stride(from: segment.file.lowerBound, to: segment.file.upperBound, by: 16).map {
      DynamicEntry(tag: number(at: $0, width: 8), valuePlace: $0 + 8)
    }
    return Array(entries.prefix { $0.tag != 0 })
  }

  /// The range of a function's code in the file; nil if the symbol table does not contain the function.
  package func function(_ name: String) -> Range<Int>? {
    guard let symbols = section(".symtab"), let names = section(".strtab") else { return nil }
    for symbol in stride(from: symbols.file.lowerBound, to: symbols.file.upperBound, by: 24)
    where text(at: names.file.lowerBound + Int(number(at: symbol, width: 4))) == name {
      let (address, size) = (number(at: symbol + 8, width: 8), place(at: symbol + 16))
      let home = sections.first {
        $0.address > 0 && $0.address <= address && address - $0.address < UInt64($0.file.count)
      }
      guard let home, size > 0 else { continue }
      let start = home.file.lowerBound + Int(address - home.address)
      return start..<start + size
    }
    return nil
  }

  private func text(at place: Int) -> String { String(decoding: bytes[place...].prefix { $0 != 0 }, as: UTF8.self) }
}
