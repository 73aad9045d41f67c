import CSluice
import SluicePipeline

/// The table `sluice.work/1`.
enum WorkFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_work> = {
    let table = UnsafeMutablePointer<sluice_work>.allocate(capacity: 1)
    table.initialize(
      to: sluice_work(
        size: UInt32(MemoryLayout<sluice_work>.size), reserved: 0, run: { WorkFunctions.run($0, $1, $2, $3, $4) }))
    return UnsafePointer(table)
  }()

  private static func run(
    _ host: UnsafePointer<sluice_host>?, _ parent: sluice_token, _ function: PluginWork.Function?,
    _ completion: PluginWork.Completion?, _ context: UnsafeMutableRawPointer?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), handle.runtime != nil else { return Status.closing }
    guard let function, let completion else {
      handle.report(.invalidArgument, "work without a function or a completion")
      return Status.invalid
    }
    guard let instance = handle.instance else {
      guard !handle.wasBound else { return Status.closing }
      handle.report(.earlyWork)
      return Status.refused
    }
    let parent = SuspensionToken(parent)
    return instance.startWork(
      PluginWork.Order(
        parent: parent.isNone ? nil : parent, function: function, completion: completion,
        context: UncheckedPointer(context)))
  }
}
