import Glibc
public import SluiceMessages
import SluicePluginImage
import SluiceSupport

/// What is known of a crash: who was called, by whom, for which transaction, and where in the code it happened.
///
/// Made from the record that a process left (``CrashReporter``), by its supervisor or the next start:
///
///     guard var report = CrashReport(reading: descriptor) else { return }  // it did not crash
///     report.addOutput(errorOutput)                                      // what its runtime had to say
///     report.symbolize()                                                 // while the private copies are there
///     print(report.text)
///
/// There is nothing of requests in it, no header and no body.
public struct CrashReport: Sendable {
  /// A call of a plugin that was under way.
  public struct Call: Sendable, Hashable {
    /// The kernel's number and name of the thread.
    public let thread: Int32
    /// At most 15 bytes, as the kernel keeps it.
    public let threadName: String
    /// The build that was called, and its instance.
    public let build: Build
    /// As the ABI names it: `on_request`, `create`.
    public let callback: String
    /// Nil where the call belongs to none.
    public let transaction: TransactionID?
    /// Counted from 0; 0 also where the call belongs to no transaction.
    public let attempt: Int
  }

  /// One build of a plugin.
  public struct Build: Sendable, Hashable {
    /// The name in the configuration; nil before there is an instance.
    public let stage: String?
    /// The plugin's own id; nil before it could say.
    public let plugin: String?
    /// 0 before it has one.
    public let generation: Int
    /// As the configuration names it.
    public let library: String
    /// SHA-256 of the library, in hex: what a list of refused builds is about.
    public let hash: String
    /// The private copy that was mapped.
    package let copy: String
  }

  /// Who is to be asked first.
  public enum Cause: Sendable, Hashable {
    /// Code of that build, during a call of one of its functions.
    case code(Build)
    /// Code of the host or of a library that it needs, called by that build.
    case calledBy(Build)
    /// Code of that build, on a thread that no call was made on.
    case threadOf(Build)
    /// No plugin had a part in it, as far as one can see.
    case host
  }

  /// One function of the backtrace.
  public struct Frame: Sendable, Hashable {
    /// Whose code an address belongs to.
    public enum Owner: Sendable, Hashable {
      /// Of a plugin's library.
      case plugin(Build)
      /// The program, or whatever else holds the engine.
      case host
      /// Of any other library.
      case library
      /// No code is mapped there.
      case nowhere
    }

    /// In the address space of the process that crashed.
    public let address: UInt64
    /// Decided by the memory map of that process, not by symbols.
    public let owner: Owner
    /// The file that holds the code; a plugin's own library for a private copy. Nil where nothing is mapped.
    public let file: String?
    /// Within the file's own addresses, for debuggers; nil before ``CrashReport/symbolize(limit:)``.
    public internal(set) var offset: UInt64?
    /// In words; nil where there is no name.
    public internal(set) var function: String?
    /// `Auth.swift:42`; nil where nothing tells.
    public internal(set) var source: String?
    /// The file as it was mapped.
    let mapped: MemoryMap.Region?
  }

  /// Since 1970-01-01T00:00:00Z.
  public let moment: Duration
  /// The id of the process that crashed.
  public let process: Int32
  /// The kernel's id of the thread that crashed.
  public let thread: Int32
  /// The kernel's name of that thread; empty if the record does not say.
  public let threadName: String
  /// The signal's number on this machine (signal(7)); 0 if the record does not say.
  public let signal: Int32
  /// `SIGSEGV: read of address 0x8, near a null pointer`
  public let reason: String
  /// What this thread called; nil where it called no plugin.
  public let call: Call?
  /// What other threads called at that moment.
  public let otherCalls: [Call]
  /// Decided by the call of this thread, and by the first frame that is code of a plugin or of the host.
  public let cause: Cause
  /// From where it happened outwards.
  public internal(set) var frames: [Frame]
  /// What the runtime of the language, or the C library, said before: `Fatal error: Index out of range`. See
  /// ``addOutput(_:hiding:)``.
  public internal(set) var message: String?
  /// False where the record breaks off.
  public let isComplete: Bool

  /// The build that is to be refused from here on; nil where none can be blamed.
  public var blamed: Build? {
    switch cause {
    case .code(let build), .calledBy(let build), .threadOf(let build): build
    case .host: nil
    }
  }

  /// nil where the bytes are no record: the process did not crash.
  public init?(record bytes: some Collection<UInt8>) {
    guard let record = CrashRecord(bytes) else { return nil }
    self.init(record)
  }

  /// Reads the record from a file or from a pipe whose other ends are closed; the descriptor stays the caller's.
  public init?(reading descriptor: Int32) {
    // A file was written through the same description, so its offset is at its end.
    lseek(descriptor, 0, SEEK_SET)
    guard let bytes = Self.readAll(descriptor) else { return nil }
    self.init(record: bytes)
  }

  /// Reads the record that a process before this one left in a file.
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

  /// The code that counts is the first that is not some library's: a plugin that passes a bad pointer to memcpy is meant.
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

/// Whose code lies where.
struct CodeOwners {
  private let map: MemoryMap
  private let builds: [String: CrashReport.Build]
  /// The file that has the handler in it: the program, or a library that others load.
  private let host: String?

  init(_ record: CrashRecord) {
    map = record.map
    host = record.map.region(at: record.handler)?.path
    // The one that says most: an instance before a library that was only loaded.
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
