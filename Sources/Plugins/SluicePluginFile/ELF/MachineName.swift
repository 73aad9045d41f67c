import CElf

/// ELF machine numbers in words.
enum MachineName {
  #if arch(x86_64)
    static let host = UInt16(EM_X86_64)
  #elseif arch(arm64)
    static let host = UInt16(EM_AARCH64)
  #elseif arch(riscv64)
    static let host = UInt16(EM_RISCV)
  #endif

  static func of(_ machine: UInt16) -> String {
    switch Int32(machine) {
    case EM_X86_64: "x86-64"
    case EM_AARCH64: "AArch64 (64-bit ARM)"
    case EM_386: "x86 (i386)"
    case EM_ARM: "ARM"
    case EM_RISCV: "RISC-V"
    case EM_PPC64: "PowerPC 64"
    case EM_S390: "IBM Z"
    case EM_LOONGARCH: "LoongArch"
    default: "machine number \(machine)"
    }
  }
}
