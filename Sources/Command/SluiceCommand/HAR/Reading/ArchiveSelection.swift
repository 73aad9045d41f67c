import SluiceJSON

/// Decides which entries of an archive are sent, and makes their request lines.
struct ArchiveSelection {
  private(set) var notices = ArchiveNotices()
  private let followsRedirects: Bool
  /// Whether Sluice wrote the archive, which then has an entry for each hop.
  private let isOwn: Bool
  private var targets = RedirectTargets()

  /// - Parameter followsRedirects: whether the run follows redirects itself.
  init(_ log: ArchivePart, followsRedirects: Bool) {
    self.followsRedirects = followsRedirects
    isOwn = log["creator"]?["name"]?.json.string == "sluice"
  }

  /// The request document of an entry; empty if the entry is not sent. Call it for each entry in order.
  mutating func line(of entry: ArchivePart) throws(ArchiveMistake) -> [UInt8] {
    let isTarget = targets.take(entry)
    if isTarget, followsRedirects {
      notices.redirects += 1
      return []
    }
    if isOwn, !isTarget, Self.isRepetition(entry) {
      notices.repetitions += 1
      return []
    }
    let request = try entry.object("request")
    if let scheme = ArchivedEntry.foreignScheme(try request.string("url")) {
      notices.schemes[scheme, default: 0] += 1
      return []
    }
    var archived = ArchivedEntry(request)
    let document = try archived.document()
    notices.hiddenHeaders += archived.hiddenCount
    do { return try document.serialized() } catch { throw request.failure(error.message) }
  }

  /// Whether the entry is a later attempt or hop of a request, not its first hop.
  private static func isRepetition(_ entry: ArchivePart) -> Bool {
    ["_attempt", "_hop"].contains { entry.json[$0]?.integer ?? 0 > 0 }
  }
}
