import CSluice
package import SluiceMessages
package import SluicePipeline

extension PluginInstance {
  package func interceptRequest(_ exchange: Exchange) -> Verdict {
    calls.on_request == nil ? .proceed : run(.request, exchange)
  }

  package func interceptResponse(_ exchange: Exchange) -> Verdict {
    calls.on_response == nil ? .proceed : run(.response, exchange)
  }

  package func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict {
    calls.on_failure == nil ? .proceed : run(.failure(failure), exchange)
  }

  /// Runs on the loop, even for a BLOCKING instance.
  package func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict {
    calls.on_redirect == nil ? .proceed : runInTurn(.redirect(redirect), exchange)
  }

  package func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict {
    calls.on_challenge == nil ? .proceed : runInTurn(.challenge(offer), exchange)
  }

  package func interceptIssue(_ exchange: Exchange) -> Verdict {
    guard let function = calls.on_issue else { return .proceed }
    return withTurn {
      var context = CallContext(self, exchange, .issue)
      let verdict = CallContext.push(&context) { function(handle, OpaquePointer(bitPattern: $0.pointee.name)) }
      return settle(verdict, &context, exchange)
    } ?? .fault(.noTurn)
  }

  package func interceptInformational(_ exchange: Exchange, _ status: Int, _ headers: HeaderFields) {
    guard let function = calls.on_informational else { return }
    withTurn {
      headers.buffer.withUnsafeBufferPointer { bytes in
        let fields = headers.indices.map { index in
          sluice_field(
            name: sluice_text(UnsafeBufferPointer(rebasing: bytes[headers.nameRange(at: index)])),
            value: sluice_text(UnsafeBufferPointer(rebasing: bytes[headers.valueRange(at: index)])))
        }
        fields.withUnsafeBufferPointer { fields in
          var record = sluice_informational(
            size: UInt32(MemoryLayout<sluice_informational>.size), status: UInt32(clamping: status),
            fields: fields.baseAddress, field_count: fields.count)
          var context = CallContext(self, exchange, .informational)
          CallContext.push(&context) { function(handle, OpaquePointer(bitPattern: $0.pointee.name), &record) }
        }
      }
    }
  }

  package func warn(about fields: DerivedFields) { hostHandle.warn(about: fields) }

  package func suspensionWasCancelled(_ token: SuspensionToken) {
    if hasHostTokens, takeHostToken(token) { return }
    callOuts.cancelAll(for: token)
    dropWork(for: token)
    guard calls.on_cancel != nil else { return }
    if isBlocking, turns != nil, let environment = environment(of: token) {
      return cancelInTurn(token, on: environment.loop)
    }
    withTurn { cancel(token) }
  }

  func cancel(_ token: SuspensionToken) {
    guard let function = calls.on_cancel else { return }
    subject.call(.onCancel) { function(handle, sluice_token(token)) }
  }

  @inline(__always)
  private func run(_ call: @autoclosure () -> InterceptorCall, _ exchange: Exchange) -> Verdict {
    if hasHostTokens { return isBlocking ? runBlocking(call(), exchange) : runInTurn(call(), exchange) }
    return perform(call(), on: exchange)
  }

  /// Makes a call that cannot suspend. In a SERIAL instance, it first waits until the running call has returned.
  /// Returns nil, without a call, if the running call does not return.
  ///
  /// If the instance is also BLOCKING, that could take long. So ``PluginTables`` refuses an instance that has both
  /// flags and calls of this kind.
  @inline(__always)
  @discardableResult
  func withTurn<Result>(_ body: () -> Result) -> Result? {
    guard let turns else { return body() }
    guard turns.begin(on: runtime.currentLoop?.loop.index) else { return nil }
    defer { turns.end() }
    return body()
  }
}
