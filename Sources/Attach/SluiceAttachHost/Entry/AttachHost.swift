public import CAttachABI
import SluiceAssembly
import SluiceForeign
import SluiceSupport

/// The function that the preloaded library looks up.
@c(sluice_attach_host)
public func openAttachHost(_ program: UnsafePointer<sluice_attach_program>?) -> UnsafePointer<sluice_attach_host>? {
  guard let program, program.pointee.abi == SLUICE_ATTACH_ABI else { return nil }
  return AttachHost.open(program.pointee)
}

/// Implements the functions of the host's table, for this process.
enum AttachHost {
  private struct State {
    var pipeline: AttachedPipeline?
    /// The pipelines of the processes from which this process was forked.
    var abandoned: [AttachedPipeline] = []
    var folder = ""
    var program = ProgramFunctions(sluice_attach_program())
  }

  private static let state = Locked(State())

  static func open(_ program: sluice_attach_program) -> UnsafePointer<sluice_attach_host> {
    let functions = ProgramFunctions(program)
    functions.watchThreads()
    state.withLock { state in
      state.folder = program.folder.string
      state.program = functions
    }
    // The table is never freed, because the preloaded library uses it until the process ends.
    let table = UnsafeMutablePointer<sluice_attach_host>.allocate(capacity: 1)
    table.initialize(
      to: sluice_attach_host(
        abi: SLUICE_ATTACH_ABI,
        take_plan: { AttachHost.takePlan($0, $1, $2) },
        begin: { AttachHost.begin($0, $1, $2) },
        go_on: { AttachHost.goOn($0, $1, $2) },
        issue: { AttachHost.issue($0, $1, $2) },
        receive: { AttachHost.receive($0, $1, $2) },
        end: { AttachHost.end($0, $1) },
        forked: { AttachHost.forked() },
        calls_out: { AttachHost.callsOut() },
        close: { AttachHost.close() }))
    return UnsafePointer(table)
  }

  private static func takePlan(_ bytes: UnsafePointer<CChar>?, _ length: Int, _ number: UInt64) -> Int32 {
    let (known, folder, program) = state.withLock { ($0.pipeline, $0.folder, $0.program) }
    let reporter = FileReporter(folder: folder)
    do {
      let plan = try Plan(Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length)))
      let pipeline = known ?? AttachedPipeline(plan, program, reporter: reporter)
      try pipeline.take(plan)
      state.withLock { $0.pipeline = pipeline }
      return 0
    } catch {
      reporter.log(LogLine(level: .error, message: "plan \(number) cannot be used: \(error)"))
      return -1
    }
  }

  private static func begin(
    _ request: UnsafePointer<sluice_attach_request>?, _ blocks: Bool,
    _ answer: UnsafeMutablePointer<sluice_attach_answer>?
  ) -> UnsafeMutableRawPointer? {
    guard let request, let answer else { return nil }
    answer.pointee.outcome = SLUICE_ATTACH_PASS
    guard let pipeline = state.withLock({ $0.pipeline }), let begun = pipeline.begin(request.pointee, blocks: blocks)
    else {
      return nil
    }
    begun.transfer.write(begun.answer, to: answer)
    // The reference is released in `end`.
    return Unmanaged.passRetained(begun.transfer).toOpaque()
  }

  private static func goOn(
    _ transfer: UnsafeMutableRawPointer?, _ blocks: Bool, _ answer: UnsafeMutablePointer<sluice_attach_answer>?
  ) {
    write(answer, of: transfer) { $0.goOn(blocks: blocks) }
  }

  private static func issue(
    _ transfer: UnsafeMutableRawPointer?, _ hop: UnsafePointer<sluice_attach_hop>?,
    _ answer: UnsafeMutablePointer<sluice_attach_answer>?
  ) {
    guard let hop else { return }
    write(answer, of: transfer) { $0.issue(hop.pointee) }
  }

  private static func receive(
    _ transfer: UnsafeMutableRawPointer?, _ head: UnsafePointer<sluice_attach_head>?,
    _ answer: UnsafeMutablePointer<sluice_attach_answer>?
  ) {
    guard let head else { return }
    write(answer, of: transfer) { $0.receive(head.pointee) }
  }

  private static func write(
    _ answer: UnsafeMutablePointer<sluice_attach_answer>?, of transfer: UnsafeMutableRawPointer?,
    _ decide: (AttachedTransfer) -> Answer?
  ) {
    guard let transfer, let answer else { return }
    let attached = Unmanaged<AttachedTransfer>.fromOpaque(transfer).takeUnretainedValue()
    attached.write(decide(attached), to: answer)
  }

  private static func end(_ transfer: UnsafeMutableRawPointer?, _ end: UnsafePointer<sluice_attach_end>?) {
    guard let transfer, let end else { return }
    // Balances `begin`.
    Unmanaged<AttachedTransfer>.fromOpaque(transfer).takeRetainedValue().end(end.pointee)
  }

  /// Drops the pipeline of the parent without releasing it: the threads that a release would wait for do not exist
  /// here. It stays reachable, so that a program with a leak checker sees no leak.
  private static func forked() {
    state.withLock { state in
      if let pipeline = state.pipeline.take() { state.abandoned.append(pipeline) }
    }
  }

  private static func callsOut() -> Bool { state.withLock { $0.pipeline }?.callOuts.isUsed ?? false }

  private static func close() { state.withLock { $0.pipeline }?.close() }
}
