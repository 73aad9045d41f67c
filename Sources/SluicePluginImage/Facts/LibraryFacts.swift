/// What can be read from a plugin's library without running any of its code.
public struct LibraryFacts: Sendable, Hashable {
  /// Where the entry point is.
  public enum Entry: Sendable, Hashable {
    case defined, absent
    /// Referred to, but left to another library.
    case undefined
    /// Defined, but not exported.
    case hidden
    /// Exported, but it is data.
    case notFunction
  }

  /// What a library is written in, as far as its symbols and the libraries it needs show.
  public enum Language: String, Sendable, Hashable {
    case c = "C"
    case cPlusPlus = "C++"
    case swift = "Swift"
  }

  /// Which runtime the library's Swift code uses.
  public enum SwiftRuntime: Sendable, Hashable {
    /// That of the process: it needs libswiftCore.so.
    case shared
    /// One that is linked into it, and that nothing else sees.
    case own
    /// One that is linked into it and is mixed with that of the process, by way of this function.
    case mixed(symbol: String)
  }

  /// The function that a plugin exports (`plugin.h`).
  public static let entrySymbol = "sluice_plugin_entry"

  /// The machine in words.
  public var machine: String
  /// Only a library with ``Entry/defined`` can be used as a plugin.
  public var entry: Entry
  /// The library that has an entry point in its place, where it is one that lies with it.
  public var entryProvider: String?
  /// nil if there is no note, or one that cannot be used.
  public var note: PluginNote?
  /// The host features that it names with `SLUICE_REQUIRES`; none if they, or the note, cannot be used.
  public var requiredFeatures = RequiredFeatures.none
  /// Why the note or the requirements cannot be used, as a sentence without a full stop.
  public var noteFault: String?
  /// Hex digits; not every linker writes one.
  public var buildID: String?
  /// The name that it gives itself (DT_SONAME); nil without one.
  public var soname: String?
  /// The libraries it names, in its order.
  public var needed: [String]
  /// Those of `needed` that would come from its own folder.
  public var privateLibraries: [String]
  /// A guess.
  public var language: Language
  /// How many dynamic symbols other libraries can bind to, the entry point included.
  public var exportedSymbolCount: Int
  /// What it exports beside its entry point, mangled Swift names and the linker's marks left out.
  public var strayExports: [String] = []
  /// Names bound once in the whole process, over all generations (STB_GNU_UNIQUE).
  public var uniqueSymbols: [String]
  /// Whether it refers to common functions of jansson without defining them; inline ones do not count.
  public var usesJansson: Bool
  /// A function of jansson that it defines itself.
  public var ownJanssonSymbol: String?
  /// Nil without Swift code.
  public var swiftRuntime: SwiftRuntime?
  /// What the library uses that starts threads of Swift's runtime; known only with the shared runtime.
  public var threadStarter: String?
  /// What the library does to the memory protection of the process.
  public var hazards: Set<LibraryHazard> = []
  /// Of the whole file; it names the build.
  public var hash: ContentHash
  /// Of the whole file, as it was read.
  public var sizeBytes: Int
}

extension LibraryFacts {
  /// What may go wrong later although the library is usable; one sentence each.
  public var warnings: [String] {
    var warnings = privateLibraries.map {
      "needs \($0) from its own folder, which is not copied along, and which stays at its first version once it is "
        + "loaded; link it statically"
    }
    if let first = uniqueSymbols.first {
      warnings.append(
        "\(uniqueSymbols.count) unique symbols (\(first) …) keep the variables of the first generation after a swap; "
          + "compile with -fno-gnu-unique")
    }
    return warnings + hazards.sorted().map(\.warning)
  }
}
