import CElf
import SluicePluginHost

/// Checks that the bytes are a complete library for this machine.
///
/// The dynamic loader does not check the size of a file. If a file is shorter than its headers say, the process that
/// loads it is killed with SIGBUS.
extension ELFFile {
  static func requireHeader(_ bytes: UnsafeRawBufferPointer, _ subject: PluginError.Subject) throws(PluginError) {
    let magic: [UInt8] = [0x7f, 0x45, 0x4c, 0x46]
    guard !bytes.isEmpty else {
      throw PluginError(.truncated, subject, "is empty (truncated, or not written yet)", advice: "build it again")
    }
    // Some linkers set the file's size first and write the header last.
    guard bytes.prefix(magic.count).contains(where: { $0 != 0 }) else {
      throw PluginError(.truncated, subject, "begins with zeros (not written yet)", advice: "build it again")
    }
    guard bytes.starts(with: magic.prefix(bytes.count)) else {
      throw PluginError(.notELF, subject, "is not an ELF file", advice: "name a shared library (.so)")
    }
    guard bytes.count >= MemoryLayout<Elf64_Ehdr>.size else {
      throw truncated(subject, "\(bytes.count) bytes do not hold an ELF header")
    }
    let machine = UInt16(bytes[18]) | UInt16(bytes[19]) << 8
    guard bytes[Int(EI_CLASS)] == ELFCLASS64, bytes[Int(EI_DATA)] == ELFDATA2LSB else {
      let bigEndian = bytes[Int(EI_DATA)] != ELFDATA2LSB
      let theirs = bigEndian ? "a big-endian machine" : "\(MachineName.of(machine)), 32-bit"
      throw wrongMachine(subject, theirs)
    }
    guard machine == MachineName.host else { throw wrongMachine(subject, MachineName.of(machine)) }
  }

  func requireComplete(_ subject: PluginError.Subject) throws(PluginError) {
    try requireSharedLibrary(subject)
    try requireInside(header.e_phoff, UInt64(header.e_phnum) * UInt64(header.e_phentsize), "program header", subject)
    try requireInside(header.e_shoff, UInt64(header.e_shnum) * UInt64(header.e_shentsize), "section table", subject)
    let segments = segments()
    guard segments.count == Int(header.e_phnum), segments.contains(where: { $0.p_type == PT_LOAD }) else {
      throw PluginError(.notELF, subject, "has no segment that could be loaded", advice: "build it again")
    }
    for (index, segment) in segments.enumerated() {
      try requireInside(segment.p_offset, segment.p_filesz, "segment \(index)", subject)
    }
    let sections = sections()
    guard !sections.isEmpty else {
      throw PluginError(
        .notELF, subject, "has no section table", advice: "strip it with --strip-unneeded, which keeps the table")
    }
    for section in sections where section.header.sh_type != SHT_NOBITS {
      try requireInside(section.header.sh_offset, section.header.sh_size, "section \(section.name)", subject)
    }
  }

  private func requireSharedLibrary(_ subject: PluginError.Subject) throws(PluginError) {
    let kind =
      switch Int32(header.e_type) {
      case ET_DYN: ""
      case ET_REL: "an object file"
      case ET_EXEC: "a program"
      case ET_CORE: "a core dump"
      default: "an ELF file of type \(header.e_type)"
      }
    guard kind.isEmpty else {
      throw PluginError(.notSharedLibrary, subject, "is \(kind), not a shared library", advice: "link it with -shared")
    }
  }

  private func requireInside(
    _ offset: UInt64, _ size: UInt64, _ what: String, _ subject: PluginError.Subject
  ) throws(PluginError) {
    let (end, overflow) = offset.addingReportingOverflow(size)
    guard !overflow, end <= UInt64(sizeBytes) else {
      throw Self.truncated(subject, "its \(what) ends after the file's \(sizeBytes) bytes")
    }
  }

  private static func truncated(_ subject: PluginError.Subject, _ detail: String) -> PluginError {
    PluginError(.truncated, subject, "is truncated: \(detail)", advice: "build or copy it again")
  }

  private static func wrongMachine(_ subject: PluginError.Subject, _ theirs: String) -> PluginError {
    let ours = MachineName.of(MachineName.host)
    return PluginError(
      .wrongMachine, subject, "built for \(theirs), this host is \(ours)", advice: "build it for \(ours)")
  }
}
