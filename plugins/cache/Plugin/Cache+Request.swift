import CacheRules
import struct SluiceMessages.HTTPURL
import struct SluiceMessages.HeaderFields
import SluicePlugin

extension Cache: RequestInterceptor {
  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    guard !(request.transactionData is Bypass), let url = try? HTTPURL(request.url) else { return }
    var lookup = look(request, url)
    guard lookup.request.isCacheable, !lookup.request.isForOriginOnly, !hasBody(request, lookup) else {
      lookup.outcome = .forwarded(lookup.request.isCacheable ? .bypass : .method)
      request.transactionData = lookup
      return
    }
    let facts = lookup.request
    let found = await store.find(lookup.url, for: lookup.selecting) { entry in
      if case .validate = reuse(entry, facts, .now) { false } else { true }
    }
    lookup.entry = found.entry
    lookup.invalidations = found.invalidations
    guard let entry = found.entry else { return forward(request, found.isKnown ? .varyMiss : .uriMiss, lookup) }
    let now = Timestamp.now
    switch reuse(entry, facts, now) {
    case .fresh, .stale:
      if answer(request, facts, entry, now) {
        lookup.outcome = .answered
        request.transactionData = lookup
      } else {
        forward(request, .bypass, lookup)
      }
    case .validate(let reason): forward(request, reason == .request ? .request : .stale, lookup)
    }
  }

  func freshness(_ head: StoredHead) -> Freshness {
    Freshness(of: head, isShared: host.isShared, heuristicLimit: heuristicLimit)
  }

  private func reuse(_ entry: Entry, _ request: RequestFacts, _ now: Timestamp) -> Reuse {
    Reuse(of: entry.head, freshness(entry.head), isShared: host.isShared, for: request, at: now)
  }

  private func look(_ request: StageRequest, _ url: HTTPURL) -> Lookup {
    let headers = HeaderFields(copying: request.headers)
    var selecting = headers
    // The transport turns the user info of the URL into an Authorization field.
    if let userInfo = url.userInfo, !selecting.contains("authorization") {
      selecting["authorization"] = "user \(userInfo)"
    }
    let client = client(of: request)
    if host.isShared {
      selecting[CacheKey.forwarding] = CacheKey.forwarding(headers)
      let certificate = client?.security?.certificate ?? []
      if !certificate.isEmpty { selecting[CacheKey.certificate] = certificate.hexadecimal }
    }
    return Lookup(
      outcome: .forwarded(.bypass), url: key(url, request, client),
      request: RequestFacts(method: request.method, headers: headers), selecting: selecting, requested: .now)
  }

  /// The key of the response to a request. Behind a gateway, the URL is that of the upstream, so the key also has what
  /// the client has asked for: the scheme, the host and the port.
  func key(_ url: HTTPURL, _ request: StageRequest, _ client: ConnectionFacts?) -> String {
    CacheKey.of(url) + (host.isShared ? CacheKey.target(of: request, client) : "")
  }

  /// The client of the gateway; nil in a private cache.
  func client(of request: StageRequest) -> ConnectionFacts? {
    host.isShared ? host.clients?.facts(of: request) : nil
  }

  private func hasBody(_ request: StageRequest, _ lookup: Lookup) -> Bool {
    lookup.request.headers.contains("content-length") || request.body != nil || request.bodyFile != nil
      || request.isBodyStreamed
  }

  /// Lets the request continue. Adds conditions if there is an entry to confirm and the caller has set no conditions.
  private func forward(_ request: StageRequest, _ reason: CacheStatus.Forwarded, _ found: Lookup) {
    var lookup = found
    lookup.outcome = .forwarded(reason)
    defer { request.transactionData = lookup }
    guard !lookup.request.isOnlyIfCached else {
      lookup.outcome = .answered
      return answerNothingStored(request)
    }
    guard let entry = lookup.entry, !lookup.request.isConditional, !lookup.request.hasRange, entry.head.hasValidator
    else { return }
    lookup.isValidating = true
    for (name, value) in entry.head.conditions { request.headers[name] = value }
  }

  /// Answers with 504, because the request has `only-if-cached` and no stored response can be used (RFC 9111 §5.2.1.7).
  private func answerNothingStored(_ request: StageRequest) {
    let response = request.respond(status: 504)
    var status = CacheStatus()
    status.detail = "only-if-cached"
    add(status, to: response)
  }
}

extension HeaderFields {
  /// Copies the fields of a message, byte by byte.
  init(copying headers: Headers) {
    self.init()
    headers.withEachField { name, value in
      append(name.bindMemory(to: UInt8.self).span, value.bindMemory(to: UInt8.self).span)
    }
  }
}
