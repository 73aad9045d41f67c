import Glibc

/// A folder in /tmp, which is removed with this object.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("/tmp/sluice-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BenchmarkError("no temporary folder") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { system("rm -rf '\(path)'") }

  /// Writes a file under a temporary name, closes it and then renames it, as linkers do.
  func write(_ bytes: [UInt8], to name: String) throws {
    let temporary = "\(path)/\(name).new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o755)
    let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    guard close(file) == 0, written == bytes.count, rename(temporary, "\(path)/\(name)") == 0 else {
      throw BenchmarkError("cannot write \(path)/\(name)")
    }
  }

  static func read(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "re") else { throw BenchmarkError("cannot read \(path)") }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: ftell(file))
    rewind(file)
    guard fread(&bytes, 1, bytes.count, file) == bytes.count else { throw BenchmarkError("cannot read \(path)") }
    return bytes
  }
}
