import CSluice

/// Scheduled work, which its owner can cancel. Releasing this value does not cancel the work.
public struct Schedule: Sendable {
  let link: HostLink
  let timer: sluice_timer

  /// Stops the calls of ``ScheduledWork/perform(_:)``; a running call continues. The end of the instance does the same.
  public func cancel() {
    link.withHost { host in _ = host.timers?.pointee.cancel(host, timer) }
  }
}

extension PluginHost {
  /// Calls ``ScheduledWork/perform(_:)`` in every period, for the first time after one period. Allowed from
  /// ``Plugin/activate()`` on.
  ///
  /// - Parameters:
  ///   - name: is passed on to the call.
  ///   - period: a millisecond or more.
  ///   - timeout: if the work has not ended this long after it was due, it counts as missed.
  /// - Throws: ``StageFailure`` if the host does not accept it.
  @discardableResult
  public func schedule(_ name: String, every period: Duration, timeout: Duration) throws -> Schedule {
    var timer: sluice_timer = 0
    let status = link.withHost { host -> sluice_status in
      guard let timers = host.timers else { return sluice_status(SLUICE_STATUS_UNSUPPORTED) }
      return withText(name) {
        timers.pointee.schedule(host, $0, period.nanoseconds, timeout.nanoseconds, &timer)
      }
    }
    guard let status, status == SLUICE_STATUS_OK else { throw refusal(name, status) }
    return Schedule(link: link, timer: timer)
  }

  private func refusal(_ name: String, _ status: sluice_status?) -> StageFailure {
    let reason =
      switch status.map(Int.init) {
      case Int(SLUICE_STATUS_UNSUPPORTED): "this host does not support scheduled work"
      case Int(SLUICE_STATUS_LIMIT): "the instance has too much scheduled work"
      case nil, Int(SLUICE_STATUS_CLOSING): "the instance is not active"
      default: "it needs a period of 1 ms or more, a timeout, a name, and a type that conforms to ScheduledWork"
      }
    return StageFailure(message: "the work \"\(name)\" cannot be scheduled: \(reason)")
  }
}
