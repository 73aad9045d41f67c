import Glibc
import SluiceMessages
import SluiceSupport

/// A file that is created or emptied only when there is something to write to it. The command checks at its start
/// whether it can write the file. If it cannot, it fails before it sends a request.
struct OutputFile: Sendable {
  private let name: OutputName
  /// The file that is being read, and that must not be written.
  private let input: FileIdentity?

  private var path: String { name.path }

  /// Returns nil for a pipe, a device, a folder or a socket, and for standard error. The caller opens these at once:
  /// opening them changes nothing, and finds more errors than a check. A name that the server may still change, and whose
  /// file must not exist, is not opened before the response.
  init?(_ name: OutputName, besides input: FileIdentity?) {
    guard name.existing == .keep || OutputTarget(at: name.path) == .file && !StandardError.isNamed(by: name.path) else {
      return nil
    }
    self.name = name
    self.input = input
  }

  /// Checks, without changing anything, whether an output could be written now. A pipe or a device is not checked,
  /// because opening it can wait.
  static func check(_ name: OutputName, besides input: FileIdentity?) throws(CommandError) {
    if name.existing != .keep, OutputTarget(at: name.path) == .folder {
      throw ByteOutput.unopened(name.path, EISDIR)
    }
    try OutputFile(name, besides: input)?.check()
  }

  /// Checks, without changing anything, whether the file could be written now.
  func check() throws(CommandError) {
    guard !path.isEmpty else { throw ByteOutput.unopened(path, ENOENT) }
    guard input == nil || FileIdentity(at: path) != input else {
      throw CommandError(.usage, "\(PlainText.path(path)) is also the input; name another output")
    }
    // A server can still change a name whose file must not exist. Only its folder is certain.
    let place = name.existing == .keep ? "\(folder)/." : path
    if let number = OutputTarget.obstacle(at: place) { throw CommandError(.failed, failure(number).description) }
  }

  /// Opens the file according to ``OutputName/existing``: creates it, empties it, or opens it to append. Returns a
  /// descriptor, which the caller must close.
  func open() throws(ByteOutput.Failure) -> Int32 {
    let descriptor = name.open()
    guard descriptor >= 0 else { throw failure(errno) }
    let identity = FileIdentity(of: descriptor)
    // Since the check, the path might have become the path of the input file, or of a file that is not regular.
    let isOther = identity == nil || identity == input
    if isOther || name.existing == .replace && ftruncate(descriptor, 0) != 0 {
      let number = isOther ? EBUSY : errno
      close(descriptor)
      throw failure(number)
    }
    return descriptor
  }

  private var folder: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private func failure(_ number: Int32) -> ByteOutput.Failure { ByteOutput.Failure(name: path, errorNumber: number) }
}
