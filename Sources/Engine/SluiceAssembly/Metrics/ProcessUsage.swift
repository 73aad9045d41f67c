import Glibc
import SluiceSupport

/// The resources that this process uses, from proc(5). A value that cannot be read is nil.
package struct ProcessUsage: Sendable, Hashable {
  /// Memory of the process that is in RAM.
  package var residentBytes: Int?
  package var openDescriptors: Int?
  /// The maximum number of open descriptors of the process.
  package var descriptorLimit: Int?

  /// The current usage. Needs a descriptor for a moment.
  package static var current: ProcessUsage {
    ProcessUsage(
      residentBytes: (try? FileText.read("/proc/self/statm", limitBytes: 4096)).flatMap {
        residentBytes($0, pageBytes: sysconf(Int32(_SC_PAGESIZE)))
      },
      openDescriptors: countDescriptors(), descriptorLimit: DescriptorLimit.current.soft)
  }

  /// The second number counts the resident pages.
  static func residentBytes(_ statm: [UInt8], pageBytes: Int) -> Int? {
    let fields = statm.split(separator: UInt8(ascii: " "))
    guard fields.count > 1, pageBytes > 0, let pages = Int(String(decoding: fields[1], as: UTF8.self)), pages >= 0
    else { return nil }
    let (bytes, overflow) = pages.multipliedReportingOverflow(by: pageBytes)
    return overflow ? nil : bytes
  }

  private static func countDescriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // The descriptor of the folder itself, `.` and `..` are not counted.
    return max(0, count - 3)
  }
}
