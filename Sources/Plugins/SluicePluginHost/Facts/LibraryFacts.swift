/// Facts about a plugin's library, read without running any of its code.
public struct LibraryFacts: Sendable, Hashable {
  /// How the library defines the entry point.
  public enum Entry: Sendable, Hashable {
    case defined, absent
    /// The library refers to the entry point, but does not define it.
    case undefined
    /// Defined, but not exported.
    case hidden
    /// Exported, but as data instead of a function.
    case notFunction
  }

  /// The language of a library, guessed from its symbols and the libraries it needs.
  public enum Language: String, Sendable, Hashable {
    case c = "C"
    case cPlusPlus = "C++"
    case swift = "Swift"
  }

  /// Which runtime the library's Swift code uses.
  public enum SwiftRuntime: Sendable, Hashable {
    /// The runtime of the process: the library needs libswiftCore.so.
    case shared
    /// A runtime that is linked into the library and that no other code sees.
    case own
    /// A runtime that is linked into the library but is not separate from the runtime of the process: both share this
    /// function.
    case mixed(symbol: String)
  }

  /// A sanitizer of the compiler that has a runtime of its own.
  package enum Sanitizer: String, Sendable, Hashable, CaseIterable {
    case address = "AddressSanitizer"
    case thread = "ThreadSanitizer"

    /// A function of its runtime, which each library that was built with it calls.
    package var symbol: String { self == .address ? "__asan_init" : "__tsan_init" }

    /// The library of its runtime in GCC.
    var library: String { self == .address ? "libasan.so" : "libtsan.so" }
  }

  /// The function that a plugin exports (`plugin.h`).
  public static let entrySymbol = "sluice_plugin_entry"

  /// The name of the machine.
  public var machine: String
  /// Only a library with ``Entry/defined`` can be used as a plugin.
  public var entry: Entry
  /// A library in the same folder that defines the entry point instead; nil if no library does.
  public var entryProvider: String?
  /// The ELF note; nil if the library has no note, or if the note cannot be used.
  public var note: PluginNote?
  /// The host features that the library names with `SLUICE_REQUIRES`; empty if these names, or the note, cannot be
  /// used.
  public var requiredFeatures = RequiredFeatures.none
  /// The reason why the note or the requirements cannot be used, as a sentence without a full stop.
  public var noteFault: String?
  /// The build id in hex digits; nil if the linker wrote none.
  public var buildID: String?
  /// The name that the library gives itself (DT_SONAME); nil without one.
  public var soname: String?
  /// The libraries that this library needs (DT_NEEDED), in the order of the file.
  public var needed: [String] = []
  /// The libraries of `needed` that the loader would find in the library's own folder.
  public var privateLibraries: [String] = []
  /// The language, which is a guess.
  public var language: Language
  /// The number of dynamic symbols to which other libraries can bind, including the entry point.
  public var exportedSymbolCount = 0
  /// The symbols that the library exports besides its entry point, without mangled Swift names and the linker's marks.
  public var strayExports: [String] = []
  /// The names of symbols that exist only once in the process, so that all generations share them (STB_GNU_UNIQUE).
  public var uniqueSymbols: [String] = []
  /// Whether the library refers to common functions of jansson without defining them; inline functions do not count.
  public var usesJansson = false
  /// A function of jansson that the library itself defines.
  public var ownJanssonSymbol: String?
  /// The runtime of the library's Swift code; nil if the library has no Swift code.
  public var swiftRuntime: SwiftRuntime?
  /// The functions that the library uses and that start threads of Swift's runtime. They are known only if the library
  /// uses the shared runtime.
  public var threadStarter: String?
  /// The sanitizer that the library was built with. Its runtime must be in the process from the start.
  package var sanitizer: Sanitizer?
  /// The ways in which the library weakens the memory protection of the process.
  public var hazards: Set<LibraryHazard> = []
  /// The hash of the whole file, which identifies the build.
  public var hash: ContentHash
  /// The size of the whole file.
  public var sizeBytes: Int
  /// The address range that the loader reserves for the library. Its mapping can take at most this much memory.
  package var mappedBytes = 0

  /// Sets the facts that every library has. The code that reads more of the library sets the other properties.
  package init(machine: String, entry: Entry, language: Language, hash: ContentHash, sizeBytes: Int) {
    self.machine = machine
    self.entry = entry
    self.language = language
    self.hash = hash
    self.sizeBytes = sizeBytes
  }
}

extension LibraryFacts {
  /// Warnings about later problems of a usable library; one sentence each.
  public var warnings: [String] { swapWarnings + hazards.sorted().map(\.warning) }

  /// The warnings about what a swap to another build does not replace.
  package var swapWarnings: [String] {
    var warnings = privateLibraries.map {
      "needs \($0) from its own folder; that library is not copied along, and is never replaced once it is loaded; "
        + "link it statically"
    }
    if let first = uniqueSymbols.first {
      warnings.append(
        (uniqueSymbols.count == 1
          ? "1 unique symbol (\(first)) keeps" : "\(uniqueSymbols.count) unique symbols (\(first) …) keep")
          + " the variables of the first generation after a swap; compile with -fno-gnu-unique")
    }
    return warnings
  }
}
