import Sluice
import SluicePipeline
import SluiceSupport

/// Notes the times of the steps of the request of `send --trace`.
final class TimelineRecorder: Sendable {
  private struct State: Sendable {
    var start: Instant?
    var timeline = RequestTimeline()
  }

  private let state = Locked(State())

  var timeline: RequestTimeline { state.withLock { $0.timeline } }

  func append(to configuration: inout Configuration) {
    let code = StageCode(isTrusted: true) { [self] in record($0) }
    configuration.addStage("send --trace", code)
  }

  private func record(_ event: TraceEvent) {
    let mark: RequestTimeline.Mark
    switch event.kind {
    case .willExecute: return state.withLock { $0.start = event.time }
    case .didConfigure: mark = .configured
    case .didIssue: mark = .issued
    case .didReceive: mark = .received(status: event.status, event.timings)
    case .willRedirect: mark = .redirected
    case .willRetry: mark = .retrying(after: event.duration)
    case .didComplete: mark = .completed(event.timings)
    case .didReceiveInformational, .didEndHop, .didEndSpan, .didValidateResponse, .didExtract, .didValidatePayload:
      return
    }
    state.withLock { state in
      guard let start = state.start else { return }
      state.timeline.append(mark, at: event.time.duration(since: start))
    }
  }
}
