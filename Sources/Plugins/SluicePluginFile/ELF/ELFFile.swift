package import CElf
import Glibc
import SluicePluginHost
import SluiceSupport

/// An ELF image in memory, read through libelf. The bytes must outlive it.
package struct ELFFile: ~Copyable {
  private let elf: OpaquePointer
  let header: GElf_Ehdr
  let sizeBytes: Int

  private init?(_ bytes: UnsafeRawBufferPointer) {
    elf_version(CUnsignedInt(EV_CURRENT))
    // libelf takes a mutable image, but changes it only for ELF_C_RDWR; elf_memory opens for reading.
    let image = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    guard let image, let elf = elf_memory(image, bytes.count) else { return nil }
    self.init(elf, sizeBytes: bytes.count)
  }

  /// Opens a file; libelf reads only the requested parts. The descriptor must outlive it.
  private init?(reading descriptor: CInt, sizeBytes: Int) {
    elf_version(CUnsignedInt(EV_CURRENT))
    guard let elf = elf_begin(descriptor, ELF_C_READ, nil) else { return nil }
    self.init(elf, sizeBytes: sizeBytes)
  }

  private init?(_ elf: OpaquePointer, sizeBytes: Int) {
    var header = GElf_Ehdr()
    guard gelf_getehdr(elf, &header) != nil else {
      elf_end(elf)
      return nil
    }
    self.elf = elf
    self.header = header
    self.sizeBytes = sizeBytes
  }

  deinit { elf_end(elf) }

  static func withFile<Result>(
    _ bytes: UnsafeRawBufferPointer, _ subject: PluginError.Subject,
    _ body: (borrowing ELFFile) throws(PluginError) -> Result
  ) throws(PluginError) -> Result {
    guard let file = ELFFile(bytes) else {
      throw PluginError(.notELF, subject, "libelf cannot read it", advice: "build it again")
    }
    return try body(file)
  }

  /// nil for a file that cannot be read as ELF.
  package static func withFile<Result>(at path: String, _ body: (borrowing ELFFile) -> Result) -> Result? {
    guard let opened = FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK), let status = opened.status(),
      status.isRegularFile, let file = ELFFile(reading: opened.raw, sizeBytes: Int(status.st_size))
    else { return nil }
    return body(file)
  }

  package func segments() -> [GElf_Phdr] {
    (0..<CInt(header.e_phnum)).compactMap { index in
      var segment = GElf_Phdr()
      return gelf_getphdr(elf, index, &segment) == nil ? nil : segment
    }
  }

  /// Limits the memory for names: in a hostile file, many sections can refer to the same very long name.
  private static let sectionNameLimitBytes = 256

  /// A name of more than 256 bytes is cut off.
  package func sections() -> [ELFSection] {
    var sections: [ELFSection] = []
    var names = 0
    elf_getshdrstrndx(elf, &names)
    var current = elf_nextscn(elf, nil)
    while let section = current {
      var header = GElf_Shdr()
      if gelf_getshdr(section, &header) != nil {
        let name = string(in: names, at: UInt64(header.sh_name), limitBytes: Self.sectionNameLimitBytes) ?? ""
        sections.append(ELFSection(name: name, header: header, handle: section))
      }
      current = elf_nextscn(elf, section)
    }
    return sections
  }

  /// nil if the table has no such offset. The offset comes from the file and can be any number.
  package func string(in table: Int, at offset: UInt64, limitBytes: Int = .max) -> String? {
    guard let offset = Int(exactly: offset), let start = elf_strptr(elf, table, offset) else { return nil }
    let bytes = UnsafeRawBufferPointer(start: start, count: strnlen(start, limitBytes))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Empty if the file has no such bytes.
  func content(at offset: UInt64, count: Int) -> [UInt8] {
    guard let offset = Int64(exactly: offset), let data = elf_getdata_rawchunk(elf, offset, count, ELF_T_BYTE),
      let start = data.pointee.d_buf
    else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: data.pointee.d_size))
  }

  func content(of section: ELFSection) -> [UInt8] {
    guard let data = elf_rawdata(section.handle, nil), let start = data.pointee.d_buf else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: data.pointee.d_size))
  }

  /// The entries of the dynamic section: tag and value.
  func dynamicEntries(of section: ELFSection) -> [GElf_Dyn] {
    guard let data = elf_getdata(section.handle, nil) else { return [] }
    var entries: [GElf_Dyn] = []
    var entry = GElf_Dyn()
    while gelf_getdyn(data, CInt(entries.count), &entry) != nil, entry.d_tag != DT_NULL { entries.append(entry) }
    return entries
  }

  /// Passes each symbol of a table to `body`, except the first (reserved) one. A name is valid only during the call.
  package func forEachSymbol(of section: ELFSection, _ body: (UnsafePointer<CChar>, GElf_Sym) -> Void) {
    guard let data = elf_getdata(section.handle, nil) else { return }
    var symbol = GElf_Sym()
    var index: CInt = 1
    while gelf_getsym(data, index, &symbol) != nil {
      if let name = elf_strptr(elf, Int(section.header.sh_link), Int(symbol.st_name)) { body(name, symbol) }
      index += 1
    }
  }
}

/// A section of an ELFFile; do not keep it longer than the file.
package struct ELFSection {
  let name: String
  package let header: GElf_Shdr
  fileprivate let handle: OpaquePointer
}
