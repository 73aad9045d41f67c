import CLinux
package import CSluice
import Glibc
import SluiceSupport

/// A library that is mapped into this process and is never unmapped. Only this type calls the dynamic loader.
///
/// Swift's runtime keeps pointers into every image that it has seen, and threads, thread-local destructors and signal
/// handlers can point into an image too. So the library is opened with RTLD_NODELETE. `dlclose` is used only to release
/// a second reference to a library, which stays mapped through the first reference.
package final class LoadedLibrary: Sendable {
  /// The path as it was given. It is used only in messages.
  package let path: String
  package let stored: StoredPlugin
  package let facts: LibraryFacts
  package let entry: PluginEntryFunction

  /// The mapped copies. The copies and their locks are kept until the process ends.
  private static let parked = Locked<[StoredPlugin]>([])

  /// Returns the build id of the mapped library with this name (DT_SONAME); nil if no such library is mapped, or if it
  /// has no build id.
  package static func buildID(ofMapped name: String) -> String? {
    guard let handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return nil }
    defer { dlclose(handle) }
    return MappedObject.buildID(ofHandle: handle)
  }

  /// Runs the library's destructors, as at the end of a process. Afterwards no code of the library must be called.
  package func runDestructors() { sluice_run_destructors_at(unsafeBitCast(entry, to: UnsafeRawPointer.self)) }

  /// Gives the pages of the library with this entry point back to the kernel. Code that still runs in the library is
  /// only slower for a moment.
  package static func pageOut(_ entry: PluginEntryFunction) {
    sluice_page_out_library_at(unsafeBitCast(entry, to: UnsafeRawPointer.self))
  }

  /// Maps a stored copy, which runs the library's constructors. For this reason the work is done on a separate thread,
  /// for which this function waits.
  static func load(
    _ stored: StoredPlugin, facts: LibraryFacts, path: String
  ) throws(PluginError) -> LoadedLibrary {
    guard let result = SystemThread.runAndWait({ open(stored, facts, path) }) else { throw noThread(path) }
    return try result.get()
  }

  private init(_ stored: StoredPlugin, _ facts: LibraryFacts, _ path: String, _ entry: @escaping PluginEntryFunction) {
    self.stored = stored
    self.facts = facts
    self.path = path
    self.entry = entry
  }

  private static func open(
    _ stored: StoredPlugin, _ facts: LibraryFacts, _ path: String
  ) -> Result<LoadedLibrary, PluginError> {
    Result { () throws(PluginError) in
      let subject = PluginError.Subject.plugin(name: nil, path: path)
      ProcessEnvironment.ensure()
      let copy = LoadedCopy(path: path, copy: stored.path, hash: stored.hash)
      let mapped = CallSubject(copy).call(.constructor) { dlopen(stored.path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
      guard let handle = mapped else {
        throw LoaderMessage.error(subject, stored.path, dlerror().map { String(cString: $0) })
      }
      // From here on the copy stays mapped, even if a check fails.
      parked.withLock { $0.append(stored) }
      guard let address = dlsym(handle, LibraryFacts.entrySymbol) else {
        throw PluginError(.noEntry, subject, "does not define \(LibraryFacts.entrySymbol)")
      }
      try requireOwn(address, handle, subject)
      do throws(PluginError) { try requireStaged(address, stored, facts, subject) } catch {
        if error.code == .oldMapping { giveBack(handle, for: stored) }
        throw error
      }
      return LoadedLibrary(stored, facts, path, unsafeBitCast(address, to: PluginEntryFunction.self))
    }
  }

  /// Releases the handle if the loader returned a library that was already mapped instead of this copy.
  private static func giveBack(_ handle: UnsafeMutableRawPointer, for stored: StoredPlugin) {
    parked.withLock { $0.removeAll { $0 === stored } }
    dlclose(handle)
  }

  /// Makes sure that the library itself defines the entry point. The check is needed because `dlsym` also searches the
  /// library's dependencies.
  private static func requireOwn(
    _ address: UnsafeMutableRawPointer, _ handle: UnsafeMutableRawPointer, _ subject: PluginError.Subject
  ) throws(PluginError) {
    guard let own = MappedObject.loadAddress(ofHandle: handle), MappedObject.containing(address)?.loadAddress == own
    else {
      throw PluginError(
        .noEntry, subject, "its \(LibraryFacts.entrySymbol) comes from another library that it needs",
        advice: "define the function in the plugin itself")
    }
  }

  /// Makes sure that the new copy is mapped. If a name or an inode is the same, the loader returns a library that it
  /// has mapped before.
  private static func requireStaged(
    _ address: UnsafeMutableRawPointer, _ stored: StoredPlugin, _ facts: LibraryFacts, _ subject: PluginError.Subject
  ) throws(PluginError) {
    errno = 0
    let isMapped = stored.withDescriptor { MappedFile.isMapped($0, at: address) }
    guard isMapped != nil || errno != EMFILE else {
      throw PluginError(
        .loadFailed, subject, "cannot be inspected, because it has used up all file descriptors",
        advice: "open files in activate, and close them; or raise the limit (ulimit -n)")
    }
    let found = MappedObject.containing(address)?.buildID
    let hasBuildID = facts.buildID == nil || facts.buildID == found
    // If the kernel does not tell which file is mapped, only the build id can show whether the new copy is mapped.
    guard isMapped == .some(true) || (isMapped == .some(nil) && hasBuildID) else {
      throw PluginError(
        .oldMapping, subject, "the loader returned an old mapping instead of the new copy",
        advice: "restart the program to use the new build")
    }
    guard hasBuildID else {
      throw PluginError(
        .damaged, subject,
        "is damaged: its build id is \(facts.buildID ?? "none") in the file, and \(found ?? "none") when it is loaded",
        advice: "build it again")
    }
  }

  private static func noThread(_ path: String) -> PluginError {
    PluginError(
      .loadFailed, .plugin(name: nil, path: path), "no thread could be started to load it",
      advice: "raise the limit of threads (ulimit -u)")
  }
}

/// The type of the exported function.
package typealias PluginEntryFunction =
  @convention(c) (UnsafePointer<sluice_host>?, UInt32, UnsafeMutablePointer<sluice_error>?) -> UnsafePointer<
    sluice_plugin
  >?
