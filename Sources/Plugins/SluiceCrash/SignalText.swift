import Glibc
import SluiceSupport

/// Describes the signal of a crash in words.
enum SignalText {
  /// `SIGSEGV: read of address 0x8`
  static func describe(_ record: CrashRecord) -> String {
    let name = SignalName.of(record.signal)
    return meaning(record).map { "\(name): \($0)" } ?? name
  }

  private static func meaning(_ record: CrashRecord) -> String? {
    // SI_USER, SI_TKILL and others: a process sent the signal, so there is no address. abort(3) also sends a signal.
    guard record.code > 0 else { return record.signal == SIGABRT ? "the program called abort" : "sent by a process" }
    switch record.signal {
    case SIGSEGV: return memory(record)
    case SIGBUS: return "\(access(record)), beyond the end of a file, or not aligned"
    case SIGILL: return "an instruction that stops the program, as after a failed runtime check of Swift"
    case SIGTRAP: return "a trap, as after a failed check that the compiler added"
    case SIGFPE: return "division by zero, or a division that overflows"
    default: return nil
    }
  }

  private static func memory(_ record: CrashRecord) -> String {
    // SI_KERNEL: the address cannot exist on this machine, and the kernel does not report which address it was.
    if record.code == 128 { return "use of an impossible address, as from a pointer in freed or overwritten memory" }
    if isStackOverflow(record) { return "\(access(record)): the stack overflowed" }
    let isNull = record.address < 65536
    let hint =
      isNull ? ", near a null pointer" : record.code == 2 ? ", which is protected" : ", where nothing is mapped"
    return "\(access(record))\(hint)"
  }

  /// Whether the recorded frames end with a repetition of the same functions, as in a stack overflow.
  private static func isStackOverflow(_ record: CrashRecord) -> Bool {
    guard record.frames.count >= 100 else { return false }
    return Set(record.frames.suffix(64)).count <= 16
  }

  private static func access(_ record: CrashRecord) -> String {
    let what =
      switch record.access {
      case "read": "read of"
      case "write": "write to"
      case "execute": "jump to"
      default: "use of"
      }
    return "\(what) address \(hex(record.address))"
  }

  static func hex(_ number: UInt64) -> String { "0x" + String(number, radix: 16) }
}
