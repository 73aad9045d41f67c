import CLinux
import Glibc

/// Knows which folders are watched for which subjects, and which subjects an event changes.
struct WatchTable: Sendable {
  typealias Subject = InotifyWatch.Subject

  private let add: @Sendable (String) -> Int32
  private let remove: @Sendable (Int32) -> Void
  private var subjects: Set<Subject> = []
  private var folders: [Int32: String] = [:]
  private var places: [Subject: [WatchedPlace]] = [:]
  private var trees: [Subject: Set<String>] = [:]
  /// A folder that could not be watched, and the error number.
  private(set) var failure: (String, Int32)?

  /// - Parameters:
  ///   - add: begins to watch a folder. Returns the number of the watch, or -1 with `errno` set.
  ///   - remove: ends a watch.
  init(add: @escaping @Sendable (String) -> Int32, remove: @escaping @Sendable (Int32) -> Void) {
    self.add = add
    self.remove = remove
  }

  mutating func replace(_ subjects: Set<Subject>) {
    self.subjects = subjects
    renew()
  }

  /// Returns the subjects that a batch of events changes. Begins to watch new folders.
  mutating func changes(_ events: [WatchEvent]) -> Set<Subject> {
    var changed: Set<Subject> = []
    var isMoved = false
    for event in events {
      if event.has(IN_Q_OVERFLOW) {
        changed = subjects
        isMoved = true
        continue
      }
      guard let folder = folders[event.watch] else { continue }
      if event.has(IN_IGNORED) { folders[event.watch] = nil }
      if event.has(IN_IGNORED, IN_DELETE_SELF, IN_MOVE_SELF) {
        isMoved = true
        continue
      }
      let place = WatchedPlace(folder: folder, name: event.name)
      for (subject, places) in places where places.contains(place) {
        if event.has(IN_CLOSE_WRITE, IN_MOVED_TO, IN_ATTRIB) || (event.has(IN_CREATE) && isComplete(place)) {
          changed.insert(subject)
        }
        if event.has(IN_MOVED_TO, IN_MOVED_FROM, IN_CREATE, IN_DELETE) { isMoved = true }
      }
      // The names of outputs are skipped: a build that changes its own outputs changes no source.
      for (subject, folders) in trees
      where folders.contains(folder) && !SourceTree.isSkipped(event.name, isFolder: event.has(IN_ISDIR)) {
        if event.has(IN_CLOSE_WRITE, IN_MOVED_TO, IN_MOVED_FROM, IN_DELETE) { changed.insert(subject) }
        // A new folder can already contain files, for which there will be no event. The target of a new link must be
        // watched as well.
        if event.has(IN_ISDIR) || (event.has(IN_CREATE, IN_MOVED_TO) && isComplete(place)) {
          changed.insert(subject)
          isMoved = true
        }
      }
    }
    if isMoved { changed.formUnion(renewed()) }
    return changed
  }

  /// Whether a new file is complete. A symbolic or hard link is complete at once, but a regular file must first be
  /// written and closed.
  private func isComplete(_ place: WatchedPlace) -> Bool {
    var status = stat()
    guard lstat("\(place.folder)/\(place.name)", &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1
  }

  /// Resolves all paths again. Returns the subjects whose paths now lead elsewhere.
  private mutating func renewed() -> Set<Subject> {
    let before = (places, trees)
    renew()
    return subjects.filter { before.0[$0] != places[$0] || before.1[$0] != trees[$0] }
  }

  private mutating func renew() {
    failure = nil
    // A path can change after it was resolved and before it is watched. These two steps are therefore repeated until
    // nothing changes.
    for _ in 0..<8 {
      let before = (places, trees)
      resolvePaths()
      watchFolders()
      if before.0 == places, before.1 == trees { return }
    }
  }

  private mutating func resolvePaths() {
    places = [:]
    trees = [:]
    for subject in subjects {
      switch subject {
      case .file(let path): places[subject] = WatchedPlace.all(of: path)
      case .tree(let path):
        let tree = SourceTree(path)
        trees[subject] = Set(tree.folders)
        // The path can lead to a single file instead of a folder, and sources can be symbolic links. The folder entry of
        // each such file, and of each symbolic link on the way to it, is watched too.
        places[subject] = ([path] + tree.links).flatMap { WatchedPlace.all(of: $0) }
      }
    }
  }

  private mutating func watchFolders() {
    let wanted = Set(places.values.flatMap { $0.map(\.folder) }).union(trees.values.flatMap(\.self))
    for (watch, folder) in folders where !wanted.contains(folder) {
      remove(watch)
      folders[watch] = nil
    }
    // All folders are added again, because a path may now lead to another folder. For a folder that is already watched,
    // this has no effect.
    var current: [Int32: String] = [:]
    for folder in wanted {
      let watch = add(folder)
      if watch >= 0 { current[watch] = folder } else if errno != ENOENT { failure = (folder, errno) }
    }
    for watch in folders.keys where current[watch] == nil { remove(watch) }
    folders = current
  }
}
