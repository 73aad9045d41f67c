import SluiceMessages
import SluicePipeline
import SluiceTraceContext

// Sets the same headers as without an explanation, and records a reason for each header that the stage can set.
extension HeadersStage {
  func explainIssue(_ exchange: Exchange) -> Verdict {
    let url = exchange.requestForms.native.url
    let place = settings.hosts.place(of: url)
    guard let fields = exchange.issueHeaders.take() else { return .proceed }
    if let (reason, detail) = obstacle(place, fields, url) {
      exchange.issueHeaders = fields
      for header in settings.planned {
        if let absence = header.absence {
          decide(header.name, .disabled, absence, exchange)
        } else {
          decide(header.name, reason, detail, exchange)
        }
      }
      return .proceed
    }
    let kinds = settings.hosts.kinds(at: place)
    var headers = ExplainedHeaders(HopHeaders(fields, existing: settings.existing), settings.secrets)
    write(exchange, kinds, &headers)
    explain(headers, kinds, at: place, exchange)
    exchange.issueHeaders = headers.headers.fields
    return headers.headers.conflict.map { .fail(Self.refusal($0)) } ?? .proceed
  }

  /// The reason why this hop gets no headers.
  private func obstacle(
    _ place: HostList.Place, _ fields: borrowing HeaderFields, _ url: HTTPURL
  ) -> (HeaderDecision.Reason, String)? {
    switch place {
    case .unlisted: return (.hostNotListed, "\(url.origin) is neither on the list nor the base URL's origin")
    case .excluded(let index):
      let exclusion = settings.hosts.exclusions[index]
      return (.excludedEndpoint, "\(exclusion.pattern), by \(exclusion.source)")
    case .entry, .base: break
    }
    guard settings.signed == .skip, let signature = RequestSignature.of(fields, url) else { return nil }
    return (.signedRequest, Self.words(signature))
  }

  private static func words(_ signature: RequestSignature) -> String {
    switch signature {
    case .authorization: "Authorization holds a signature over headers"
    case .message: "it has a message signature"
    case .url: "its URL is signed"
    }
  }

  private func explain(
    _ headers: ExplainedHeaders, _ kinds: HeaderKinds, at place: HostList.Place, _ exchange: Exchange
  ) {
    let trace = HopTrace(settings.traces.span(exchange), exchange.parent)
    noteParent(exchange)
    for header in settings.planned {
      if let absence = header.absence {
        decide(header.name, .disabled, absence, exchange)
      } else if !kinds.contains(HeaderKinds(header.kind)) {
        decide(header.name, .kindNotForHost, listing(place), exchange)
      } else if let record = headers.record(of: header.lowercased) {
        exchange.explain(
          HeaderDecision(
            stage: settings.name, header: record.header, reason: record.reason, value: record.value,
            detail: record.detail))
      } else {
        let (reason, detail) = absence(of: header, trace, headers)
        decide(header.name, reason, detail, exchange)
      }
    }
  }

  private func listing(_ place: HostList.Place) -> String? {
    guard case .entry(let index) = place else { return nil }
    return "listed as \(settings.hosts.entries[index].pattern)"
  }

  /// Why a header was not written although the host gets headers of its kind.
  private func absence(
    of header: PlannedHeader, _ trace: borrowing HopTrace, _ headers: ExplainedHeaders
  ) -> (HeaderDecision.Reason, String?) {
    let refused = trace.parent.refusals.first { FieldSyntax.equals($0.header.utf8.span, text: header.lowercased) }
    if header.kind == .baggage {
      if let refused { return (.invalidParent, refused.reason) }
      guard let baggage = trace.parent.baggage else { return (.nothingToSend, nil) }
      return (.invalidParent, Baggage.refusal(baggage.utf8.span)?.reason)
    }
    guard trace.traceParent != nil else {
      return settings.traces.isDisabled
        ? (.disabled, "the caller has no trace, and none begins here") : (.unsampled, "sampledOnly is true")
    }
    let theirs = headers.records.first { record in
      record.reason != .sent && header.family.contains { FieldSyntax.equals(record.header.utf8.span, text: $0) }
    }
    if let theirs { return (.alreadyPresent, "the request's own \(theirs.header) belongs to another trace") }
    if let refused { return (.invalidParent, refused.reason) }
    guard header.lowercased == "tracestate", let state = trace.parent.tracestate else { return (.nothingToSend, nil) }
    guard trace.isContinued else { return (.invalidParent, "it belongs to a trace that is not valid") }
    guard TraceState.content(state.utf8.span) == nil else {
      return (.nothingToSend, "its sampling threshold is from another sampling decision")
    }
    return (.invalidParent, "it is not valid")
  }

  /// An invalid parent does not prevent a trace.
  private func noteParent(_ exchange: Exchange) {
    for refusal in exchange.parent.refusals { exchange.explain(note: "not used: \(refusal)") }
    guard let text = exchange.parent.traceparent else { return }
    do throws(InvalidContext) { _ = try TraceParent(text.utf8.span) } catch {
      exchange.explain(note: "a trace begins here: \(error)")
    }
  }

  private func decide(
    _ header: String, _ reason: HeaderDecision.Reason, _ detail: String?, _ exchange: Exchange
  ) {
    exchange.explain(HeaderDecision(stage: settings.name, header: header, reason: reason, detail: detail))
  }
}
