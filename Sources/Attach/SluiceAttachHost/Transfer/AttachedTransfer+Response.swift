import CAttachABI
import SluiceAttachRules
import SluiceForeign
import SluiceLoop
import SluiceMessages
import SluicePipeline

extension AttachedTransfer {
  /// Runs the response stages on the head of the response that is meant for the program, and waits for suspended
  /// stages.
  func receive(_ form: sluice_attach_head) -> Answer {
    lane.loop.enter()
    defer { lane.loop.leave() }
    guard let observer, isIssued, disposition == nil, result == nil else { return refusal }
    let lines = ResponseHeadLines(form)
    guard let response = Response(form, lines) else {
      return refuse("the response has no valid head to show to the stages", observer)
    }
    disposition = .hold
    let disposition = observer.transferDidReceiveHead(response)
    if disposition != .hold { self.disposition = disposition }
    wait { self.disposition != .hold || result != nil }
    guard result == nil, let now = transaction?.responseNow else { return refusal }
    if self.disposition == .discard || self.disposition == .hold {
      return refuse(
        "a stage has replaced the body of the response, but the program gets the body from libcurl", observer)
    }
    guard now.status == response.status else {
      return refuse(
        "a stage has changed the status of the response, but the program gets the status from libcurl", observer)
    }
    return lines.lines(for: now.headers).map { .lines($0) } ?? .proceed
  }

  private func refuse(_ reason: String, _ observer: any TransferObserver) -> Answer {
    observer.transferDidEnd(TransferEnd(error: TransportError(.cancelled, reason)))
    return .refusal(reason)
  }
}

extension ResponseHeadLines {
  init(_ form: sluice_attach_head) {
    self.init()
    for line in UnsafeBufferPointer(start: form.lines, count: form.line_count) { append(line: line.characters.span) }
  }
}

extension Response {
  /// Nil if it is not a final response.
  fileprivate init?(_ form: sluice_attach_head, _ lines: ResponseHeadLines) {
    guard (200...999).contains(form.status) else { return nil }
    self.init(
      status: Int(form.status), headers: lines.fields, version: HTTPVersion(form.facts?.pointee.http_version ?? 0))
  }
}
