import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Which recordings are replayed: those that are whole, and of them the last ones for which there is room.
struct ReplaySelection: Sendable {
  private(set) var exchanges: [(index: Int, document: JSONValue, request: String)] = []
  private(set) var omissions: [ReplayReport.Omission] = []
  /// Values of secret fields, which have no place in what a build wrote before it crashed.
  private(set) var hiddenTexts: Set<String> = []

  init(_ recordings: [RecordedExchange], _ secrets: SecretList) {
    var byteCount = 0
    for (index, recording) in recordings.enumerated().reversed() {
      guard recording.isRequestWhole else {
        omit(index, "its request body can be produced only once, and was not recorded, or not completely")
        continue
      }
      let isFull = exchanges.count == Replay.maximumExchanges || byteCount > Replay.maximumBytes
      guard !isFull, let document = taken(recording, &byteCount) else {
        omit(
          index,
          "a replay takes the last \(Replay.maximumExchanges) exchanges, and of them what fits into"
            + " \(Replay.maximumBytes >> 20) MiB")
        // Whatever is older has no room either.
        byteCount = .max
        continue
      }
      let url = secrets.url(recording.request.url.string)
      hide(recording.request.headers, secrets)
      for hop in recording.hops { hide(hop.response?.headers ?? HeaderFields(), secrets) }
      exchanges.append((index, document, "\(recording.request.method) \(url)"))
    }
    exchanges.reverse()
    omissions.reverse()
  }

  private mutating func hide(_ fields: HeaderFields, _ secrets: SecretList) {
    for index in fields.indices {
      let (name, value) = (fields.name(at: index), fields.value(at: index))
      let isSecret = secrets.value(value, ofHeader: name) == SecretList.placeholder
      if isSecret || fields.marks(at: index).contains(.sensitive) { hiddenTexts.insert(value) }
    }
  }

  private mutating func omit(_ index: Int, _ reason: String) {
    omissions.append(ReplayReport.Omission(index: index, reason: reason))
  }

  private func taken(_ recording: RecordedExchange, _ byteCount: inout Int) -> JSONValue? {
    guard byteCount + recording.byteCount <= Replay.maximumBytes else { return nil }
    let document = recording.document(.complete)
    guard let size = (try? document.serialized())?.count, byteCount + size <= Replay.maximumBytes else { return nil }
    byteCount += size
    return document
  }
}
