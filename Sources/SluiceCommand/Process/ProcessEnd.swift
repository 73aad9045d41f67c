import CLinux
import SluicePluginHost

/// How this process ends, whoever ends it.
///
/// Libraries of plugins stay mapped to the end. Their destructors and what they registered with atexit(3) would run while
/// threads of theirs still work, and one that crashes would turn a good end into a bad one: none of it runs.
enum ProcessEnd {
  /// For text that plugins have left in the buffers of stdio.
  private static let flushMilliseconds: UInt32 = 1000
  /// For results that are complete.
  private static let outputLimit = Duration.seconds(2)

  /// Ends the process with what its command came to.
  static func end(_ status: ExitStatus) -> Never { sluice_end_process(status.code, flushMilliseconds) }

  /// From here on a plugin that calls exit(3) ends the process with a failure and the reason. Called again when libraries
  /// were mapped, so that nothing they registered comes before.
  static func watch() { sluice_watch_exit { ProcessEnd.exitWasCalled($0) } }

  /// On the thread that called it: the locks of a call are still held there, and everything else goes on.
  private static func exitWasCalled(_ status: Int32) {
    StandardError.say(text(status, ThreadCall.current))
    ByteOutput.writeOut(within: outputLimit)
    end(.endedByPlugin)
  }

  static func text(_ status: Int32, _ call: ThreadCall?) -> String {
    let what = status == SLUICE_UNKNOWN_STATUS ? "quick_exit" : "exit(\(status))"
    let who = call.map { "\($0.subject) called \(what) in \($0.callback)" }
    return "error: \(who ?? "a plugin, or a library that it uses, called \(what) on a thread of its own"), which ends "
      + "the process: requests in flight have no result; a plugin answers with an error where it cannot go on, and "
      + "never calls exit"
  }
}
