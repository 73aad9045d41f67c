import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Selects the recordings to replay: the last complete recordings, as many as the limits allow.
struct ReplaySelection: Sendable {
  private(set) var exchanges: [(index: Int, document: JSONValue, request: String)] = []
  private(set) var omissions: [ReplayReport.Omission] = []
  /// The call-outs of all recordings, also of those that are not replayed: their answers often serve later exchanges.
  private(set) var callOuts: [(exchange: Int, document: JSONValue)] = []
  /// Values of secret fields, which are removed from the output of a build that crashed.
  private(set) var hiddenTexts: Set<String> = []

  init(_ recordings: [RecordedExchange], _ secrets: Redactor) {
    var byteCount = 0
    for (index, recording) in recordings.enumerated().reversed() {
      guard recording.isRequestWhole else {
        omit(index, "the request body was not recorded completely\(recording.requestGap.map { ": \($0)" } ?? "")")
        continue
      }
      let isFull = exchanges.count == Replay.maximumExchanges || byteCount > Replay.maximumBytes
      guard !isFull, let document = taken(recording, &byteCount) else {
        omit(
          index,
          "a replay takes the last \(Replay.maximumExchanges) exchanges, and of these only as many as fit into"
            + " \(Replay.maximumBytes >> 20) MiB")
        // Older recordings are omitted too.
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
    takeCallOuts(recordings, secrets)
  }

  /// Takes the last call-outs, as many as the limit allows.
  private mutating func takeCallOuts(_ recordings: [RecordedExchange], _ secrets: Redactor) {
    var byteCount = 0
    for (index, recording) in recordings.enumerated().reversed() {
      for call in recording.callOuts.reversed() {
        byteCount += call.byteCount
        guard byteCount <= Replay.maximumBytes else { return callOuts.reverse() }
        hide(call.response?.headers ?? HeaderFields(), secrets)
        callOuts.append((index, call.document(.complete)))
      }
    }
    callOuts.reverse()
  }

  private mutating func hide(_ fields: HeaderFields, _ secrets: Redactor) {
    for index in fields.indices {
      let (name, value) = (fields.name(at: index), fields.value(at: index))
      let isSecret = secrets.value(value, ofHeader: name) == Redactor.placeholder
      if isSecret || fields.marks(at: index).contains(.sensitive) { hiddenTexts.insert(value) }
    }
  }

  private mutating func omit(_ index: Int, _ reason: String) {
    omissions.append(ReplayReport.Omission(index: index, reason: reason))
  }

  private func taken(_ recording: RecordedExchange, _ byteCount: inout Int) -> JSONValue? {
    guard byteCount + recording.byteCount <= Replay.maximumBytes else { return nil }
    var recording = recording
    recording.callOuts = []
    let document = recording.document(.complete)
    guard let size = (try? document.serialized())?.count, byteCount + size <= Replay.maximumBytes else { return nil }
    byteCount += size
    return document
  }
}
