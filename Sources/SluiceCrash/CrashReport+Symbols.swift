import Glibc
import SluicePluginImage
import SluiceSupport

extension CrashReport {
  /// How long the tools that know source lines may take.
  public static let symbolLimit = Duration.seconds(10)

  /// Gives the frames their functions, from the symbol tables of the files that were mapped, and their source lines where a tool
  /// for that is on `PATH`. Blocks for a moment, and for the tools up to the limit.
  ///
  /// Call it while the private copies exist: the next process that opens the store removes them. A missing copy is
  /// replaced by the library itself, if that is still the same build.
  public mutating func symbolize(limit: Duration = Self.symbolLimit) {
    let deadline = MonotonicClock.now + limit
    let files = Set(frames.compactMap(\.mapped?.path)).sorted()
    for mapped in files {
      let indices = frames.indices.filter { frames[$0].mapped?.path == mapped }
      guard let file = readable(mapped, frames[indices[0]].owner),
        let table = SymbolTable(path: file, offsets: indices.compactMap { frames[$0].fileOffset })
      else { continue }
      for index in indices {
        guard let address = frames[index].fileOffset.flatMap({ table.address(of: $0) }) else { continue }
        frames[index].offset = address
        frames[index].function = table.function(at: address)
      }
      if case .library = frames[indices[0]].owner { continue }
      addSources(indices.filter { frames[$0].offset != nil }, in: file, until: deadline)
    }
  }

  /// The same on a thread of its own.
  public func symbolized(limit: Duration = Self.symbolLimit) async -> CrashReport {
    await ControlThread.run {
      var report = self
      report.symbolize(limit: limit)
      return report
    }
  }

  private mutating func addSources(_ indices: [Int], in file: String, until deadline: Duration) {
    // The tools take each address at once, and a stack overflow has many of the same.
    let addresses = Set(indices.compactMap { frames[$0].offset }).sorted()
    guard let places = SourceLines.find(addresses, in: file, until: deadline) else { return }
    let sources = Dictionary(zip(addresses, places)) { first, _ in first }
    for index in indices { frames[index].source = frames[index].offset.flatMap { sources[$0] ?? nil } }
  }

  /// The file to read in place of the one that was mapped.
  private func readable(_ mapped: String, _ owner: Frame.Owner) -> String? {
    if access(mapped, R_OK) == 0 { return mapped }
    guard case .plugin(let build) = owner, let image = try? LibraryImage(reading: build.library),
      image.hash.hex == build.hash
    else { return nil }
    return image.realPath
  }
}

extension CrashReport.Frame {
  /// Where in the mapped file the code lies.
  var fileOffset: UInt64? {
    mapped.map { $0.offset &+ (address - $0.range.lowerBound) }
  }
}
