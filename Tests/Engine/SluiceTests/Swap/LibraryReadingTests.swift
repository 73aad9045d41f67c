import Glibc
import SluicePluginHost
import SluiceTestKit
import Testing

@testable import Sluice

/// Which refused library files are read again after a short time.
@Suite struct LibraryReadingTests {
  @Test(.enabled(if: access("/dev/shm", W_OK) == 0, "there is no /dev/shm"))
  func `a file with the earliest possible time is not read again, but a file with the latest possible time is`() async {
    await #expect(processExitsWith: .success) {
      // A file system in memory accepts any file time.
      setenv("TMPDIR", "/dev/shm", 1)
      let folder = try TemporaryDirectory()
      let file = try folder.write("no library", to: "a.so")
      let error = PluginError(.notELF, .plugin(name: nil, path: file), "is not an ELF file")
      for (seconds, mayPass) in [(Int.min, false), (Int.max, true)] {
        let modified = timespec(tv_sec: seconds, tv_nsec: 0)
        try #require(utimensat(AT_FDCWD, folder.path("a.so"), [modified, modified], 0) == 0)
        #expect(LibraryReading.mayPass(error, file) == mayPass)
      }
    }
  }
}
