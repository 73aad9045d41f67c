public import SluicePlugin

/// Sends a call-out to the server that the header `x-target` names, and sets the answer, or the code of the error, as a
/// header.
struct CallsInSwift: Plugin, RequestInterceptor {
  static let information = PluginInformation(
    id: "org.example.calls-in-swift", version: "1.0.0", summary: "A fixture of the tests.")

  private let host: PluginHost

  init(configuration: NoConfiguration, host: PluginHost) { self.host = host }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    guard let target = request.headers["x-target"] else { return }
    let parent = request.headers["x-alone"] == nil ? request : nil
    do {
      let call = CallRequest(
        method: "POST", url: target, headers: ["X-Many": "1", "x-many": "2"], body: [0xff, 0x00, 0x41],
        maximumResponseBytes: 1000)
      let answer = try await host.send(call, onBehalfOf: parent)
      request.headers["x-called"] = "\(answer.status) \(answer.header("Content-Type") ?? "-") \(answer.body.count)"
    } catch let failure as StageFailure {
      request.headers["x-failed"] = failure.code.rawValue
    } catch is CancellationError {
      host.log(.info, "cancelled=1")
      throw CancellationError()
    }
  }
}

/// The note: ABI 1, the required features suspend (1) and call-outs (128), and version 1.0.0.
@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.callout") @used let requiresCallout = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(CallsInSwift.self, host, abi, error)
}
