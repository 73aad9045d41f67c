extension StageRequest {
  /// Asks for the whole body of this transaction, in memory or in a file (`sluice.want-body/1`, a draft); only in request
  /// interceptors. The bodies of all other transactions still stream, which ``PluginOptions/wantsRequestBody`` and
  /// ``PluginOptions/wantsResponseBody`` do not allow.
  ///
  /// With `response`, this stage's response interceptor is called with the whole body. With `request`, if the body is not
  /// there yet, the request interceptor is called again when it is, provided that it returns without a response. A host
  /// that refuses fails the call.
  public func wantBody(of side: BodySide) {
    call.attempt { () throws(StageFailure) in try call.wantBody(side.message) }
  }
}
