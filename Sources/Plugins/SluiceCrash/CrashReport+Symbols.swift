import Glibc
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

extension CrashReport {
  /// The time limit for the tools that look up source lines.
  public static let symbolLimit = Duration.seconds(10)

  /// Adds its function to each frame, from the symbol tables of the mapped files. Also adds the source line, if a tool
  /// for this is on `PATH`. Blocks for a short time, or up to the limit while a tool runs.
  ///
  /// Must be called while the private copies exist: the next process that opens the store removes them. If a copy is
  /// missing, the library itself is read, provided that it is still the same build.
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

  /// Does the same as ``symbolize(limit:)`` on a separate thread.
  public func symbolized(limit: Duration = Self.symbolLimit) async -> CrashReport {
    await ControlThread.run {
      var report = self
      report.symbolize(limit: limit)
      return report
    }
  }

  private mutating func addSources(_ indices: [Int], in file: String, until deadline: Duration) {
    // A tool gets all addresses together, but each address only once: the frames of a stack overflow repeat a few
    // addresses.
    let addresses = Set(indices.compactMap { frames[$0].offset }).sorted()
    guard let places = SourceLines.find(addresses, in: file, until: deadline) else { return }
    let sources = Dictionary(zip(addresses, places)) { first, _ in first }
    for index in indices { frames[index].source = frames[index].offset.flatMap { sources[$0] ?? nil } }
  }

  /// The file to read: the mapped file, or the library if the copy no longer exists.
  private func readable(_ mapped: String, _ owner: Frame.Owner) -> String? {
    if access(mapped, R_OK) == 0 { return mapped }
    guard case .plugin(let build) = owner, let image = try? LibraryImage(reading: build.library),
      image.hash.hex == build.hash
    else { return nil }
    return image.realPath
  }
}

extension CrashReport.Frame {
  /// The offset of the code in the mapped file.
  var fileOffset: UInt64? {
    mapped.map { $0.offset &+ (address - $0.range.lowerBound) }
  }
}
