import SluiceSupport

/// The threads on which Swift runs tasks.
enum TaskPool {
  /// Starts the pool while there are free descriptors: libdispatch ends the process if its first task finds none.
  static func start() {
    let hasStarted = Monitor(false)
    Task.detached { hasStarted.update { $0 = true } }
    hasStarted.wait { $0 ? () : nil }
  }
}
