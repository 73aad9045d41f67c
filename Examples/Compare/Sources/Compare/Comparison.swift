import Dispatch
import Foundation

/// Makes the same calls with Foundation's URLSession and with a Sluice client, with servers that this program runs, and
/// prints a table. Each call runs in a child process, so that a crash or a hang ends only that call.
///
///     Compare                   all calls
///     Compare sluice            all calls, with Sluice alone
///     Compare CALL CLIENT       one call in this process; the servers are in the environment
///
/// Exits with status 1 if a call with Sluice fails.
@main
struct Comparison {
  /// A call that takes longer than this counts as hanging.
  static let deadline = DispatchTimeInterval.seconds(10)

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { return compare(withURLSession: arguments.last != "sluice") }
    await run(arguments[1], with: arguments[2])
  }

  /// Makes one call. Runs in the child, and prints only what went wrong.
  private static func run(_ name: String, with client: String) async {
    guard let call = calls.first(where: { $0.name == name }), let site = Site(ProcessInfo.processInfo.environment)
    else {
      return print("there is no such call")
    }
    do {
      if client == "sluice" { try await call.sluice(site) } else { try await call.urlSession?(site) }
    } catch { print("\(error)".prefix(60)) }
    exit(0)
  }

  private static func compare(withURLSession: Bool) {
    do {
      let servers = try Servers()
      var isGood = true
      show("call", "Sluice", "URLSession")
      for call in calls {
        let ours = outcome(call, "sluice", servers.site)
        isGood = isGood && ours == "passes"
        guard withURLSession else { show(call.name, ours); continue }
        show(call.name, ours, call.urlSession == nil ? "no such call" : outcome(call, "urlsession", servers.site))
      }
      servers.stop()
      exit(isGood ? 0 : 1)
    } catch {
      print("compare: \(error)")
      exit(2)
    }
  }

  private static func show(_ name: String, _ columns: String...) {
    print(([name.padding(toLength: 44, withPad: " ", startingAt: 0)] + columns).joined(separator: "  "))
    fflush(nil)
  }

  /// Runs a child, and kills it after the deadline.
  private static func outcome(_ call: Call, _ client: String, _ site: Site) -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [call.name, client]
    process.environment = ProcessInfo.processInfo.environment.merging(site.environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    do { try process.run() } catch { return "cannot be started: \(error)" }
    if ended.wait(timeout: .now() + deadline) == .timedOut {
      kill(process.processIdentifier, SIGKILL)
      ended.wait()
      return "hangs"
    }
    if process.terminationReason == .uncaughtSignal { return "crashes (signal \(process.terminationStatus))" }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let line = text.split(separator: "\n").first.map(String.init)
    return line.map { "fails: \($0)" } ?? (process.terminationStatus == 0 ? "passes" : "exits")
  }
}
