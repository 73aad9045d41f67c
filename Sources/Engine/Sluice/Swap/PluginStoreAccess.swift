import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The loader of an engine, and the lists of refused builds and of canaries in the loader's store. They are made on first use, because an
/// engine without libraries does not use the store.
final class PluginStoreAccess: Sendable {
  private struct Made: Sendable {
    let loader: PluginLoader
    let refusals: RefusalList
    let canaries: CanaryList
  }

  private let folder: String?
  private let project: String
  private let offer: HostOffer
  private let made = Locked<Made?>(nil)
  /// The same value. Its lock is held while the loader is made. Readers of `made` do not wait for this, because the disk
  /// can be slow.
  private let making = Locked<Made?>(nil)

  /// - Parameters:
  ///   - folder: the folder of private copies; nil for the user's cache.
  ///   - file: the configuration file that refusals belong to; nil means this program.
  ///   - offer: what the host offers to the libraries.
  init(folder: String?, file: String? = nil, offer: HostOffer) {
    self.folder = folder
    project = RefusalList.project(of: file)
    self.offer = offer
  }

  /// Nil until a library is used.
  var refusals: RefusalList? { made.withLock { $0?.refusals } }

  func refusalList() throws(PluginError) -> RefusalList { try make().refusals }

  func canaryList() throws(PluginError) -> CanaryList { try make().canaries }

  func loader() throws(PluginError) -> PluginLoader { try make().loader }

  /// Nil until a library is used.
  var canaries: CanaryList? { made.withLock { $0?.canaries } }

  /// Nil until a library is used.
  var verdicts: VerdictList? { made.withLock { $0 }.map { VerdictList(store: $0.loader.store) } }

  private func make() throws(PluginError) -> Made {
    // Several libraries are read at the same time, and only one of them makes the loader.
    try making.withLock { making throws(PluginError) in
      if let making { return making }
      let loader = try PluginLoader(store: folder, offer: offer)
      let new = Made(
        loader: loader, refusals: RefusalList(store: loader.store, project: project),
        canaries: CanaryList(store: loader.store, project: project))
      making = new
      made.withLock { $0 = new }
      return new
    }
  }
}
