import CJansson
import CSluice
import SluiceJSON

/// The table `sluice.notifications/1`, with NULL for a function that the stage lacks; nil if it lacks both.
func makeNotificationTable(_ kinds: StageKinds) -> sluice_notifications? {
  var table = sluice_notifications()
  table.size = UInt32(MemoryLayout<sluice_notifications>.size)
  if kinds.contains(.notifications) { table.on_notification = { handleNotification($0, $1, $2, $3) } }
  if kinds.contains(.scheduledWork) { table.on_schedule = { performSchedule($0, $1, $2) } }
  return table.on_notification == nil && table.on_schedule == nil ? nil : table
}

private func handleNotification(
  _ instance: UnsafeMutableRawPointer?, _ topic: sluice_text, _ payload: UnsafeMutablePointer<json_t>?,
  _ completion: sluice_completion
) -> sluice_status {
  let passedOn = sluice_status(SLUICE_STATUS_ABSENT)
  guard let instance = Instance.from(instance), let handler = instance.parts.notifications, let payload,
    let copy = try? JSONValue(retaining: payload).deepCopy()
  else { return passedOn }
  let notification = PluginNotification(topic: String(topic), payload: copy)
  guard handler.takes(notification) else { return passedOn }
  instance.work(completion, "notification \"\(notification.topic)\"") { try await handler.handle(notification) }
  return sluice_status(SLUICE_STATUS_OK)
}

private func performSchedule(
  _ instance: UnsafeMutableRawPointer?, _ name: sluice_text, _ completion: sluice_completion
) {
  guard let instance = Instance.from(instance), let work = instance.parts.scheduled else { return }
  let name = String(name)
  instance.work(completion, "scheduled work \"\(name)\"") { try await work.perform(name) }
}
