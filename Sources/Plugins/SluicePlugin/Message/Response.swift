public import SluiceJSON

/// The response of an exchange, in the host; valid until the intercepting method returns, like ``StageRequest``.
public struct StageResponse: Sendable {
  let call: ExchangeCall

  /// The fields in the host, not a copy. Writable in response interceptors and after ``StageRequest/respond(status:)``.
  public var headers: Headers { Headers(call: call, side: .response) }

  /// The status code, from 200 to 999; 0 if there is no response.
  public var status: Int {
    get { call.status }
    nonmutating set { call.attempt { () throws(StageFailure) in try call.setStatus(newValue) } }
  }

  /// The body in memory. Nil if there is no body, if the body is in a ``bodyFile``, or if the stage does not have
  /// ``PluginOptions/wantsResponseBody``. Setting nil empties it.
  public var body: [UInt8]? {
    get { call.body(.response) }
    nonmutating set { call.attempt { () throws(StageFailure) in try call.setBody(.response, newValue ?? []) } }
  }

  /// The file of a body that is too large for memory. Nil for every other body, and if the stage does not have
  /// ``PluginOptions/wantsResponseBody``.
  public var bodyFile: BodyFile? { call.bodyFile(.response) }

  /// The live JSON document of the response; as with ``StageRequest/document(for:body:)``.
  public func document(for access: DocumentAccess, body: Bool = false) -> JSONValue? {
    call.document(.response, access, body: body)
  }

  /// The request that this response answers, only for reading.
  public var request: StageRequest { StageRequest(call: call) }
}
