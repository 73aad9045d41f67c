package import SluiceMessages

extension StoredHead {
  /// Whether a private cache may keep this, as the response to a GET (RFC 9111 §3), and has a use for it.
  /// - Parameter heuristicLimit: see ``Freshness``.
  /// - Parameter standsInForErrors: stale responses are of use even where they do not say so.
  package func mayBeStored(heuristicLimit: Int64, standsInForErrors: Bool) -> Bool {
    guard status >= 200, status != 206, status != 304 else { return false }
    let control = control
    if control.contains("must-understand") {
      guard Status.isUnderstood(status) else { return false }
    } else if control.contains("no-store") {
      return false
    }
    if variesOnEverything { return false }
    let isCacheable =
      headers.contains("expires") || Status.isHeuristicallyCacheable(status)
      || ["public", "private", "max-age"].contains { control.contains($0) }
    return isCacheable && isOfUse(control, heuristicLimit, standsInForErrors)
  }

  /// What is stale at once and cannot be validated would only take room.
  private func isOfUse(_ control: CacheControl, _ heuristicLimit: Int64, _ standsInForErrors: Bool) -> Bool {
    let freshness = Freshness(of: self, heuristicLimit: heuristicLimit)
    if hasValidator || freshness.isFresh(at: received) { return true }
    return !control.contains("must-revalidate") && !control.forbidsUnvalidatedUse
      && (standsInForErrors || control.contains("stale-if-error"))
  }

  /// The headers to keep: nothing of the connection (§3.1), and a date (RFC 9110 §6.6.1).
  package func forStoring() -> StoredHead {
    var head = self
    head.headers = headers.withoutConnectionFields()
    if !head.headers.contains("date") { head.headers["date"] = received.date.description }
    return head
  }

  /// With the fields of a response that confirmed this one (§3.2), and its times.
  package func updated(by answer: StoredHead) -> StoredHead {
    var head = self
    head.requested = answer.requested
    head.received = answer.received
    // How old it was when it came is no longer what counts.
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

  /// Whether a 304, or a head, speaks of this response: by a strong tag, else a weak one, else the date of the last change
  /// (§4.3.4). One without any speaks of the only one that was asked about.
  package func isConfirmed(by answer: StoredHead) -> Bool {
    confirmation(by: answer) ?? true
  }

  /// Whether the 304 to a caller's own question speaks of this response, too: it has to say so, or the question has.
  package func isConfirmed(byCaller request: RequestFacts, _ answer: StoredHead) -> Bool {
    confirmation(by: answer) ?? isNamed(by: request)
  }

  /// nil where the answer has neither tag nor date.
  private func confirmation(by answer: StoredHead) -> Bool? {
    if let tag = answer.entityTag { return entityTag.map { tag.matchesWeakly($0) } ?? false }
    if let changed = answer.lastModified { return changed == lastModified }
    return nil
  }
}

/// These say how the body is made up that is stored, and what a 304 says of it is of another body or none.
private func isBoundToBody(_ name: String) -> Bool {
  switch name.lowercased() {
  case "content-length", "content-encoding", "content-range": true
  default: false
  }
}

extension HeaderFields {
  /// Without the fields of one connection and those that its `Connection` names (RFC 9110 §7.6.1), and without those of a
  /// proxy's authentication (RFC 9111 §3.1).
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
