import OTLPRules
import SluiceMessages
import SluicePlugin

/// Sends a document to the collector, and retries where that can help.
struct Collector: Sendable {
  enum Outcome: Sendable {
    /// - Parameter rejected: how many items the collector did not accept.
    /// - Parameter reason: the collector's reason or warning; empty if it gives none.
    case accepted(rejected: Int, reason: String)
    case failed(String)
  }

  private let route: ExportSettings.Route
  private let schedule: RetrySchedule
  private let host: PluginHost
  /// The URL without its secrets, for messages.
  let shown: String
  private let usesPortOfGRPC: Bool

  init(_ route: ExportSettings.Route, _ schedule: RetrySchedule, _ host: PluginHost) {
    self.route = route
    self.schedule = schedule
    self.host = host
    shown = Redactor().url(route.url)
    usesPortOfGRPC = (try? HTTPURL(route.url))?.origin.port == 4317
  }

  /// The limit for the collector's answer; a longer answer is treated as a mistake.
  private static let maximumResponseBytes = 65_536

  /// If the next attempt begins later than this after the first one, ``send(_:unreachable:)`` reports the failure.
  private static let patience = Duration.seconds(2)

  /// Sends the document with retries. If the instance ends while this function waits for a retry, it makes one last
  /// attempt at once.
  /// - Parameter unreachable: called at most once, with the reason, if there is no response and the next attempt is not
  ///   made within seconds. The retries continue.
  func send(_ document: [UInt8], unreachable: (String) -> Void) async -> Outcome {
    let began = ContinuousClock.now
    var isLast = false
    var isReported = false
    for failures in 1... {
      let answer: (failure: String, retryAfter: Duration?, isResponse: Bool)
      switch await attempt(document) {
      case .done(let outcome): return outcome
      case .unreachable(let failure): answer = (failure, nil, false)
      case .later(let failure, let retryAfter): answer = (failure, retryAfter, true)
      }
      let delay = schedule.delay(
        afterFailures: failures, elapsed: began.duration(to: .now), retryAfter: answer.retryAfter,
        random: .random(in: 0...1))
      guard !isLast, let delay else { return .failed(answer.failure) }
      if !isReported, !answer.isResponse, began.duration(to: .now) + delay >= Self.patience {
        isReported = true
        unreachable("\(answer.failure); retries continue for at most \(schedule.total)")
      }
      do { try await host.sleep(for: delay) } catch { isLast = true }
    }
    return .failed("given up")
  }

  private enum Step {
    case done(Outcome)
    case unreachable(String)
    case later(String, Duration?)
  }

  private func attempt(_ document: [UInt8]) async -> Step {
    var call = CallRequest(
      method: "POST", url: route.url, body: document, timeout: route.timeout,
      maximumResponseBytes: Self.maximumResponseBytes)
    call.headers = route.headers + [(name: "content-type", value: "application/json")]
    let response: CallResponse
    do { response = try await host.send(call) } catch let failure as StageFailure {
      let reason =
        "\(failure.code): \(failure.message)" + (usesPortOfGRPC ? "; 4317 is the port for gRPC, use 4318" : "")
      return Self.isFinal(failure) ? .done(.failed(reason)) : .unreachable(reason)
    } catch { return .done(.failed("cancelled")) }
    guard (200...299).contains(response.status) else {
      let reason = "it answered \(response.status)" + (response.status == 404 ? "; \(Self.pathAdvice)" : "")
      guard RetrySchedule.isRetryable(status: response.status) else { return .done(.failed(reason)) }
      let now = Int64(Clock.unixNow / 1_000_000_000)
      return .later(reason, response.header("retry-after").flatMap { RetrySchedule.retryAfter($0, now: now) })
    }
    return .done(Self.outcome(response))
  }

  private static let pathAdvice =
    "v1/traces and v1/metrics are appended to endpoint, and tracesEndpoint and metricsEndpoint are used as they are"

  /// Whether a retry cannot help. After a response that was too long there is no retry, because the collector may have
  /// accepted the data.
  private static func isFinal(_ failure: StageFailure) -> Bool {
    ["closing", "cancelled", "refused", "unsupported", "invalid_request", "response_too_large"].contains(failure.code)
  }

  /// Reads `partialSuccess` of the response; in the JSON form of protocol buffers, its numbers are strings.
  private static func outcome(_ response: CallResponse) -> Outcome {
    guard let partial = try? JSONValue(parsing: response.body)["partialSuccess"] else {
      return .accepted(rejected: 0, reason: "")
    }
    let number = partial["rejectedSpans"] ?? partial["rejectedDataPoints"]
    let rejected = number?.integer ?? number?.string.flatMap { Int64($0) } ?? 0
    return .accepted(rejected: Int(clamping: max(rejected, 0)), reason: partial["errorMessage"]?.string ?? "")
  }
}
