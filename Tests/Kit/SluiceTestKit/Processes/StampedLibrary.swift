import Glibc

/// A library that stamps a number into the traffic. Its builds differ only in this number. The sources are
/// `Tests/Fixtures/Plugins/stamps-generation` in C and `swift-stamps` in Swift.
package struct StampedLibrary: Sendable {
  /// The values of `MISBEHAVIOUR` for the fixture in C.
  package enum Misbehaviour: String, Sendable {
    case nothing = "NOTHING"
    case failsCreate = "FAILS_CREATE"
    case givesNull = "GIVES_NULL"
    case failsActivate = "FAILS_ACTIVATE"
    case refusesState = "REFUSES_STATE"
    case savesNone = "SAVES_NONE"
    case savesTooMuch = "SAVES_TOO_MUCH"
    case failsRequests = "FAILS_REQUESTS"
    case suspends = "SUSPENDS"
    case breaksRules = "BREAKS_RULES"
    /// The 500th call of `on_request` aborts the process.
    case crashesLater = "CRASHES_LATER"
  }

  /// The faults of the fixture in Swift when it handles its state. The raw values are written into its marker.
  package enum SwiftMisbehaviour: String, Sendable {
    case nothing = "NOTHING"
    /// `saveState` throws.
    case savesNone = "SAVES_NONE"
    /// `loadState` throws, or traps.
    case refusesState = "REFUSES_STATE"
    case trapsInLoad = "LOAD_TRAPS"
    /// The new build's state has one more member, but the same version as the old one.
    case wantsMore = "WANTS_MORE"
    /// The new build's state has another version, and `migrate` converts the old state, or throws.
    case migrates = "MIGRATES"
    case failsToMigrate = "FAILS_TO_MIGRATE"
  }

  private static let marker = "swap-generation:"

  private let bytes: [UInt8]
  /// The positions of the number in the library. There are several if a sanitizer stores the names of constants next to
  /// the constants.
  private let places: [Int]

  /// - Parameter soname: the name that the library gives itself (DT_SONAME); nil for none.
  package static func inC(
    _ misbehaviour: Misbehaviour = .nothing, isStateOptional: Bool = false, soname: String? = nil
  ) async throws -> StampedLibrary {
    let product = try await PluginCompiler.compile(
      "stamps-generation",
      defines: [
        "MISBEHAVIOUR=\(misbehaviour.rawValue)", "STATE_FLAGS=\(isStateOptional ? "SLUICE_STATE_OPTIONAL" : "0")",
      ], flags: soname.map { ["-Wl,-soname,\($0)"] } ?? [])
    return try withExtendedLifetime(product) { try StampedLibrary(FileTree.read(product.path)) }
  }

  package static func inSwift(_ misbehaviour: SwiftMisbehaviour = .nothing, isStateOptional: Bool = false) throws
    -> StampedLibrary
  {
    var bytes = try FileTree.read(BuiltProducts.library("swift-stamps"))
    let word = misbehaviour.rawValue + String(repeating: " ", count: 16 - misbehaviour.rawValue.utf8.count)
    try write(word, behind: "swap-misbehaviour:", in: &bytes)
    try write(isStateOptional ? "yes" : "no ", behind: "swap-state-optional:", in: &bytes)
    return try StampedLibrary(bytes)
  }

  package init(_ bytes: [UInt8]) throws {
    places = try Self.places(behind: Self.marker, in: bytes)
    self.bytes = bytes
  }

  private static func write(_ word: String, behind marker: String, in bytes: inout [UInt8]) throws {
    for place in try places(behind: marker, in: bytes) {
      bytes.replaceSubrange(place..<place + word.utf8.count, with: word.utf8)
    }
  }

  private static func places(behind marker: String, in bytes: [UInt8]) throws -> [Int] {
    let marker = Array(marker.utf8)
    let places = bytes.withUnsafeBytes { buffer -> [Int] in
      // `memchr` is used because libraries of a debug build are large.
      guard let start = buffer.baseAddress, let initial = marker.first else { return [] }
      var places: [Int] = []
      var next = 0
      while let found = memchr(start + next, Int32(initial), max(buffer.count - marker.count - next, 0)) {
        let place = UnsafeRawPointer(found) - start
        if memcmp(found, marker, marker.count) == 0 { places.append(place + marker.count) }
        next = place + 1
      }
      return places
    }
    guard !places.isEmpty else { throw TestKitError("the library has no marker") }
    return places
  }

  package func build(_ number: Int) -> [UInt8] {
    let digits = String(number)
    let text = Array((String(repeating: "0", count: 8 - digits.utf8.count) + digits).utf8)
    var build = bytes
    for place in places { build.replaceSubrange(place..<place + 8, with: text) }
    return build
  }

  /// Replaces the library in one step, by renaming a complete file.
  package func install(_ number: Int, at path: String) throws { try Self.install(build(number), at: path) }

  package static func install(_ bytes: [UInt8], at path: String) throws {
    try write(bytes, to: path + ".new")
    guard rename(path + ".new", path) == 0 else { throw TestKitError("rename to \(path): \(errno)") }
  }

  /// Writes into the existing file. If there is none, creates a file that only its owner may write.
  package static func write(_ bytes: [UInt8], to path: String, truncating: Bool = true) throws {
    let number = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (truncating ? O_TRUNC : 0), 0o755)
    guard number >= 0 else { throw TestKitError("open \(path): \(errno)") }
    let file = FileDescriptor(adopting: number)
    fchmod(number, 0o755)
    try file.write(bytes)
  }
}
