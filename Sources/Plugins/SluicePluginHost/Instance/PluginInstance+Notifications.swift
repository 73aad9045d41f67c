import CSluice
package import SluiceJSON
package import SluiceMessages
package import SluicePipeline
import SluiceSupport

/// The result of offering a notification to one instance.
package enum NotificationOffer: Sendable, Hashable {
  /// The plugin took the notification and reported an outcome, or had reported nothing at the deadline.
  case ended(WorkOutcome)
  /// The plugin does not want it.
  case passed
  /// The instance was called, but ended before there was an outcome.
  case cutOff
  /// The instance ended before it was called.
  case gone
}

extension PluginInstance {
  package var takesNotifications: Bool { notificationCalls.on_notification != nil }

  /// Offers a notification, and waits for its outcome if the plugin takes it.
  ///
  /// - Parameters:
  ///   - payload: the plugin gets this value and not a copy, so it can change it.
  ///   - deadline: the time until which the plugin must report the outcome. Earlier control calls do not extend it: if
  ///     the plugin is still busy with them at that time, it has missed the deadline.
  package func offer(_ topic: String, _ payload: JSONValue, until deadline: Instant) async -> NotificationOffer {
    guard takesNotifications else { return .passed }
    return await Handover.wait { outcome in
      offer(topic, payload, until: deadline) { outcome.give($0) }
    }
  }

  private func offer(
    _ topic: String, _ payload: JSONValue, until deadline: Instant,
    completion: @escaping @Sendable (NotificationOffer) -> Void
  ) {
    guard let loop = runtime.timerLoop else { return completion(.gone) }
    let wasCalled = Locked(false)
    let work = OpenWork(on: loop, until: deadline, in: completions) { end in
      completion(end == .cutOff && !wasCalled.withLock { $0 } ? .gone : NotificationOffer(end))
    }
    guard let token = work.open() else { return completion(.gone) }
    let isSubmitted = control.submit { [self] in
      wasCalled.withLock { $0 = true }
      if completions.isOpen(token) { callNotification(topic, payload, token) }
    }
    if !isSubmitted { completions.close(token, .cutOff) }
  }

  /// Runs on a control thread.
  private func callNotification(_ topic: String, _ payload: JSONValue, _ token: CompletionToken) {
    guard let function = notificationCalls.on_notification else { return }
    let status = topic.withText { topic in
      payload.withUnsafeJSON { payload in
        subject.call(.onNotification) { function(handle, topic, payload, sluice_completion(token)) }
      }
    }
    guard status != Status.ok else { return }
    if status < 0 {
      hostHandle.log(.warning, "answered \(status) to the notification \"\(topic)\", which is passed on")
    }
    if completions.close(token, .passed) || !completions.wasCompleted(token) { return }
    hostHandle.report(.passedOnCompleted, "\"\(topic)\"")
  }
}

extension NotificationOffer {
  fileprivate init(_ end: OpenWork.End) {
    switch end {
    case .outcome(let outcome): self = .ended(outcome)
    case .passed: self = .passed
    case .cutOff: self = .cutOff
    }
  }
}
