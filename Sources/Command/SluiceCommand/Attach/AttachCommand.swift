import Sluice
import SluiceMessages
import SluiceSupport

/// `sluice attach`.
enum AttachCommand {
  static let description = CommandDescription(
    "attach", summary: "Run a program whose libcurl transfers go through the pipeline",
    operands: "[--] PROGRAM [ARG]...",
    details: """
      The program needs no change and no rebuild: it must use libcurl as a shared library, as curl, git, PHP, pycurl, R
      and Swift's URLSession do. Request stages run once for each transfer, issue stages and tracers for each hop. The
      response goes to the program as it comes.

      The exit status is that of the program; if a signal ended it, the same signal ends the command. The status is 127
      if the program is not found, and 126 if it cannot be run. Errors in the configuration are reported before the
      program starts. SLUICE_DISABLE=1 switches the pipeline off in a program.

      With --list the status is 0 if the program is reached, 1 if it never is, and 4 if only modules that it opens or
      programs that it starts may be reached.

      TRACEPARENT, TRACESTATE and BAGGAGE in the environment are the parent trace context.
      """,
    options: AttachOptions.all, takesProgram: true,
    run: { arguments throws(CommandError) in try attach(arguments) })

  private static func attach(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    if let program = arguments["list"] {
      guard arguments.program.isEmpty else {
        throw CommandError(.usage, "attach: --list takes one program and runs nothing; leave the other words out")
      }
      return try list(program)
    }
    guard !arguments.program.isEmpty else {
      throw CommandError(.usage, "attach: expected a program to run, such as: sluice attach -c FILE -- curl URL")
    }
    guard let file = arguments["config"] else {
      throw CommandError(.usage, "attach: expected -c FILE, a configuration")
    }
    if arguments.has("quiet") { LogOutput.adopt(LogOutput.Settings(least: .error)) }
    let libraries = try AttachLibraries.ofThisProgram()
    let plan = try AttachPlan(file, arguments)
    try plan.check()
    let blocked = AttachedProgram.holdSignals()
    plan.warnOfIneffectiveKeys()
    let folder = try AttachFolder(libraries)
    defer { folder.remove() }
    let first = try folder.publish(plan.text)
    AttachReload(plan, of: file, arguments, to: folder).start()
    let program = try AttachedProgram(
      arguments.program, preload: libraries.preloadName, first, plan.failsWithoutPipeline, folder, blocking: blocked)
    // Old folders are removed after the start of the program, so that the program does not have to wait for this.
    AttachFolder.removeAbandoned()
    let status = program.wait()
    AttachSummary(
      folder, explains: arguments.has("explain"), failsWithoutPipeline: plan.failsWithoutPipeline
    ).show()
    // The next call can end this process by a signal, which would skip `defer`.
    folder.remove()
    status.endAlike()
    return ExitStatus(code: status.shellStatus)
  }

  private static func list(_ program: String) throws(CommandError) -> ExitStatus {
    let reach = try ProgramReach(program)
    try StandardOutput.write(reach.lines.map { PrintableText.line($0) + "\n" }.joined())
    switch reach.answer {
    case .reached: return .succeeded
    case .never: return .failed
    case .perhaps: return .undecided
    }
  }
}

enum AttachOptions {
  static let all = [
    Option("config", "c", "FILE", "The configuration"),
    Option("explain", nil, nil, "Show, at the end, why each header that stages could set was sent or not"),
    Option("list", nil, "PROGRAM", "Say whether the transfers of a program are reached, and run nothing"),
    Option("events", nil, "DIR", "Write the events of each process to a file in this folder"),
    Option("quiet", "q", nil, "Write errors only: no warnings, and nothing about a new plan"),
  ]
}
