import CSluice
import SluiceMessages
import SluicePipeline

extension WorkOutcome {
  /// The outcome that a plugin reports; nil for a number that `notifications.h` does not define.
  init?(reported: sluice_work_outcome) {
    switch Int(reported) {
    case Int(SLUICE_WORK_NEW_DATA): self = .newData
    case Int(SLUICE_WORK_NO_DATA): self = .noData
    case Int(SLUICE_WORK_FAILED): self = .failed
    default: return nil
    }
  }
}
