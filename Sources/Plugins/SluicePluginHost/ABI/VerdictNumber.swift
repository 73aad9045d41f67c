import CSluice
import SluiceMessages
import SluicePipeline

/// The numbers of `verdict.h`.
enum VerdictNumber {
  static let proceed = sluice_verdict(SLUICE_VERDICT_CONTINUE)
  static let respond = sluice_verdict(SLUICE_VERDICT_RESPOND)
  static let retry = sluice_verdict(SLUICE_VERDICT_RETRY)
  static let fail = sluice_verdict(SLUICE_VERDICT_FAIL)
  static let suspended = sluice_verdict(SLUICE_VERDICT_SUSPENDED)

  /// Whether a suspended call can be resumed with this verdict: with any except SUSPENDED.
  static func isDecision(_ verdict: sluice_verdict) -> Bool { (proceed...fail).contains(verdict) }
}

extension StageFailure {
  static let defaultCode: ErrorCode = "stage_failed"
  static let withoutReason = StageFailure(code: defaultCode, message: "it answered FAIL and gave no reason")

  static func fault(_ message: String) -> StageFailure {
    StageFailure(code: .stageFault, message: message)
  }
}
