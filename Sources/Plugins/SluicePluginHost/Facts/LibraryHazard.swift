/// Memory that is writable and executable at the same time. With such memory, an attacker can use a bug in any code of
/// the process to run foreign code. Compilers produce it only if an option asks for it.
public enum LibraryHazard: String, Sendable, Hashable, CaseIterable {
  /// The library asks for executable stacks. The dynamic loader then makes the stacks of all threads executable.
  case executableStack
  /// A segment is writable and executable, or code is modified during loading (text relocations).
  case writableCode

  /// A description of the hazard, as part of a sentence.
  var reason: String {
    switch self {
    case .executableStack: "makes the stacks of the whole process executable (PT_GNU_STACK)"
    case .writableCode: "has code that is writable while it can be run (a segment with both rights, or DT_TEXTREL)"
    }
  }

  /// What the library's author can do about it.
  var cure: String {
    switch self {
    case .executableStack:
      "link it with -Wl,-z,noexecstack, and avoid nested functions of GNU C and assembly without .note.GNU-stack"
    case .writableCode: "compile all of it with -fPIC, and link it without -z notext and --omagic"
    }
  }

  var warning: String { "\(reason); \(cure)" }
}

extension LibraryHazard: Comparable {
  /// Compares the names, so that lists of hazards have a fixed order; the order does not rank the danger.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
