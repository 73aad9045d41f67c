import CLinux
import SluicePluginHost

/// How this process ends, whether the command or a plugin ends it.
///
/// Libraries of plugins stay mapped until the process ends. Their destructors and atexit(3) functions are skipped: they
/// would run while the threads of the plugins still work, and a crash there would turn a success into a failure.
enum ProcessEnd {
  /// The time limit for writing text that plugins have left in the buffers of stdio.
  private static let flushMilliseconds: UInt32 = 1000
  /// The time limit for writing results that are complete.
  private static let outputLimit = Duration.seconds(2)

  /// Ends the process with the status of its command.
  static func end(_ status: ExitStatus) -> Never {
    GivenFiles.removeAll()
    sluice_end_process(status.code, flushMilliseconds)
  }

  /// After this call, a plugin that calls exit(3) ends the process with a failure and a reason. Call this again
  /// whenever libraries were mapped. Otherwise the exit functions of these libraries would run first.
  static func watch() { sluice_watch_exit { ProcessEnd.exitWasCalled($0) } }

  /// Runs on the thread that called exit. That thread still holds the locks of its call, and all other threads keep
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
