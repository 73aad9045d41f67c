import SluiceMessages

/// Passes everything on and records it. If the disk cannot keep up with the recording, the transfer waits.
final class HopRecorder: TransferRelay {
  let observer: any TransferObserver
  private let resume: () -> Void
  private var record = RecordedHop(wasIssued: false)
  private let body: RecordedBody
  private var hasPieces = false
  private var hasEnded = false
  private var isFinished = false
  private var cutError: TransportError?
  /// Whether the observer has paused; a pause because of the disk does not count.
  private var isObserverPausing = false
  /// The end of the transfer, held back until the body is on disk.
  private var heldEnd: TransferEnd?

  /// - Parameter resume: makes the transfer continue after a pause.
  init(_ observer: any TransferObserver, _ body: RecordedBody, _ resume: @escaping () -> Void) {
    self.observer = observer
    self.body = body
    self.resume = resume
    body.whenReady = { [weak self] in self?.bodyIsReady() }
  }

  func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    record.wasIssued = true
    return observer.transferWillIssue(&headers)
  }

  func transferDidReceiveHead(_ head: consuming Response) -> BodyDisposition {
    record.response = copy head
    return observer.transferDidReceiveHead(head)
  }

  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress {
    if !isFinished {
      hasPieces = true
      body.append(piece)
    }
    let progress = observer.transferDidReceive(piece)
    isObserverPausing = progress == .pause
    return progress == .proceed && !body.isReady ? .pause : progress
  }

  func transferDidEnd(_ end: consuming TransferEnd) {
    if !isFinished {
      hasEnded = true
      record.error = end.error == nil ? nil : cutError ?? end.error
      if end.error != nil { record.isBodyWhole = false }
      if case .empty = end.body {} else { record.response?.body = end.body }
      record.response?.trailers = end.trailers ?? HeaderFields()
      if hasPieces { body.finish() }
      guard body.isReady else {
        heldEnd = end
        return
      }
    }
    observer.transferDidEnd(end)
  }

  private func bodyIsReady() {
    if let end = heldEnd.take() { return observer.transferDidEnd(end) }
    if !isObserverPausing { resume() }
  }

  func discard() { record.isBodyWhole = record.response?.headers["content-length"] == "0" }

  func cut(_ error: TransportError) { cutError = error }

  func finish() -> RecordedHop {
    isFinished = true
    if !hasEnded {
      record.isBodyWhole = false
      record.error = cutError ?? TransportError(.cancelled, "the transaction ended before this transfer did")
    }
    if hasPieces {
      body.finish()
      record.response?.body = body.body ?? .empty
      if body.body == nil { record.isBodyWhole = false }
    }
    // No observer is left to which a held end could be reported.
    heldEnd = nil
    return record
  }
}

/// A body that is gathered for a recording; a body that cannot be gathered is left out. Confined to its loop.
final class RecordedBody {
  private let gatherer: any BodyGatherer
  private var isFinishing = false
  private var hasFailed = false
  /// Whether the disk keeps up. When this becomes true again, ``whenReady`` is called.
  private(set) var isReady = true
  /// The whole body, after ``finish()`` was called and all of it is on disk.
  private(set) var body: Body?
  var whenReady: (() -> Void)?

  init(_ gatherer: any BodyGatherer) {
    self.gatherer = gatherer
    gatherer.whenReady = { [weak self] in self?.gathererIsReady() }
  }

  func append(_ piece: [UInt8]) {
    guard !hasFailed, !isFinishing else { return }
    do throws(TransportError) {
      if try gatherer.append(piece) == .pause { isReady = false }
    } catch { hasFailed = true }
  }

  func finish() {
    guard !hasFailed, body == nil else { return }
    isFinishing = true
    do throws(TransportError) { body = try gatherer.finish() } catch { hasFailed = true }
    isReady = body != nil || hasFailed
  }

  private func gathererIsReady() {
    isReady = true
    if isFinishing { finish() }
    if isReady { whenReady?() }
  }
}
