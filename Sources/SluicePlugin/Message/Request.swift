public import SluiceJSON

/// The request of an exchange, where it lies; good until the intercepting method returns.
///
/// Reading after that, or on a thread that the call was taken to by an executor of its own (`@MainActor`), gives nil or
/// nothing; writing does nothing; both are logged once a call. What the host refuses to write fails the call.
public struct Request: Sendable {
  let call: ExchangeCall

  public var headers: Headers { Headers(call: call, side: .request) }

  public var method: String {
    get { call.method ?? "" }
    nonmutating set { call.attempt { () throws(PluginFailure) in try call.setMethod(newValue) } }
  }

  /// The absolute URL; for issue interceptors that of the hop.
  public var url: String {
    get { call.url ?? "" }
    nonmutating set { call.attempt { () throws(PluginFailure) in try call.setURL(newValue) } }
  }

  /// The body in memory; nil without a body, or if it is streamed or in a ``bodyFile``. Setting nil empties it.
  public var body: [UInt8]? {
    get { call.body(.request) }
    nonmutating set { call.attempt { () throws(PluginFailure) in try call.setBody(.request, newValue ?? []) } }
  }

  /// Where a large body lies instead.
  public var bodyFile: BodyFile? { call.bodyFile(.request) }

  /// The live JSON document of the request; see `docs/schema`. With `body`, its body member is there too, parsed where
  /// the media type is JSON.
  ///
  /// nil in issue interceptors, and for writing where the request is read only. Let go of it before the method returns.
  public func document(for access: DocumentAccess, body: Bool = false) -> JSONValue? {
    call.document(.request, access, body: body)
  }

  /// Answers in place of the wire, or of a failure, with an empty response to fill. The call still has to return.
  @discardableResult
  public func respond(status: Int) -> Response {
    call.attempt { () throws(PluginFailure) in try call.respond(status) }
    return Response(call: call)
  }
}
