/// Takes notifications from outside.
///
/// The calls for one instance come one at a time, together with those of ``ScheduledWork``, on a thread of the host
/// that is not an event loop. The code before the first `await` may block. After it the method continues on an event
/// loop, which it must not block, and the next call may come.
public protocol NotificationHandler: Sendable {
  /// Whether the plugin takes this notification; if not, the next plugin is asked. Called before ``handle(_:)``.
  func takes(_ notification: PluginNotification) -> Bool

  /// Handles a notification that it takes. An error is logged, and counts as ``WorkOutcome/failed``. The task is cancelled
  /// when the instance ends; an outcome that comes after the deadline is counted as missed.
  func handle(_ notification: PluginNotification) async throws -> WorkOutcome
}

/// Does the work that ``PluginHost/schedule(_:every:timeout:)`` schedules, once per period.
///
/// For threads, errors and cancellation see ``NotificationHandler``. While the work is under way and not overdue, periods
/// are left out.
public protocol ScheduledWork: Sendable {
  /// The work of that name is due.
  func perform(_ name: String) async throws -> WorkOutcome
}
