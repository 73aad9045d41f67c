import CacheRules
import struct SluiceMessages.HTTPURL
import struct SluiceMessages.HeaderFields
import SluicePlugin

extension Cache: SynchronousResponseInterceptor {
  func intercept(_ response: StageResponse, context: ResponseContext) throws {
    let lookup = response.request.transactionData as? Lookup
    if lookup?.outcome == .answered { return }
    let url = try? HTTPURL(response.request.url)
    if let url { invalidate(response, url, lookup, context) }
    guard let lookup, case .forwarded(let reason) = lookup.outcome else { return }
    guard reason != .method, reason != .bypass || lookup.entry != nil else { return report(reason, response) }
    guard url.map({ key($0, response.request, client(of: response.request)) }) == lookup.url else {
      return try redirected(response, lookup, reason)
    }
    take(response, lookup, reason)
  }

  private func take(_ response: StageResponse, _ lookup: Lookup, _ reason: CacheStatus.Forwarded) {
    let head = StoredHead(
      status: response.status, headers: HeaderFields(copying: response.headers), requested: lookup.requested,
      received: .now)
    switch head.status {
    case 304: notModified(response, lookup, head, reason)
    case let status where Status.isServerError(status) && mayStandIn(lookup, head.received):
      giveStale(response.request, lookup, status)
    default:
      let isStored = lookup.request.method == "HEAD" ? compare(response, lookup, head) : store(response, lookup, head)
      report(reason, response, isStored: isStored)
    }
  }

  /// Invalidates stored responses after a request that may have changed something (RFC 9111 §4.4).
  private func invalidate(_ response: StageResponse, _ url: HTTPURL, _ lookup: Lookup?, _ context: ResponseContext) {
    guard RequestFacts.isUnsafe(lookup?.request.method ?? context.method), (200..<400).contains(response.status) else {
      return
    }
    let client = client(of: response.request)
    var keys: Set<String> = [key(url, response.request, client)]
    if let lookup { keys.insert(lookup.url) }
    for name in ["location", "content-location"] {
      guard let value = response.headers.bytes(name), let target = CacheKey.target(value, from: url) else { continue }
      keys.insert(key(target, response.request, client))
    }
    for key in keys { store.invalidate(key) }
  }

  /// The response is for another URL, so it says nothing about the entry. A 304 answers conditions that were not meant
  /// for that URL, so the request is retried without conditions.
  private func redirected(_ response: StageResponse, _ lookup: Lookup, _ reason: CacheStatus.Forwarded) throws {
    guard response.status == 304, lookup.isValidating else { return report(reason, response) }
    response.request.transactionData = Bypass()
    throw RetryRequestError()
  }

  private func report(_ reason: CacheStatus.Forwarded, _ response: StageResponse, isStored: Bool = false) {
    var status = CacheStatus()
    status.forwarded = reason
    status.isStored = isStored
    add(status, to: response)
  }
}

// What the cache does with each kind of answer from the origin.
extension Cache {
  private func notModified(
    _ response: StageResponse, _ lookup: Lookup, _ head: StoredHead, _ reason: CacheStatus.Forwarded
  ) {
    guard let entry = lookup.entry else { return report(reason, response) }
    guard lookup.isValidating else {
      // The caller has set its own conditions. The 304 is about the stored response if both responses have the same tag
      // or date.
      let isStored =
        entry.head.isConfirmed(byCaller: lookup.request, head)
        && freshen(entry, head, lookup, response.request) != nil
      return report(reason, response, isStored: isStored)
    }
    let isConfirmed = entry.head.isConfirmed(by: head)
    let freshened = isConfirmed ? freshen(entry, head, lookup, response.request) : nil
    if freshened == nil { store.discard(entry) }
    // The caller gets the fields of the 304 (RFC 9111 §4.3.4), also if the response may not be stored with them.
    let answer = freshened ?? (isConfirmed ? entry.with(entry.head.updated(by: head)) : entry)
    var status = CacheStatus()
    status.forwarded = reason
    status.forwardedStatus = 304
    status.isStored = freshened != nil
    give(response.request, lookup.request, answer, head.received, status)
  }

  /// Stores the entry with the fields of the 304, and returns it. Returns nil if it may not be stored, or if its URL
  /// was invalidated in the meantime.
  private func freshen(
    _ entry: Entry, _ head: StoredHead, _ lookup: Lookup, _ request: StageRequest
  ) -> Entry? {
    let updated = entry.head.updated(by: head)
    // The 304 can say that the response depends on other fields than before.
    guard !lookup.request.isNoStore, mayStore(updated, lookup, request),
      let selection = selection(updated, lookup, request)
    else { return nil }
    let fresh = Entry(url: entry.url, head: updated, body: entry.body, selection: selection)
    return store.store(fresh, replacing: entry, since: lookup.invalidations) ? fresh : nil
  }

  /// The answer to a HEAD shows whether the stored response to GET is still valid (RFC 9111 §4.3.5).
  private func compare(_ response: StageResponse, _ lookup: Lookup, _ head: StoredHead) -> Bool {
    guard let entry = lookup.entry, head.status == entry.head.status else { return false }
    let lengths = [head, entry.head].compactMap { $0.headers["content-length"] }
    if entry.head.isConfirmed(by: head), Set(lengths).count < 2 {
      return freshen(entry, head, lookup, response.request) != nil
    }
    store.discard(entry)
    return false
  }

  private func store(_ response: StageResponse, _ lookup: Lookup, _ head: StoredHead) -> Bool {
    // The answer to a range request is not valid for other requests unless it has the whole body.
    guard mayStore(head, lookup, response.request), !lookup.request.isNoStore,
      !lookup.request.hasRange || head.status == 200,
      response.bodyFile == nil,
      let selection = selection(head, lookup, response.request)
    else { return outdated(lookup, head) }
    let body = response.body ?? []
    guard body.count <= configuration.entryBytes else { return outdated(lookup, head) }
    let entry = Entry(url: lookup.url, head: head.forStoring(), body: body, selection: selection)
    return store.store(entry, replacing: lookup.entry, since: lookup.invalidations)
  }

  /// Called when the origin's new response is not stored. Discards the stored response if the new one shows that it is
  /// outdated. Returns false.
  private func outdated(_ lookup: Lookup, _ head: StoredHead) -> Bool {
    if lookup.isValidating, head.status < 500, let entry = lookup.entry { store.discard(entry) }
    return false
  }

  private func mayStore(_ head: StoredHead, _ lookup: Lookup, _ request: StageRequest) -> Bool {
    // An issue stage can have added credentials, perhaps those of this client.
    let hasCredentials = lookup.selecting.contains("authorization") || request.issuedHeader("authorization") != nil
    return head.mayBeStored(
      isShared: host.isShared, hasCredentials: hasCredentials,
      heuristicLimit: heuristicLimit, standsInForErrors: staleIfError > 0)
  }

  /// The request fields on which the response depends. Nil if a later stage has changed one of them, because the next
  /// look-up would not see the value that was sent.
  private func selection(_ head: StoredHead, _ lookup: Lookup, _ request: StageRequest) -> Entry.Selection? {
    let isForEveryone = head.control.isForEveryone(isShared: host.isShared)
    let names = Set(head.varying + (isForEveryone ? [] : partition)).sorted()
    let sent = HeaderFields(copying: request.headers)
    for name in names where !isOurs(name, lookup) {
      let values = lookup.request.headers[values: name]
      guard values == sent[values: name] else { return nil }
      // With several clients, an issue stage can also have set a field that tells them apart.
      if host.isShared, let issued = request.issuedHeader(name), !values.contains(issued) { return nil }
    }
    guard host.isShared else { return Entry.Selection(names, of: lookup.selecting) }
    let further = isForEveryone ? [CacheKey.forwarding] : [CacheKey.certificate, CacheKey.forwarding]
    return Entry.Selection(names + further, of: lookup.selecting)
  }

  private func isOurs(_ name: String, _ lookup: Lookup) -> Bool {
    lookup.isValidating && (name == "if-none-match" || name == "if-modified-since")
  }
}
