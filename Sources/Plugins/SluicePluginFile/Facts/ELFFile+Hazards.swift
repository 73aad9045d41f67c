import CElf
import SluicePluginHost

extension ELFFile {
  func hazards(_ links: DynamicLinks) -> Set<LibraryHazard> {
    let segments = segments()
    let both = UInt32(PF_W) | UInt32(PF_X)
    var hazards: Set<LibraryHazard> = []
    // If a library has no PT_GNU_STACK entry, the loader uses the machine's default, which is an executable stack.
    let stack = segments.first { $0.p_type == PT_GNU_STACK }
    if stack.map({ $0.p_flags & UInt32(PF_X) != 0 }) ?? true { hazards.insert(.executableStack) }
    let isWritable = segments.contains { $0.p_type == PT_LOAD && $0.p_flags & both == both }
    if isWritable || links.hasTextRelocations { hazards.insert(.writableCode) }
    return hazards
  }
}
