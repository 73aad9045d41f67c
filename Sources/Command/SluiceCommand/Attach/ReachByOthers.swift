import SluicePluginFile

/// Why transfers may be reached although a program is not linked with a libcurl that is reached: it opens modules, which
/// may use libcurl, or it starts other programs.
struct ReachByOthers {
  /// One sentence for the program and for each library of it, such as `libhts.so.3 opens modules (dlopen)`.
  let reasons: [String]

  static let functions = openers.union(starters)

  private static let openers: Set<String> = ["dlopen", "dlmopen"]
  private static let starters: Set<String> = [
    "execl", "execle", "execlp", "execv", "execve", "execveat", "execvp", "execvpe", "fexecve", "popen", "posix_spawn",
    "posix_spawnp", "system",
  ]

  /// Libraries whose own modules make no HTTP requests: those of libc, and those for cryptography, character sets and
  /// terminals.
  private static let harmless = [
    "ld-linux", "libc", "libdl", "libpthread", "libm", "libcrypto", "libssl", "libgnutls", "libp11-kit", "libsasl2",
    "libkrb5support", "libkrb5", "libicuuc", "libncurses", "libncursesw", "libtinfo",
  ]

  /// - Parameter hasModules: whether modules that the program opens can be reached.
  init(_ program: ProgramFacts, _ libraries: [String], hasModules: Bool) {
    guard program.loader != nil else {
      reasons = ["it may start programs"]
      return
    }
    let known = Set(Self.harmless)
    let others = libraries.filter { !known.contains(Self.stem(Paths.name(of: $0))) }
    let kinds: [Kind] = (hasModules ? [("opens modules", Self.openers)] : []) + [("starts programs", Self.starters)]
    reasons =
      Self.reasons("it", program, kinds)
      + others.flatMap { path in
        ProgramFacts(at: path, lookingFor: Self.functions).map { Self.reasons(Paths.name(of: path), $0, kinds) } ?? []
      }
  }

  private typealias Kind = (what: String, names: Set<String>)

  private static func reasons(_ who: String, _ facts: ProgramFacts, _ kinds: [Kind]) -> [String] {
    guard facts.hasSections else { return ["\(who) has no table of sections, which would show what it calls"] }
    return kinds.compactMap { what, names in
      let used = facts.imports.intersection(names).sorted()
      return used.isEmpty ? nil : "\(who) \(what) (\(used.joined(separator: ", ")))"
    }
  }

  /// The name of a library without its version: `libc` for `libc.so.6`.
  private static func stem(_ name: String) -> String {
    let base = name.prefix { $0 != "." }
    return base.hasPrefix("ld-linux") ? "ld-linux" : String(base)
  }
}
