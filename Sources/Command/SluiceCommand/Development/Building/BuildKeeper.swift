import CLinux
import Glibc
import SluicePluginHost
import SluiceSupport
import SluiceTrial

/// Runs a build in a separate process, which `sluice dev` starts with hidden arguments. When the supervisor asks for it
/// or ends, this process kills everything that the build has started, and ends.
enum BuildKeeper {
  static let arguments = ["dev", "build"]

  /// - Parameter words: the folder to run in, then the program and its arguments.
  static func run(_ words: [String]) -> ExitStatus {
    guard let folder = words.first, words.count > 1, chdir(folder) == 0, sluice_adopt_orphans() == 0 else {
      StandardError.say("cannot build in \(words.first ?? "?"): \(String(cString: strerror(errno)))")
      return .usage
    }
    do throws(CommandError) {
      let process = try start(Array(words.dropFirst()))
      let status = wait(for: process)
      TrialSupervisor.endDescendants(andGroup: process)
      return ExitStatus(code: status)
    } catch {
      StandardError.say(error.message)
      return error.status
    }
  }

  private static func start(_ words: [String]) throws(CommandError) -> pid_t {
    var program = ProgramStart(words)
    // The build must not read the channel, which is the standard input of this process.
    program.input = .nothing
    program.leadsGroup = true
    do {
      return try program.run()
    } catch {
      throw CommandError(cannotRun: words, error)
    }
  }

  /// Returns the status of the program, or 1 if the supervisor has sent a message or closed the channel.
  private static func wait(for process: pid_t) -> Int32 {
    let ended = sluice_open_process(process)
    while true {
      var polled = [
        pollfd(fd: ended, events: Int16(POLLIN), revents: 0),
        pollfd(fd: StandardInput.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      // Old kernels cannot open a descriptor for a process. On them, this checks every 20 ms whether the process has
      // ended.
      poll(&polled, nfds_t(polled.count), ended < 0 ? 20 : -1)
      var status: Int32 = 0
      if waitpid(process, &status, WNOHANG) == process {
        return WaitStatus(status).shellStatus
      }
      if polled[1].revents != 0 { return 1 }
    }
  }
}
