import Synchronization

/// Calls functions with the task-local values of the code that has created this object.
///
/// Only a task can inherit task-local values. So there is a task that does nothing but call functions. Its jobs do not
/// go to another thread: the thread that calls ``run(_:)`` executes them.
final class CallerContext: Sendable {
  private let carrier = Carrier()
  private let isBusy = Atomic(false)

  init() { carrier.begin() }

  deinit { carrier.step(nil) }

  /// Calls the function on this thread. If another function of this context is being called, as when a delegate blocks
  /// its loop, calls the function without the values.
  func run<Result>(_ body: () -> Result) -> Result {
    guard !isBusy.exchange(true, ordering: .acquiring) else { return body() }
    defer { isBusy.store(false, ordering: .releasing) }
    var result: Result?
    withoutActuallyEscaping({ result = body() }) { carrier.step($0) }
    return result ?? body()
  }
}

/// The task of a context, and its executor.
///
/// `Sendable` is unchecked. The thread that creates the context uses it first; afterwards, ``CallerContext/isBusy``
/// keeps all threads but one away, and the last user of the context ends it.
private final class Carrier: TaskExecutor, @unchecked Sendable {
  /// The next job of the task, which its thread runs at once.
  private var job: UnownedJob?
  private var function: (() -> Void)?
  /// Set while the task waits for a function.
  private var rest: UnsafeContinuation<Void, Never>?

  /// Must be called once, in the code whose values the functions get.
  func begin() {
    Task(executorPreference: self) { [self] in
      while callFunction() { await withUnsafeContinuation { rest = $0 } }
    }
  }

  /// Lets the task call the function, and returns when it has done so; nil ends the task.
  func step(_ function: (() -> Void)?) {
    self.function = function
    // A task that waits gets its job during `resume`. The first job is already here.
    rest.take()?.resume()
    job.take()?.runSynchronously(on: asUnownedTaskExecutor())
  }

  func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }

  /// Returns false if there is no function. The function is released before this returns.
  private func callFunction() -> Bool {
    guard let function = function.take() else { return false }
    function()
    return true
  }
}
