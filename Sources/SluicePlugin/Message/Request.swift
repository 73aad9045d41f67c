public import SluiceJSON

/// The request of an exchange, in the host; valid until the intercepting method returns.
///
/// After that, or on the thread of another executor (`@MainActor`), reading returns nil or nothing, and writing does
/// nothing; both are logged once for each call. A write that the host refuses fails the call.
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

  /// The live JSON document of the request; see `docs/schema`. With `body`, it includes the body, parsed if the media
  /// type is JSON.
  ///
  /// nil in issue interceptors, and for writing if the request is read-only. Release it before the method returns.
  public func document(for access: DocumentAccess, body: Bool = false) -> JSONValue? {
    call.document(.request, access, body: body)
  }

  /// Answers with a response of the stage in place of the wire or of a failure. Returns the response, which is empty,
  /// to fill in. The method must still return.
  @discardableResult
  public func respond(status: Int) -> StageResponse {
    call.attempt { () throws(StageFailure) in try call.respond(status) }
    return StageResponse(call: call)
  }
}
