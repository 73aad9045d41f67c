import CLinux
import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Copies in memory of files for TLS that are pipes or devices, such as `<(…)`.
///
/// OpenSSL reads the files again for each event loop, and waits on the loop. A pipe can be read only once,
/// and its writer may be slow or missing.
enum PipedTLSFiles {
  /// The paths of the copies, by the path of the pipe. The copies stay until the process ends, so that a configuration
  /// that is read again uses them too.
  private static let copies = Locked<[String: String]>([:])

  /// Replaces the paths of pipes and devices by the paths of copies. Waits at most as long as for a configuration.
  static func replace(in transport: inout TransportSettings) throws(CommandError) {
    let names = transport.names
    let files: [(WritableKeyPath<TLSSettings, String?>, String)] = [
      (\.ca, names.authorities), (\.certificate, names.certificate), (\.key, names.key),
    ]
    for (file, name) in files {
      guard let path = transport.tls[keyPath: file], OutputTarget(at: path).mayWait else { continue }
      transport.tls[keyPath: file] = try copy(of: path, name)
    }
  }

  /// Leaves out all files if one of them is a pipe or a device: a check must not take what a later command needs.
  static func leaveOut(of tls: inout TLSSettings) {
    if tls.files.contains(where: { OutputTarget(at: $0).mayWait }) { tls.leaveOutFiles() }
  }

  private static func copy(of path: String, _ name: String) throws(CommandError) -> String {
    if let known = copies.withLock({ $0[path] }) { return known }
    func failure(_ reason: String) -> CommandError {
      CommandError(.usage, "\(name): cannot read \(PlainText.path(path)): \(reason)")
    }
    let content: [UInt8]
    do { content = try FileText.read(path) } catch { throw failure("\(error)") }
    let descriptor = content.withUnsafeBytes { sluice_open_sealed("sluice-tls", $0.baseAddress, $0.count, false) }
    guard descriptor >= 0 else { throw failure(SystemError.text()) }
    let copy = "/proc/self/fd/\(descriptor)"
    guard access(copy, R_OK) == 0 else {
      close(descriptor)
      throw failure("it is a pipe or a device, which needs /proc; name a regular file")
    }
    copies.withLock { $0[path] = copy }
    return copy
  }
}
