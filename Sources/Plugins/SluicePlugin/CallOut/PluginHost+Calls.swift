import CSluice

extension PluginHost {
  /// Sends a request of the plugin itself, and waits for the whole response, whatever its status.
  ///
  ///     let answer = try await host.send(CallRequest(url: "https://users.example.com/7"), onBehalfOf: request)
  ///     guard answer.status == 200 else { throw PluginFailure(message: "the directory answered \(answer.status)") }
  ///
  /// The call-out runs no stages, so a plugin never calls itself. The call-out uses the engine's connections and
  /// follows no redirect. Cancelling the task ends the call-out.
  ///
  /// - Parameter request: the exchange that waits for the response, inside an `async` method of an interceptor: its
  ///   deadline limits the call-out, and its end cancels the call-out. nil for a call-out for which other exchanges
  ///   wait too.
  /// - Throws: `CancellationError` in a cancelled task; otherwise ``StageFailure`` with the code `dns`, `connect`,
  ///   `tls`, `timeout`, `connection_lost`, `response_too_large` …, or `limit` if too many calls are running, `closing`
  ///   if the instance is ending, `refused` in a trial run, `unsupported` in a host without call-outs.
  public func send(_ call: CallRequest, onBehalfOf request: StageRequest? = nil) async throws -> CallResponse {
    var parent = sluice_token()
    if let request {
      guard let token = (request.call as? SuspendableCall)?.tokenForCalls() else {
        try Task.checkCancellation()
        throw StageFailure(
          code: "cancelled", message: "the request that waits for the call-out has ended, or its call cannot wait")
      }
      parent = token
    }
    return try await PendingCall(link).response(to: call, parent: parent)
  }
}
