extension StageRequest {
  /// Asks for the whole body of this transaction, in memory or in a file (`sluice.want-body/1`, a draft); only in
  /// request interceptors. Unlike with ``PluginOptions/wantsRequestBody`` and ``PluginOptions/wantsResponseBody``, the
  /// bodies of all other transactions still stream.
  ///
  /// With `response`, this stage's response interceptor is called with the whole body. With `request`, if the whole
  /// body is not available yet, the request interceptor is called again when the body is complete, unless the
  /// interceptor has returned with a response. If the host refuses, the call fails.
  public func wantBody(of side: BodySide) {
    call.attempt { () throws(StageFailure) in try call.wantBody(side.message) }
  }
}
