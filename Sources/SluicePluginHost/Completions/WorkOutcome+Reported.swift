import CSluice
import SluiceMessages
import SluicePipeline

extension WorkOutcome {
  /// What a plugin reports; nil for a number that is no outcome of `notifications.h`.
  init?(reported: sluice_work_outcome) {
    switch Int(reported) {
    case Int(SLUICE_WORK_NEW_DATA): self = .newData
    case Int(SLUICE_WORK_NO_DATA): self = .noData
    case Int(SLUICE_WORK_FAILED): self = .failed
    default: return nil
    }
  }
}
