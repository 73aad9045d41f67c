import CSluice

/// The numbers of `status.h`, in the type that functions answer with.
enum Status {
  static let ok = sluice_status(SLUICE_OK)
  static let absent = sluice_status(SLUICE_ABSENT)
  static let already = sluice_status(SLUICE_ALREADY)
  static let stale = sluice_status(SLUICE_STALE)
  static let unsupported = sluice_status(SLUICE_UNSUPPORTED)
  static let limit = sluice_status(SLUICE_LIMIT)
  static let closing = sluice_status(SLUICE_CLOSING)
  static let invalid = sluice_status(SLUICE_INVALID)
  static let refused = sluice_status(SLUICE_REFUSED)
  static let wrongThread = sluice_status(SLUICE_WRONG_THREAD)
}
