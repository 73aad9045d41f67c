import CLinux
import Glibc
import SluiceSupport

/// The threads on which Swift runs tasks.
enum TaskPool {
  /// The number of descriptors that libdispatch needs for its threads.
  private static let descriptorCount = 4

  /// Without `/proc`, tasks get threads of the command: libdispatch ends the process if it cannot read there how its
  /// threads are doing.
  static func avoidProc() {
    guard access("/proc/self/stat", F_OK) != 0 else { return }
    sluice_run_tasks_on_threads(CInt(clamping: max(4, sysconf(CInt(_SC_NPROCESSORS_ONLN)))))
  }

  /// Starts the pool early, while file descriptors are free: libdispatch ends the process if it finds no free
  /// descriptor for the first task.
  static func start() throws(CommandError) {
    let spare = (0..<descriptorCount).map { _ in open("/", O_RDONLY | O_CLOEXEC) }
    for descriptor in spare where descriptor >= 0 { close(descriptor) }
    guard spare.allSatisfy({ $0 >= 0 }) else {
      throw CommandError(
        .failed, "cannot start the threads: no descriptors are left; allow more open files (ulimit -n)")
    }
    let hasStarted = Monitor(false)
    Task.detached { hasStarted.update { $0 = true } }
    hasStarted.wait { $0 ? () : nil }
  }
}
