/// Flags of statvfs(3) that the Glibc module leaves out.
package enum MountFlag {
  /// ST_NOEXEC: no code can be mapped from the file system.
  package static let noExec: UInt = 8
}
