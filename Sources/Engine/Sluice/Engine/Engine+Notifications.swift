import SluiceAssembly
public import SluiceJSON
public import SluiceMessages
package import SluicePipeline
import SluicePluginHost
import SluiceSupport
import Synchronization

extension Engine {
  /// Offers a notification to the plugins in the order of the configuration until one takes it, and waits for its outcome.
  /// A notification that no plugin takes goes to the handler of the program, once. With signed releases
  /// (``Configuration/update``), the topic `ota_update` goes to the updater instead.
  ///
  /// Can be called on any thread. The outcome is delivered exactly once, even if the engine is shut down in the
  /// meantime. Cancelling the task does not cancel a notification.
  ///
  /// - Parameters:
  ///   - topic: a name that the sender and the plugins have agreed on, for instance `config-changed`.
  ///   - payload: each plugin gets its own copy.
  ///   - deadline: for all plugins together. If a plugin has the notification when the deadline passes, this plugin has
  ///     missed the deadline. The notification is not offered to another plugin, because this plugin can still act on
  ///     it. The program's handler has no deadline.
  public func notify(
    topic: String, payload: JSONValue = .object(), deadline: Duration = .seconds(30)
  ) async -> NotificationResult {
    let clock = ContinuousClock()
    let started = clock.now
    let (taker, outcome) = await deliver(topic, payload, deadline)
    return NotificationResult(taker: taker, outcome: outcome, duration: clock.now - started)
  }

  /// Sets the handler for notifications that no plugin takes. If it is nil, the default, such notifications are logged
  /// and reported as not taken.
  ///
  /// - Parameter handler: gets the topic and the payload. It returns nil if the program does not take the notification
  ///   either.
  public func setNotificationHandler(_ handler: (@Sendable (String, JSONValue) async -> WorkOutcome?)?) {
    notificationHandler.withLock { $0 = handler }
  }

  /// Reports about the scheduled work of each plugin so far, in the order of the configuration.
  package var schedules: [ScheduleReport] { swaps.published.instances.flatMap(\.schedules) }

  private func deliver(
    _ topic: String, _ payload: JSONValue, _ deadline: Duration
  ) async -> (NotificationResult.Taker?, NotificationResult.Outcome) {
    if topic == Self.updateTopic, let updater = updater.withLock({ $0 }) {
      return (.updater, .ended(await updater.update(payload)))
    }
    let end = swaps.runtime.now + deadline
    for name in swaps.published.parts.map(\.plugin.name) {
      while let plugin = swaps.published.part(name)?.instance, plugin.takesNotifications {
        if isClosed.load(ordering: .sequentiallyConsistent) { return (nil, .closing) }
        // Copying fails only for a payload that contains itself, which only C code can create.
        guard let copy = try? payload.deepCopy() else { return await deliverToProgram(topic, payload) }
        let taker = NotificationResult.Taker.plugin(
          stage: plugin.name, id: plugin.generation.id, generation: plugin.generation.number)
        let offer = await plugin.offer(topic, copy, until: end)
        if case .ended(let outcome) = offer { return (taker, .ended(outcome)) }
        if offer == .cutOff { return cutOff(topic, plugin, taker) }
        // A swap has replaced the instance before it got the notification, so the new instance gets it.
        if offer == .gone, swaps.published.part(name)?.instance !== plugin { continue }
        break
      }
    }
    if isClosed.load(ordering: .sequentiallyConsistent) { return (nil, .closing) }
    return await deliverToProgram(topic, payload)
  }

  /// The result of a notification if its instance ended before there was an outcome.
  private func cutOff(
    _ topic: String, _ plugin: PluginInstance, _ taker: NotificationResult.Taker
  ) -> (NotificationResult.Taker?, NotificationResult.Outcome) {
    if isClosed.load(ordering: .sequentiallyConsistent) { return (nil, .closing) }
    swaps.log(
      LogLine(
        level: .warning, plugin: plugin.generation.id, generation: plugin.generation.number, stage: plugin.name,
        message: "plugin \"\(plugin.name)\" was replaced, and ended after swap.drain before the notification "
          + "\"\(topic)\" had an outcome; notify again, or raise swap.drain"))
    return (taker, .replaced)
  }

  private func deliverToProgram(
    _ topic: String, _ payload: JSONValue
  ) async -> (NotificationResult.Taker?, NotificationResult.Outcome) {
    if let handler = notificationHandler.withLock({ $0 }), let outcome = await handler(topic, payload) {
      return (.program, .ended(outcome))
    }
    swaps.log(LogLine(level: .info, message: "no receiver took the notification \"\(topic)\""))
    return (nil, .notTaken)
  }
}
