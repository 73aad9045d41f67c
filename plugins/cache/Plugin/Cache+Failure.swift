import CacheRules
import SluicePlugin

extension Cache: FailureInterceptor {
  /// Called when the attempt has no response. A stored response is used instead if RFC 5861 §4 allows it.
  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    guard let lookup = request.transactionData as? Lookup, mayStandIn(lookup, .now) else { return }
    giveStale(request, lookup, nil)
  }

  func mayStandIn(_ lookup: Lookup, _ now: Timestamp) -> Bool {
    guard let entry = lookup.entry, !lookup.request.hasRange else { return false }
    return entry.head.mayStandInForError(
      freshness(entry.head), isShared: host.isShared, for: lookup.request, at: now, defaultLimit: staleIfError)
  }

  func giveStale(_ request: StageRequest, _ lookup: Lookup, _ originStatus: Int?) {
    guard let entry = lookup.entry else { return }
    var status = CacheStatus()
    status.forwarded = .stale
    status.forwardedStatus = originStatus
    status.detail = "stale-if-error"
    give(request, lookup.request, entry, .now, status)
  }
}
