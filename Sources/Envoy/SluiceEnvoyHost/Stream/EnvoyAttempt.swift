import CEnvoy
import SluiceAssembly
import SluiceForeign
import SluiceLoop
import SluiceMessages
import SluicePipeline

/// One attempt of Envoy to send a request, as the filter "issue" among the upstream filters of a cluster sees it.
///
/// Unchecked because only the worker of the stream calls it.
final class EnvoyAttempt: EnvoyFilter, @unchecked Sendable {
  private let host: EnvoyHost
  private let stream: EnvoyStream
  private var isRefused = false
  private var scheduler: sluice_envoy_scheduler?

  init(_ host: EnvoyHost, _ lane: Lane, _ stream: EnvoyStream) {
    self.host = host
    self.stream = stream
    super.init(lane)
  }

  override func headers(isRequest: Bool, isLast: Bool) -> sluice_envoy_headers_status {
    guard isRequest else { return SLUICE_ENVOY_HEADERS_CONTINUE }
    // A request without an exchange has not passed the filter "pipeline", and issue stages belong to an exchange.
    let passes = inLane {
      EnvoyExchange.of(stream, host)?.issue(stream) ?? lane.pipeline.issueStages.isEmpty
    }
    return passes ? SLUICE_ENVOY_HEADERS_CONTINUE : refuse()
  }

  override func body(isRequest: Bool, isLast: Bool) -> sluice_envoy_body_status {
    isRequest && isRefused ? SLUICE_ENVOY_BODY_HOLD : SLUICE_ENVOY_BODY_CONTINUE
  }

  /// Ends the attempt, after the hook.
  private func refuse() -> sluice_envoy_headers_status {
    isRefused = true
    scheduler = stream.makeScheduler()
    if let scheduler { sluice_envoy_scheduler_commit(scheduler) }
    return SLUICE_ENVOY_HEADERS_STOP
  }

  override func scheduled() {
    let response = EnvoyReply.response(500, .internalError)
    let fields = EnvoyReply.fields(response, isGRPC: isGRPC)
    stream.reply(response.status, fields, response.body.bytes ?? [], details: "sluice_issue")
  }

  private var isGRPC: Bool {
    var isGRPC = false
    stream.forEachField(of: SLUICE_ENVOY_REQUEST) { name, value in
      if FieldSyntax.equals(name, "content-type") { isGRPC = String(copying: value).hasPrefix("application/grpc") }
    }
    return isGRPC
  }

  override func end() {
    if let scheduler { sluice_envoy_scheduler_delete(scheduler) }
    scheduler = nil
  }
}

extension EnvoyExchange {
  /// Lets the upstream filters of this stream find the exchange.
  func becomeFindable() {
    let index = lane.loop.index
    let number = host.onTheirWay[index].add(self)
    self.number = number
    stream.note("\(index) \(number)", as: "exchange")
  }

  /// The exchange to which an attempt belongs.
  fileprivate static func of(_ attempt: EnvoyStream, _ host: EnvoyHost) -> EnvoyExchange? {
    guard let words = attempt.noted(as: "exchange")?.split(separator: " "), words.count == 2, let index = Int(words[0]),
      let number = Int(words[1]), host.onTheirWay.indices.contains(index)
    else { return nil }
    return host.onTheirWay[index][number] as? EnvoyExchange
  }

  /// Runs the issue stages for an attempt. Returns false if one of them ends it.
  fileprivate func issue(_ attempt: EnvoyStream) -> Bool {
    guard phase == .upstream, let observer, let sent else { return false }
    if hop.isIssued {
      hop.takeBack(in: attempt)
      observer.transferDidContinue(after: nil, with: sent, TransferTimings())
    }
    var given = HeaderFields()
    attempt.forEachField(of: SLUICE_ENVOY_REQUEST) { name, value in
      if name.count > 0, name[0] != UInt8(ascii: ":"), !FieldSyntax.isTransportField(name) { given.append(name, value) }
    }
    var fields = given
    guard observer.transferWillIssue(&fields) else {
      observer.transferDidEnd(TransferEnd(error: TransportError(.cancelled, "a stage ended the attempt")))
      return false
    }
    hop.begin(given, fields)
    attempt.apply(from: given, to: fields, in: BodySide.request.part)
    return true
  }
}
