import CElf
import SluicePluginHost

/// Checks that the loader can map the library as its headers say, and that memory will hold the same data that the host
/// reads from the file.
extension ELFFile {
  /// The limit for all segments of a library together.
  static let memoryLimitBytes: UInt64 = 1 << 30
  /// The types of the segments that the loader and `mapped_library.c` read from memory and not from the file. They find
  /// such a segment at the address that its program header names.
  private static let partsReadInMemory: [UInt32: String] = [
    UInt32(PT_NOTE): "notes", UInt32(PT_DYNAMIC): "dynamic entries", UInt32(PT_PHDR): "program headers",
  ]

  /// Returns the size of the address range that the loader reserves.
  func requireLoadable(_ subject: PluginError.Subject) throws(PluginError) -> Int {
    var (start, end) = (UInt64.max, UInt64(0))
    for (index, segment) in segments().enumerated() where segment.p_type == PT_LOAD {
      guard segment.p_filesz <= segment.p_memsz else {
        throw Self.damaged(
          subject, "segment \(index) has \(segment.p_filesz) bytes in the file and \(segment.p_memsz) in memory")
      }
      let (segmentEnd, overflow) = segment.p_vaddr.addingReportingOverflow(segment.p_memsz)
      start = min(start, segment.p_vaddr)
      end = max(end, segmentEnd)
      // The loader reserves one range for all segments.
      guard !overflow, end - start <= Self.memoryLimitBytes else {
        throw PluginError(
          .tooLarge, subject,
          "wants \(overflow ? segment.p_memsz : end - start) bytes of memory (segment \(index)), the limit is "
            + "\(Self.memoryLimitBytes)",
          advice: "build it again if it should be smaller: the file might be damaged")
      }
    }
    // The gap between two segments need not be mapped, and a segment without PF_R cannot be read.
    let readable = segments().filter { $0.p_type == PT_LOAD && $0.p_flags & UInt32(PF_R) != 0 }
    for (index, segment) in segments().enumerated() {
      guard let part = Self.partsReadInMemory[segment.p_type] else { continue }
      guard readable.contains(where: { $0.holds(segment) }) else {
        throw Self.damaged(subject, "its \(part) (segment \(index)) lie outside of the loaded segments")
      }
    }
    return start < end ? Int(end - start) : 0
  }

  /// The loader does not know sections, so it does not see a build id that only a section holds.
  func requireBuildID(
    _ buildID: String?, in bytes: UnsafeRawBufferPointer, _ subject: PluginError.Subject
  ) throws(PluginError) {
    guard let buildID else { return }
    let found = segments().contains { segment in
      guard segment.p_type == PT_NOTE, let start = Int(exactly: segment.p_offset),
        let size = Int(exactly: segment.p_filesz), start <= bytes.count, size <= bytes.count - start
      else { return false }
      return LibraryFacts.buildID(Array(bytes[start..<start + size])) == buildID
    }
    guard found else {
      throw Self.damaged(subject, "its build id \(buildID.prefix(12)) is in a section, but in no segment of notes")
    }
  }

  private static func damaged(_ subject: PluginError.Subject, _ detail: String) -> PluginError {
    PluginError(.damaged, subject, "is damaged: \(detail)", advice: "build it again")
  }
}

extension GElf_Phdr {
  /// Whether another segment's memory lies entirely within the memory of this segment. Cannot overflow.
  fileprivate func holds(_ other: GElf_Phdr) -> Bool {
    guard other.p_vaddr >= p_vaddr, other.p_memsz <= p_memsz else { return false }
    return other.p_vaddr - p_vaddr <= p_memsz - other.p_memsz
  }
}
