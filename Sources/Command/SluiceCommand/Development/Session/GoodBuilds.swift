import Glibc
import SluiceJSON
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The builds that served. They are kept so that a restarted engine can use them, even if the files at their paths have
/// been replaced since.
///
/// Their bytes are kept in memory. The store also has copies, but these are removed after the process that made them
/// has ended.
struct GoodBuilds {
  /// A build that the engine has reported.
  struct Build: Equatable {
    let library: String
    let plugins: [String]
    let version: String
    let hash: String
    let generation: Int64
  }

  private static let keptBuilds = 3

  /// The serving builds, by the path of the library.
  private(set) var serving: [String: Build] = [:]
  /// The hashes of the builds that served, with the newest at the end.
  private var served: [String: [String]] = [:]
  private var bytes: [String: [UInt8]] = [:]

  /// Notes the builds that serve now.
  /// - Parameter candidates: the bytes of libraries that have already been read, by hash.
  mutating func adopt(_ builds: [Build], candidates: [String: [UInt8]], store: String?) {
    serving = Dictionary(builds.map { ($0.library, $0) }) { _, last in last }
    for build in builds {
      var hashes = (served[build.library] ?? []).filter { $0 != build.hash }
      if bytes[build.hash] == nil {
        bytes[build.hash] = candidates[build.hash] ?? Self.read(build, store: store)
      }
      if bytes[build.hash] != nil { hashes.append(build.hash) }
      served[build.library] = Array(hashes.suffix(Self.keptBuilds))
    }
    let kept = Set(served.values.flatMap(\.self))
    bytes = bytes.filter { kept.contains($0.key) }
  }

  /// Forgets builds that are at fault, but keeps at least one build of each library.
  mutating func drop(_ hashes: Set<String>) {
    for (library, all) in served {
      let rest = all.filter { !hashes.contains($0) }
      if !rest.isEmpty { served[library] = rest }
    }
  }

  /// The newest build of a library that has served; nil if none has served.
  func newest(of library: String) -> (hash: String, bytes: [UInt8])? {
    guard let hash = served[library]?.last, let bytes = bytes[hash] else { return nil }
    return (hash, bytes)
  }

  /// Reads the build from its path. If another build is now at this path, reads the private copy of the wanted build
  /// from the store.
  private static func read(_ build: Build, store: String?) -> [UInt8]? {
    if let image = try? LibraryImage(reading: build.library), image.hash.hex == build.hash { return image.bytes }
    guard let store = store ?? PluginStore.defaultPath() else { return nil }
    for copy in FolderListing.names(in: "\(store)/\(build.hash)") {
      let path = "\(store)/\(build.hash)/\(copy)/plugin.so"
      if let image = try? LibraryImage(reading: path), image.hash.hex == build.hash { return image.bytes }
    }
    return nil
  }
}

extension GoodBuilds.Build {
  init?(_ document: JSONValue) {
    guard let library = document["library"]?.string, let hash = document["hash"]?.string else { return nil }
    self.init(
      library: library, plugins: document["plugins"]?.texts ?? [], version: document["version"]?.string ?? "",
      hash: hash, generation: document["generation"]?.integer ?? 0)
  }

  /// The members of the event `unchanged` about the build that serves.
  var document: JSONValue {
    ["version": JSONValue(version), "hash": JSONValue(hash), "generation": JSONValue(generation)]
  }
}
