/// Takes notifications from outside.
///
/// The host makes one call at a time for an instance; this includes the calls of ``ScheduledWork``. The calls come on a
/// thread of the host that is not an event loop, so the code before the first `await` may block. After the first
/// `await`, the method continues on an event loop, which it must not block, and the next call can come.
public protocol NotificationHandler: Sendable {
  /// Returns whether the plugin takes this notification. If it returns true, ``handle(_:)`` is called; if it returns
  /// false, the notification is offered to the next plugin.
  func takes(_ notification: PluginNotification) -> Bool

  /// Handles a notification that ``takes(_:)`` has accepted. An error is logged, and counts as ``WorkOutcome/failed``.
  /// The task is cancelled when the instance ends; an outcome that comes after the deadline is counted as missed.
  func handle(_ notification: PluginNotification) async throws -> WorkOutcome
}

/// Does the work that ``PluginHost/schedule(_:every:timeout:)`` schedules, once per period.
///
/// For threads, errors and cancellation see ``NotificationHandler``. If a period begins while the work of an earlier
/// period still runs and is not overdue, the new period is skipped.
public protocol ScheduledWork: Sendable {
  /// Called when the work of that name is due.
  func perform(_ name: String) async throws -> WorkOutcome
}
