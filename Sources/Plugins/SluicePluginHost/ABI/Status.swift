import CSluice

/// The constants of `status.h`, with the type `sluice_status`, which functions of the ABI return.
enum Status {
  static let ok = sluice_status(SLUICE_STATUS_OK)
  static let absent = sluice_status(SLUICE_STATUS_ABSENT)
  static let already = sluice_status(SLUICE_STATUS_ALREADY)
  static let stale = sluice_status(SLUICE_STATUS_STALE)
  static let unsupported = sluice_status(SLUICE_STATUS_UNSUPPORTED)
  static let limit = sluice_status(SLUICE_STATUS_LIMIT)
  static let closing = sluice_status(SLUICE_STATUS_CLOSING)
  static let invalid = sluice_status(SLUICE_STATUS_INVALID)
  static let refused = sluice_status(SLUICE_STATUS_REFUSED)
  static let failed = sluice_status(SLUICE_STATUS_FAILED)
  static let wrongThread = sluice_status(SLUICE_STATUS_WRONG_THREAD)
}
