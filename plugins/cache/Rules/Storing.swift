package import SluiceMessages

extension StoredHead {
  /// Whether a cache may store this response to a GET (RFC 9111 §3) and can use it later.
  /// - Parameters:
  ///   - isShared: whether the cache is shared by several clients.
  ///   - hasCredentials: whether the request had an `Authorization`.
  ///   - heuristicLimit: see ``Freshness``.
  ///   - standsInForErrors: whether the configuration lets stale responses replace errors, even without
  ///     `stale-if-error` in the response.
  package func mayBeStored(
    isShared: Bool, hasCredentials: Bool, heuristicLimit: Int64, standsInForErrors: Bool
  ) -> Bool {
    guard status >= 200, status != 206, status != 304 else { return false }
    let control = control
    if control.contains("must-understand") {
      guard Status.isUnderstood(status) else { return false }
    } else if control.contains("no-store") {
      return false
    }
    if variesOnEverything { return false }
    if isShared, !isForAll(control, hasCredentials: hasCredentials) { return false }
    let isCacheable =
      headers.contains("expires") || Status.isHeuristicallyCacheable(status)
      || ["public", isShared ? "s-maxage" : "private", "max-age"].contains { control.contains($0) }
    return isCacheable && isOfUse(control, isShared, heuristicLimit, standsInForErrors)
  }

  /// Whether a shared cache may give the response to other clients (RFC 9111 §3, §3.5). A `private` with names of fields
  /// would allow to store the other fields; here it counts as one without names. A response that sets a cookie is meant
  /// for one client, although RFC 9111 §7.3 does not forbid to store it.
  private func isForAll(_ control: CacheControl, hasCredentials: Bool) -> Bool {
    if control.contains("private") || headers.contains("set-cookie") { return false }
    return !hasCredentials || control.isForClientsWithCredentials
  }

  /// Whether the response can be used later. A response that is stale at once and cannot be validated would only take
  /// room.
  private func isOfUse(
    _ control: CacheControl, _ isShared: Bool, _ heuristicLimit: Int64, _ standsInForErrors: Bool
  ) -> Bool {
    let freshness = Freshness(of: self, isShared: isShared, heuristicLimit: heuristicLimit)
    if hasValidator || freshness.isFresh(at: received) { return true }
    return !control.forbidsStaleUse(isShared: isShared) && !control.forbidsUnvalidatedUse
      && (standsInForErrors || control.contains("stale-if-error"))
  }

  /// The head as it is stored: without the fields of the connection (§3.1), and with a date (RFC 9110 §6.6.1).
  package func forStoring() -> StoredHead {
    var head = self
    head.headers = headers.withoutConnectionFields()
    if !head.headers.contains("date") { head.headers["date"] = received.date.description }
    return head
  }

  /// The head with the fields of a response that confirmed this one (§3.2), and with the times of that response.
  package func updated(by answer: StoredHead) -> StoredHead {
    var head = self
    head.requested = answer.requested
    head.received = answer.received
    // `Age` said how old the response was when it was first received, which no longer counts.
    head.headers.remove("age")
    let news = answer.forStoring().headers
    var seen: Set<String> = []
    for (name, _) in news where !isBoundToBody(name) && seen.insert(name.lowercased()).inserted {
      head.headers.remove(name)
    }
    for index in news.indices where !isBoundToBody(news.name(at: index)) {
      let bytes = news.buffer.span
      head.headers.append(bytes.extracting(news.nameRange(at: index)), bytes.extracting(news.valueRange(at: index)))
    }
    return head
  }

  /// Whether a 304, or the answer to a HEAD, is about this response. A strong tag decides, otherwise a weak tag,
  /// otherwise the date of the last change (§4.3.4). If the answer has none of these, it is about this response.
  package func isConfirmed(by answer: StoredHead) -> Bool {
    confirmation(by: answer) ?? true
  }

  /// Whether a 304 is about this response although the conditions were the caller's own. The fields of the 304 decide;
  /// if they do not identify a response, the caller's conditions decide.
  package func isConfirmed(byCaller request: RequestFacts, _ answer: StoredHead) -> Bool {
    confirmation(by: answer) ?? isNamed(by: request)
  }

  /// Nil if the answer has neither a tag nor a date.
  private func confirmation(by answer: StoredHead) -> Bool? {
    if let tag = answer.entityTag { return entityTag.map { tag.matchesWeakly($0) } ?? false }
    if let changed = answer.lastModified { return changed == lastModified }
    return nil
  }
}

/// Whether the field describes the stored body. In a 304, such a field describes another body, or none.
private func isBoundToBody(_ name: String) -> Bool {
  switch name.lowercased() {
  case "content-length", "content-encoding", "content-range": true
  default: false
  }
}

extension HeaderFields {
  /// The fields without those of one connection, including fields that `Connection` names (RFC 9110 §7.6.1), and
  /// without the fields for authentication at a proxy (RFC 9111 §3.1).
  package func withoutConnectionFields() -> HeaderFields {
    var fields = self
    for value in self[values: "connection"] {
      for name in value.split(separator: ",") { fields.remove(String(name.trimmed)) }
    }
    for name in Self.connectionFields { fields.remove(name) }
    return fields
  }

  private static let connectionFields = [
    "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection",
    "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
  ]
}
