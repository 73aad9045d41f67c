import CSluice
import SluicePipeline
import SluiceSupport

// Requests that the plugin makes itself.
extension PluginInstance {
  enum CallOutRefusal: Error { case tooMany, closing, stale }

  /// Begins a call-out on a loop: on the loop of the parent exchange if there is one, otherwise on the calling loop,
  /// otherwise on any loop. [any]
  func startCallOut(_ order: CallOut.Order) -> Result<UInt64, CallOutRefusal> {
    guard !runtime.gate.isClosed else { return .failure(.closing) }
    guard let environment = callOutEnvironment(order.parent) else { return .failure(.stale) }
    // The call-out is counted before it is added to the set. If another thread closes the set at the same time, that
    // thread then either waits for this call-out, or has closed the set before `add`, which fails.
    openWork.update { $0 += 1 }
    let started = post(order, to: environment)
    if case .failure = started { openWork.update { $0 -= 1 } }
    return started
  }

  private func post(_ order: CallOut.Order, to environment: LoopEnvironment) -> Result<UInt64, CallOutRefusal> {
    let added = callOuts.add(limit: runtime.callOuts.maximumUnderWay) {
      CallOut($0, order, of: self, on: environment)
    }
    let call: CallOut
    switch added {
    case .success(let made): call = made
    case .failure(.closed): return .failure(.closing)
    case .failure(.tooMany(let count)): return refuse(count)
    }
    // The id is read before the call-out is posted, because the call-out can be over when `post` returns.
    let id = call.id
    guard runtime.post(to: environment.loop, { call.begin() }) else {
      _ = callOuts.remove(id)
      return .failure(.closing)
    }
    return .success(id)
  }

  private func callOutEnvironment(_ parent: SuspensionToken?) -> LoopEnvironment? {
    guard let parent else { return runtime.currentLoop ?? runtime.nextLoop }
    guard let environment = environment(of: parent), environment.suspensions.isSuspended(parent) else { return nil }
    return environment
  }

  /// Only the first, the tenth, the hundredth refusal and so on are logged.
  private func refuse(_ count: Int) -> Result<UInt64, CallOutRefusal> {
    var number = count
    while number % 10 == 0 { number /= 10 }
    if number == 1 {
      hostHandle.log(
        .warning,
        "has \(runtime.callOuts.maximumUnderWay) call-outs under way, which is the limit; refused \(count) so far")
    }
    return .failure(.tooMany)
  }
}

extension PluginInstance.CallOutRefusal {
  var status: sluice_status {
    switch self {
    case .tooMany: Status.limit
    case .closing: Status.closing
    case .stale: Status.stale
    }
  }
}
