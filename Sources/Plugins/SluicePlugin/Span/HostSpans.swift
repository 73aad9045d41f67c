import CSluice
public import SluiceMessages

/// Begins the plugin's own spans, as children of the hops' spans (`sluice.spans/1`, a draft).
public struct HostSpans: Sendable {
  let link: HostLink

  /// Begins a span for the transaction of a request.
  ///
  ///     let span = host.spans?.begin("look up tenant", for: request)
  ///     defer { span?.end() }
  ///
  /// - Parameters:
  ///   - name: 1 to 128 bytes without control characters.
  ///   - request: the request that the stage's method got. With the request of a ``TransactionEvent``, no span begins
  ///     and nil is returned.
  /// - Returns: nil if no tracer wants spans, if the transaction has had 64 spans, or for a malformed name.
  public func begin(_ name: String, for request: StageRequest, kind: SpanKind = .internal) -> OpenSpan? {
    let begun: OpenSpan?? = request.call.withExchange { _, exchange in
      guard let table = link.current.spans else { return nil }
      var handle = sluice_open_span()
      let status = withText(name) { table.pointee.begin(exchange, $0, kind.rawValue, &handle) }
      return status == 0 ? OpenSpan(call: request.call, table: table, handle: handle) : nil
    }
    return begun ?? nil
  }
}

/// A span that has not ended. If the plugin does not end the span, the host ends it at the end of the transaction.
///
/// The span can be used wherever the request can be used: in the call of the stage, and after an `await` in it.
/// Elsewhere, and after its end, its functions do nothing.
///
/// `@unchecked Sendable`: the table is a constant of the host.
public struct OpenSpan: @unchecked Sendable {
  let call: ExchangeCall
  let table: UnsafePointer<sluice_spans>
  let handle: sluice_open_span

  /// Sets an attribute, or replaces its value. A span has at most 32 attributes; a text is cut off beyond 1024 bytes.
  ///
  /// - Parameters:
  ///   - name: as in ``TransactionAttributes``.
  ///   - isSensitive: whether the value is a secret, which is shown as `REDACTED` everywhere except to tracers.
  public func set(_ name: String, _ value: AttributeValue, isSensitive: Bool = false) {
    _ = call.withExchange { _, exchange in
      Attribute.lend(CollectionOfOne(Attribute(name, value, isSensitive: isSensitive))) {
        table.pointee.set_attribute(exchange, handle, $0.baseAddress)
      }
    }
  }

  /// Sets how the work went.
  ///
  /// - Parameter message: for people, without secrets; kept only with ``SpanStatus/error``.
  public func setStatus(_ status: SpanStatus, _ message: String = "") {
    _ = call.withExchange { _, exchange in
      withText(message) { table.pointee.set_status(exchange, handle, status.rawValue, $0) }
    }
  }

  /// Ends the span. Tracers get it after this call of the stage has returned.
  public func end() {
    _ = call.withExchange { _, exchange in table.pointee.end(exchange, handle) }
  }
}

extension PluginHost {
  /// Runs a part of a stage's work for a request, and measures it as a span. The status of the span is ok or, if the
  /// body throws, error with the text of the thrown error. If no tracer wants spans, only the body runs.
  ///
  /// - Parameter name: 1 to 128 bytes without control characters.
  public func withSpan<Value>(
    _ name: String, for request: StageRequest, kind: SpanKind = .internal, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let span = spans?.begin(name, for: request, kind: kind)
    defer { span?.end() }
    do {
      let value = try await body()
      span?.setStatus(.ok)
      return value
    } catch {
      span?.setStatus(.error, "\(error)")
      throw error
    }
  }

  /// Spans (`sluice.spans/1`, a draft); nil if the host lacks them.
  public var spans: HostSpans? {
    let isOffered: Bool? = link.withHost { $0.spans != nil }
    return isOffered == true ? HostSpans(link: link) : nil
  }
}
