import Glibc
import SluiceMessages
import SluiceSupport

/// The two libraries that a program under `sluice attach` loads.
struct AttachLibraries {
  /// `libsluice-attach.so`, which the dynamic loader maps into the program.
  let preload: String
  /// `libsluice-attach-host.so`, which the preloaded library opens at the first transfer.
  let host: String

  /// The name of the preloaded library in `LD_PRELOAD`. It leads over the folder `/usr/$LIB`, which a system with glibc
  /// has. Glibc's loader replaces `$LIB`. Musl's loader does not, finds no such folder, and starts its program without
  /// the library; without this detour it would not start the program.
  var preloadName: String {
    Self.hasSystemFolder ? "/usr/$LIB" + String(repeating: "/..", count: 8) + preload : preload
  }

  /// Whether `/usr/$LIB` exists. `$LIB` is the end of the path of the folder that contains libc.
  private static var hasSystemFolder: Bool {
    guard let maps = FileDescriptor(opening: "/proc/self/maps", O_RDONLY), let bytes = maps.readAll(capacity: 64 << 20),
      let line = bytes.split(separator: UInt8(ascii: "\n")).first(where: {
        $0.suffix(10).elementsEqual("/libc.so.6".utf8)
      }),
      let start = line.firstIndex(of: UInt8(ascii: "/"))
    else { return false }
    let folder = Paths.folder(of: String(decoding: line[start...], as: UTF8.self))
    return Paths.isFolder(folder.hasPrefix("/usr/") ? folder : "/usr\(folder)")
  }

  /// The libraries beside the command in a build folder, or in `../lib/sluice` of an installation.
  static func ofThisProgram() throws(CommandError) -> AttachLibraries {
    guard let program = RunningProgram.path() else {
      throw CommandError(.failed, "attach: cannot find out where this command is: \(SystemError.text())")
    }
    let folder = Paths.folder(of: program)
    return try found(in: [folder, "\(folder)/../lib/sluice"])
  }

  static func found(in folders: [String]) throws(CommandError) -> AttachLibraries {
    for folder in folders {
      let found = AttachLibraries(
        preload: "\(folder)/libsluice-attach.so", host: "\(folder)/libsluice-attach-host.so")
      guard access(found.preload, R_OK) == 0, access(found.host, R_OK) == 0 else { continue }
      // LD_PRELOAD has no quoting for these characters (ld.so(8)), so the loader would print an error in each program.
      guard !found.preload.contains(where: { $0 == " " || $0 == ":" }) else {
        throw CommandError(
          .usage,
          "attach: the dynamic loader cannot preload a library whose path has a space or a colon: "
            + "\(PlainText.path(found.preload)); install the command in another folder")
      }
      return found
    }
    throw CommandError(
      .usage,
      "attach: libsluice-attach.so and libsluice-attach-host.so are not in \(folders.joined(separator: " or "));"
        + " install the command again, or build all products")
  }
}
