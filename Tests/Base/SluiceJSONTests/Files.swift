import Glibc
import Testing

/// Reads test data without Foundation.
enum Files {
  /// Returns the path of a file in `Tests/Fixtures/Cases`.
  static func cases(_ name: String, from file: String = #filePath) -> String {
    folder(above: 3, from: file) + "/Fixtures/Cases/" + name
  }

  /// Returns the path of a file in the package's folder.
  static func package(_ name: String, from file: String = #filePath) -> String {
    folder(above: 4, from: file) + "/" + name
  }

  private static func folder(above levels: Int, from file: String) -> String {
    file.split(separator: "/", omittingEmptySubsequences: false).dropLast(levels).joined(separator: "/")
  }

  static func bytes(of path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"), "cannot open \(path)")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  static func names(in folder: String, endingWith suffix: String) throws -> [String] {
    let directory = try #require(opendir(folder), "cannot list \(folder)")
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(suffix) { names.append(name) }
    }
    return names.sorted()
  }
}
