import Glibc
public import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// A report of a crash: which function was called, by which caller, for which transaction, and where in the code it
/// crashed.
///
/// The supervisor of the process, or the next start, makes it from the record that ``CrashReporter`` left:
///
///     guard var report = CrashReport(reading: descriptor) else { return }  // it did not crash
///     report.addOutput(errorOutput)                                      // what its runtime had to say
///     report.symbolize()                                                 // while the private copies are there
///     print(report.text)
///
/// The report contains no header and no body of a request.
public struct CrashReport: Sendable {
  /// A call of a plugin that was running at the time of the crash.
  public struct Call: Sendable, Hashable {
    /// The kernel's id of the thread.
    public let thread: Int32
    /// The name of the thread. It has at most 15 bytes, because the kernel stores no more.
    public let threadName: String
    /// The build that was called, and its instance.
    public let build: Build
    /// The function's name in the ABI, such as `on_request` or `create`.
    public let callback: String
    /// Nil if the call belongs to no transaction.
    public let transaction: TransactionID?
    /// The attempt of the transaction, counted from 0. It is 0 if the call belongs to no transaction.
    public let attempt: Int
  }

  /// One build of a plugin.
  public struct Build: Sendable, Hashable {
    /// The name in the configuration; nil before there is an instance.
    public let stage: String?
    /// The plugin's own id; nil before the plugin has named it.
    public let plugin: String?
    /// The number of the generation; 0 if the build had none yet.
    public let generation: Int
    /// The library's path as the configuration has it.
    public let library: String
    /// SHA-256 of the library, in hex, as in the list of refused builds.
    public let hash: String
    /// The private copy that was mapped.
    package let copy: String
  }

  /// The most likely cause, which should be examined first.
  public enum Cause: Sendable, Hashable {
    /// Code of the build crashed while the host was calling one of its functions.
    case code(Build)
    /// Code of the host or of another library crashed while the host was calling the build.
    case calledBy(Build)
    /// Code of the build crashed on a thread on which the host had not called it.
    case threadOf(Build)
    /// The record shows no plugin that was involved.
    case host
  }

  /// One function of the backtrace.
  public struct Frame: Sendable, Hashable {
    /// The owner of the code at an address.
    public enum Owner: Sendable, Hashable {
      /// A plugin's library.
      case plugin(Build)
      /// The program or library that contains the engine.
      case host
      /// Any other library.
      case library
      /// No file is mapped at the address.
      case nowhere
    }

    /// The address of the code in the process that crashed.
    public let address: UInt64
    /// The owner of the code, according to the memory map of the process that crashed.
    public let owner: Owner
    /// The file with the code; for a private copy, the plugin's own library. Nil if no file is mapped at the address.
    public let file: String?
    /// The address within the file, for debuggers; nil before ``CrashReport/symbolize(limit:)``.
    public internal(set) var offset: UInt64?
    /// The demangled name of the function; nil if it has no name.
    public internal(set) var function: String?
    /// The source line, such as `Auth.swift:42`; nil if it is unknown.
    public internal(set) var source: String?
    /// The mapped file.
    let mapped: MemoryMap.Region?
  }

  /// Since 1970-01-01T00:00:00Z.
  public let moment: Duration
  /// The id of the process that crashed.
  public let process: Int32
  /// The kernel's id of the thread that crashed.
  public let thread: Int32
  /// The kernel's name of that thread; empty if the record does not contain it.
  public let threadName: String
  /// The signal's number on this machine (signal(7)); 0 if the record does not contain it.
  public let signal: Int32
  /// `SIGSEGV: read of address 0x8, near a null pointer`
  public let reason: String
  /// The plugin call on this thread; nil if it called no plugin.
  public let call: Call?
  /// The plugin calls on other threads at that moment.
  public let otherCalls: [Call]
  /// The cause follows from the call on this thread, and from the first frame whose code belongs to a plugin or to the
  /// host.
  public let cause: Cause
  /// The backtrace, innermost frame first.
  public internal(set) var frames: [Frame]
  /// The last message of the language's runtime or of the C library, such as `Fatal error: Index out of range`. See
  /// ``addOutput(_:hiding:)``.
  public internal(set) var message: String?
  /// False if the record is cut off.
  public let isComplete: Bool

  /// The build to refuse from now on; nil if no build is at fault.
  public var blamed: Build? {
    switch cause {
    case .code(let build), .calledBy(let build), .threadOf(let build): build
    case .host: nil
    }
  }

  /// Returns nil if the bytes are not a record. This means that the process did not crash.
  public init?(record bytes: some Collection<UInt8>) {
    guard let record = CrashRecord(bytes) else { return nil }
    self.init(record)
  }

  /// Reads the record from a file, or from a pipe whose writing ends are closed. The caller keeps ownership of the
  /// descriptor.
  public init?(reading descriptor: Int32) {
    // If the handler wrote to a file, this descriptor has the same file offset. The offset is therefore at the end of
    // the record.
    lseek(descriptor, 0, SEEK_SET)
    guard let bytes = Self.readAll(descriptor) else { return nil }
    self.init(record: bytes)
  }

  /// Reads the record that an earlier process left in a file.
  public init?(path: String) {
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW) else { return nil }
    self.init(reading: file.raw)
  }

  private static let limitBytes = 16 << 20

  private static func readAll(_ descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < limitBytes {
      guard let piece = DescriptorPiece.read(descriptor) else { return nil }
      if piece.isEmpty { break }
      bytes += piece
    }
    return bytes
  }

  init(_ record: CrashRecord) {
    moment = record.time
    process = record.process
    thread = record.thread
    threadName = record.threadName
    signal = record.signal
    reason = SignalText.describe(record)
    isComplete = record.isComplete
    let calls = record.calls.map { ($0.isHere, Call($0)) }
    call = calls.first { $0.0 }?.1
    otherCalls = calls.filter { !$0.0 }.map(\.1)
    let owners = CodeOwners(record)
    frames = (record.frames.isEmpty ? [record.counter] : record.frames).map { owners.frame(at: $0) }
    cause = Self.cause(call, frames)
  }

  /// The first frame in a plugin or in the host decides. If a plugin passes a bad pointer to memcpy, the plugin is
  /// therefore at fault.
  private static func cause(_ call: Call?, _ frames: [Frame]) -> Cause {
    var first: Frame.Owner?
    for frame in frames where first == nil {
      switch frame.owner {
      case .plugin, .host: first = frame.owner
      case .library, .nowhere: break
      }
    }
    switch (call, first) {
    case (let call?, .plugin(let build)): return .code(build.copy == call.build.copy ? call.build : build)
    case (let call?, _): return .calledBy(call.build)
    case (nil, .plugin(let build)): return .threadOf(build)
    case (nil, _): return .host
    }
  }
}

extension CrashReport.Call {
  init(_ call: CrashRecord.Call) {
    thread = call.thread
    threadName = call.threadName
    build = CrashReport.Build(call.subject)
    callback = call.callback?.name ?? "an unknown function"
    transaction = call.transaction
    attempt = call.attempt
  }
}

extension CrashReport.Build {
  init(_ subject: CrashRecord.Subject) {
    stage = subject.stage.isEmpty ? nil : subject.stage
    plugin = subject.plugin.isEmpty ? nil : subject.plugin
    generation = subject.generation
    library = subject.library
    hash = subject.hash
    copy = subject.copy
  }
}

/// Finds the owner of the code at an address.
struct CodeOwners {
  private let map: MemoryMap
  private let builds: [String: CrashReport.Build]
  /// The file that contains the handler: the program, or a library that other programs load.
  private let host: String?

  init(_ record: CrashRecord) {
    map = record.map
    host = record.map.region(at: record.handler)?.path
    // Entries with an instance contain more facts. They are sorted last, so that they replace entries of the same
    // library without an instance.
    let subjects = (record.known + record.calls.map(\.subject)).sorted { $0.stage.isEmpty && !$1.stage.isEmpty }
    builds = Dictionary(subjects.map { ($0.copy, CrashReport.Build($0)) }) { _, last in last }
  }

  func frame(at address: UInt64) -> CrashReport.Frame {
    guard let region = map.region(at: address) else {
      return CrashReport.Frame(address: address, owner: .nowhere, file: nil, mapped: nil)
    }
    if let build = builds[region.path] {
      return CrashReport.Frame(address: address, owner: .plugin(build), file: build.library, mapped: region)
    }
    return CrashReport.Frame(
      address: address, owner: region.path == host ? .host : .library, file: region.path, mapped: region)
  }
}
