import CLinux
import SluicePluginHost

/// How this process ends, whether the command or a plugin ends it.
///
/// Libraries of plugins stay mapped to the end. Their destructors and their atexit(3) functions would run while their
/// threads still work, and a crash there would turn a success into a failure. So they do not run.
enum ProcessEnd {
  /// The time for writing text that plugins have left in the buffers of stdio.
  private static let flushMilliseconds: UInt32 = 1000
  /// The time for writing results that are complete.
  private static let outputLimit = Duration.seconds(2)

  /// Ends the process with the status of its command.
  static func end(_ status: ExitStatus) -> Never {
    GivenFiles.removeAll()
    sluice_end_process(status.code, flushMilliseconds)
  }

  /// After this call, a plugin that calls exit(3) ends the process with a failure and a reason. Call this again after
  /// libraries were mapped, so that functions which they registered do not run first.
  static func watch() { sluice_watch_exit { ProcessEnd.exitWasCalled($0) } }

  /// Runs on the thread that called exit: that thread still holds the locks of its call, and all other threads keep
  /// running.
  private static func exitWasCalled(_ status: Int32) {
    StandardError.say(text(status, ThreadCall.current))
    ByteOutput.writeOut(within: outputLimit)
    end(.endedByPlugin)
  }

  static func text(_ status: Int32, _ call: ThreadCall?) -> String {
    let what = status == SLUICE_UNKNOWN_STATUS ? "quick_exit" : "exit(\(status))"
    let who = call.map { "\($0.subject) called \(what) in \($0.callback)" }
    return "error: \(who ?? "a plugin, or a library that it uses, called \(what) on a thread of its own"), which ends "
      + "the process: requests in flight have no result; a plugin must return an error when it cannot continue, and "
      + "must never call exit"
  }
}
