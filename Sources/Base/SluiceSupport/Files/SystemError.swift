import Glibc

/// The text of an error number of the system.
package enum SystemError {
  package static func text(_ number: Int32 = errno) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
        return "error \(number)"
      }
      return String(cString: start)
    }
  }

  /// What the user can do about the error: a text that begins with a semicolon, or an empty text.
  package static func advice(_ number: Int32) -> String {
    switch number {
    case EMFILE:
      "; this process can have \(DescriptorLimit.current.soft) descriptors open: raise the limit with ulimit -n"
    case EBADF: "; a plugin has closed a descriptor of the host (sluice plugin validate finds such a plugin)"
    case ENFILE: "; the system's limit of open files is reached (fs.file-max)"
    case ENOSPC, EDQUOT: "; free some space there, or set TMPDIR to a folder with more"
    default: ""
    }
  }
}
