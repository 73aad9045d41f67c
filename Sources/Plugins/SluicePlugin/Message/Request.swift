public import SluiceJSON

/// The request of an exchange, in the host; valid until the intercepting method returns.
///
/// If the value is used after that, or on a thread of another executor (`@MainActor`), reading returns nil or an empty
/// value, and writing does nothing. The first such use in each call is logged. A write that the host refuses fails the
/// call.
public struct StageRequest: Sendable {
  let call: ExchangeCall

  /// The fields in the host, not a copy. Writable in request interceptors, and for one hop in issue interceptors.
  public var headers: Headers { Headers(call: call, side: .request) }

  /// The method token (RFC 9110 §9.1). Writable in request interceptors; `CONNECT` and invalid tokens are refused.
  public var method: String {
    get { call.method ?? "" }
    nonmutating set { call.attempt { () throws(StageFailure) in try call.setMethod(newValue) } }
  }

  /// The absolute URL; for issue interceptors the URL of the hop.
  public var url: String {
    get { call.url ?? "" }
    nonmutating set { call.attempt { () throws(StageFailure) in try call.setURL(newValue) } }
  }

  /// The first value of a header as the current hop has sent it, including what issue stages have set; nil if there is
  /// no such header, and before the hop is issued.
  public func issuedHeader(_ name: String) -> String? { call.issuedHeader(name) }

  /// The body in memory; nil if there is no body, or if it is streamed or in a ``bodyFile``. Setting nil empties it.
  public var body: [UInt8]? {
    get { call.body(.request) }
    nonmutating set { call.attempt { () throws(StageFailure) in try call.setBody(.request, newValue ?? []) } }
  }

  /// The file of a large body, which is not in memory.
  public var bodyFile: BodyFile? { call.bodyFile(.request) }

  /// Whether there is a body that is neither in ``body`` nor in ``bodyFile``, because the caller produces it while it is
  /// sent. True too in a host that does not show request bodies to stages.
  public var isBodyStreamed: Bool { call.isBodyStreamed(.request) }

  /// The live JSON document of the request; see `docs/schema`. With `body`, it includes the body, parsed if the media
  /// type is JSON.
  ///
  /// Returns nil in issue interceptors, and for ``DocumentAccess/writing`` if the call can only read the request.
  /// Release it before the method returns.
  public func document(for access: DocumentAccess, body: Bool = false) -> JSONValue? {
    call.document(.request, access, body: body)
  }

  /// Answers the request with a response of the stage. The response replaces the answer from the wire, or a failure.
  /// Returns an empty response for the stage to fill in. After that, the stage's method must still return.
  @discardableResult
  public func respond(status: Int) -> StageResponse {
    call.attempt { () throws(StageFailure) in try call.respond(status) }
    return StageResponse(call: call)
  }
}
