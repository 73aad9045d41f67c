import Glibc
import SluiceJSON
import SluicePluginHost
import SluiceSupport

/// Builds the library of a Swift plugin without the package manager. The commands come from the record that the last
/// package build has written.
///
/// It either makes the same library as a package build, or fails with a reason. After a failure, the caller builds the
/// package. In the last step, the library gets its final name. Before that, all inputs are compared with the record
/// again.
struct DirectBuild {
  /// The reason why a direct build is not possible, and the package must be built.
  struct Doubt: Error {
    let reason: String
  }

  /// The time limit for each command. A compiler that takes longer is killed. The package is then built, without a time
  /// limit.
  private static let limit = Duration.seconds(60)

  private let outputs: CompilePlan.Outputs
  /// Environment variables for the commands, the same as for the package build.
  private let settings: [String: String]
  private let build: String

  init(package: String, settings: [String: String], build: String) {
    outputs = CompilePlan.Outputs(package: package)
    (self.settings, self.build) = (settings, build)
  }

  /// Returns the paths of the libraries that the package build has made, including the new library. Messages of the
  /// compiler go to standard error.
  /// - Throws: ``Doubt``, or a ``CommandError`` if the compiler has found an error in the plugin's own sources.
  func run() throws -> [String] {
    guard Paths.isFolder(outputs.folder) else { throw Self.noRecord }
    guard let lock = BuildLock(outputs.lock) else { throw Doubt(reason: "another build is under way") }
    defer { lock.release() }
    guard let record = BuildRecord(readingFrom: outputs.record), record.plan.outputs == outputs else {
      throw Self.noRecord
    }
    try check(record)
    let plan = record.plan
    if plan.isNamedByBuild { clear() }
    unlink(outputs.library)
    try outputs.write(JSONValue(encoding: plan.outputFileMap).serialized(), to: outputs.fileMap)
    var messages = ""
    for (number, words) in plan.steps(for: build).enumerated() {
      messages += try perform(words, isCompiler: number == 0, sources: plan.sources)
    }
    try check(record)
    // A package build begins by removing the record. If a package build has begun in the meantime, its library is newer
    // and must not be replaced.
    guard access(outputs.record, F_OK) == 0 else { throw Doubt(reason: "another build has begun") }
    try put(plan.library)
    StandardError.write(messages)
    return record.libraries
  }

  private static let noRecord = Doubt(reason: "there is no record of an earlier build")

  /// Removes the compiled files of earlier builds.
  private func clear() {
    for name in FolderListing.names(in: outputs.folder) where !CompilePlan.Outputs.lasting.contains(name) {
      unlink("\(outputs.folder)/\(name)")
    }
  }

  private func check(_ record: BuildRecord) throws(Doubt) {
    if let reason = record.doubt(settings: settings) { throw Doubt(reason: reason) }
  }

  private func perform(_ words: [String], isCompiler: Bool, sources: [String]) throws -> String {
    let tool = ToolProcess(words, environment: settings)
    guard let (status, text) = tool.outcome(within: Self.limit) else {
      throw Doubt(reason: "\(words[0]) did not end in time, or wrote too much")
    }
    guard status != 0 else { return text }
    // An error outside of the plugin's sources, for instance in a module that cannot be read, may be caused by an
    // outdated plan.
    guard isCompiler, status == 1, Self.hasError(text, in: sources) else {
      throw Doubt(reason: "\(words[0]) ended with status \(status)")
    }
    StandardError.write(text)
    throw CommandError(.failed, "plugin build: \(words[0]) ended with status \(status)")
  }

  /// Whether the compiler has reported errors with a position, and all of these positions are in the plugin's sources.
  static func hasError(_ text: String, in sources: [String]) -> Bool {
    var reader = DiagnosticReader()
    for line in text.split(separator: "\n") { reader.add(String(line)) }
    let places = reader.diagnostics.filter { $0.severity == .error && $0.line != nil }.map(\.file)
    return !places.isEmpty && places.allSatisfy { $0.map(sources.contains) ?? false }
  }

  /// Replaces the library in one step, so that no process loads half a file.
  private func put(_ library: String) throws(Doubt) {
    chmod(outputs.library, 0o755)
    guard rename(outputs.library, library) == 0 else {
      throw Doubt(reason: "\(library): \(String(cString: strerror(errno)))")
    }
  }
}

// The steps before and after a package build.
extension DirectBuild {
  /// Writes a record for later builds if this build can be repeated without the package manager.
  /// - Parameter libraries: the libraries that the package build has made.
  func note(_ libraries: [String], beginning: BuildBeginning) {
    let package = beginning.package
    guard mkdir(outputs.folder, 0o700) == 0 || errno == EEXIST, let lock = BuildLock(outputs.lock) else { return }
    defer { lock.release() }
    guard let text = try? FileContent.read("\(package)/.build/debug.yaml"),
      let manifest = BuildManifest(String(decoding: text, as: UTF8.self)),
      let plan = CompilePlan(manifest, package: package, build: build, outputs: outputs),
      let record = BuildRecord(plan, libraries: libraries, beginning: beginning, settings: settings)
    else { return }
    try? record.write()
  }

  /// Removes the record. Call this before a package build: if the build is interrupted, an old record must not remain.
  func forget() { unlink(outputs.record) }
}

extension CompilePlan.Outputs {
  init(package: String) { self.init(folder: "\(package)/.build/sluice-direct") }

  func write(_ bytes: [UInt8], to file: String) throws(CommandError) {
    let unfinished = "\(file).new"
    try ByteOutput.write(bytes, to: unfinished, mode: 0o600)
    guard rename(unfinished, file) == 0 else {
      throw CommandError(.failed, "cannot write \(file): \(String(cString: strerror(errno)))")
    }
  }
}

/// A lock that allows one direct build of a folder at a time. The kernel releases it when the process ends (flock(2)).
struct BuildLock {
  private let descriptor: Int32

  /// Returns nil if another process has the lock, or if the folder does not exist. Does not block.
  init?(_ path: String) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
  }

  func release() { close(descriptor) }
}
