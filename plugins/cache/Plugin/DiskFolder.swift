import Glibc

/// The entries on disk, with a limit of bytes. Several processes may use a folder at the same time. Functions block;
/// only one thread at a time may call them.
///
///     FOLDER/<SHA-256 of the URL>/<SHA-256 of the selection>    one entry, see EntryFile
///     FOLDER/new-<process>-<number>                             an entry that is being written
///     FOLDER/lock                                               locked by the process that makes room
///
/// A file gets its final name only when it is complete, so that nobody reads half a file. The digest in a file shows
/// whether a crash of the machine has damaged the file. Nothing is synced, because a lost response can be fetched
/// again.
struct DiskFolder: Sendable {
  /// The maximum number of stored responses that are read for one URL; further ones are ignored.
  private static let maximumVariants = 32
  /// The age in seconds after which a file that is still being written counts as abandoned.
  private static let abandonedAfter = 3600

  let path: String
  let maximumBytes: Int
  let maximumEntryBytes: Int
  /// An estimate of the folder's size: the bytes that the last `makeRoom` counted, plus the bytes that this process has
  /// written since.
  private var byteCount = 0
  private var writtenBytes = 0
  private var fileNumber = 0

  init(path: String, maximumBytes: Int, maximumEntryBytes: Int) {
    self.path = path
    self.maximumBytes = maximumBytes
    self.maximumEntryBytes = maximumEntryBytes
  }

  /// Creates the folder so that only its owner has access. If the folder exists, checks that nobody else has access.
  mutating func open() throws(DiskFailure) {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw DiskFailure("make", path) }
    var facts = stat()
    guard lstat(path, &facts) == 0 else { throw DiskFailure("look at", path) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw DiskFailure("\(path) is not a folder") }
    guard facts.st_uid == geteuid(), facts.st_mode & 0o077 == 0 else {
      throw DiskFailure(
        "\(path) is open to others, but cached responses are secret: run chmod 700 on it, or name another folder")
    }
    makeRoom()
  }

  /// The entries for a URL. Removes files that are not complete.
  func load(_ url: String) -> [Entry] {
    let folder = folder(of: url)
    return names(in: folder).prefix(Self.maximumVariants).compactMap { name in
      let file = "\(folder)/\(name)"
      guard let bytes = read(file) else { return nil }
      guard let entry = EntryFile.entry(bytes), entry.url == url, name == self.name(of: entry) else {
        unlink(file)
        return nil
      }
      // Marks the file as used now, because the least recently used files are removed first.
      utimensat(AT_FDCWD, file, nil, 0)
      return entry
    }
  }

  mutating func store(_ entry: Entry, replacing replaced: Entry?) throws(DiskFailure) {
    let bytes = EntryFile.bytes(of: entry)
    let folder = folder(of: entry.url)
    fileNumber += 1
    let new = "\(path)/new-\(getpid())-\(fileNumber)"
    do {
      try write(bytes, to: new)
      try move(new, into: folder, as: name(of: entry))
    } catch {
      unlink(new)
      throw error
    }
    if let replaced, replaced.selection != entry.selection { unlink("\(folder)/\(name(of: replaced))") }
    byteCount += bytes.count
    writtenBytes += bytes.count
    if byteCount > maximumBytes || writtenBytes > maximumBytes / 16 { makeRoom() }
  }

  func discard(_ entry: Entry) {
    let folder = folder(of: entry.url)
    unlink("\(folder)/\(name(of: entry))")
    rmdir(folder)
  }

  func remove(_ url: String) {
    let folder = folder(of: url)
    for name in names(in: folder) { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private func folder(of url: String) -> String { "\(path)/\(Digest(of: url).hex)" }

  private func name(of entry: Entry) -> String {
    let names = Array(entry.selection.names.joined(separator: "\n").utf8)
    return Digest(of: names, [0], entry.selection.digest?.bytes ?? []).hex
  }
}

// Files.
extension DiskFolder {
  private func read(_ file: String) -> [UInt8]? {
    let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    // The file was written when the limit was larger. It is too large for the current limit, which is not an error.
    guard facts.st_size <= maximumEntryBytes + 1_048_576 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        return Glibc.read(descriptor, rest.baseAddress, rest.count)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      count += got
    }
    return Array(bytes.prefix(count))
  }

  private func write(_ bytes: [UInt8], to file: String) throws(DiskFailure) {
    let descriptor = Glibc.open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw DiskFailure("write", file) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw DiskFailure("write", file) }
      rest = rest.dropFirst(written)
    }
  }

  /// Moves a file. Another process can remove the folder of the URL at any time.
  private func move(_ file: String, into folder: String, as name: String) throws(DiskFailure) {
    for _ in 0..<8 {
      if mkdir(folder, 0o700) != 0, errno != EEXIST { throw DiskFailure("make", folder) }
      if rename(file, "\(folder)/\(name)") == 0 { return }
      guard errno == ENOENT else { break }
    }
    throw DiskFailure("write", "\(folder)/\(name)")
  }

  private func names(in folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

// The limit of bytes.
extension DiskFolder {
  private struct File {
    var path: String
    /// The byte count of a file, at most one byte more than the folder's limit: a sparse file can have any size, and
    /// the sum must not overflow.
    var byteCount: Int
    var used: timespec
  }

  /// Counts the files of all processes, and removes the least recently used files until nine tenths of the limit are
  /// left. Does nothing if another process is already doing this.
  private mutating func makeRoom() {
    writtenBytes = 0
    let lock = Glibc.open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { return }
    defer { close(lock) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { return }
    var files = files()
    byteCount = files.reduce(0) { min($0 + $1.byteCount, Int.max / 2) }
    guard byteCount > maximumBytes else { return }
    files.sort { ($0.used.tv_sec, $0.used.tv_nsec) < ($1.used.tv_sec, $1.used.tv_nsec) }
    for file in files {
      guard byteCount > maximumBytes / 10 * 9 else { break }
      guard unlink(file.path) == 0 else { continue }
      byteCount -= file.byteCount
      rmdir(String(file.path[..<(file.path.lastIndex(of: "/") ?? file.path.endIndex)]))
    }
  }

  private func files() -> [File] {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var files: [File] = []
    for name in names(in: path) {
      if name.hasPrefix("new-"), let file = file("\(path)/\(name)") {
        if file.used.tv_sec < now.tv_sec - Self.abandonedAfter { unlink(file.path) }
      } else if name.utf8.count == 2 * Digest.byteCount {
        files += names(in: "\(path)/\(name)").compactMap { self.file("\(path)/\(name)/\($0)") }
      }
    }
    return files
  }

  private func file(_ path: String) -> File? {
    var facts = stat()
    guard lstat(path, &facts) == 0 else { return nil }
    return File(path: path, byteCount: min(Int(facts.st_size), maximumBytes + 1), used: facts.st_mtim)
  }
}
