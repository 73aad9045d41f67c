import SluiceSupport

/// The threads on which Swift runs tasks.
enum TaskPool {
  /// Starts the pool early, while file descriptors are free: libdispatch ends the process if it finds no free
  /// descriptor for the first task.
  static func start() {
    let hasStarted = Monitor(false)
    Task.detached { hasStarted.update { $0 = true } }
    hasStarted.wait { $0 ? () : nil }
  }
}
