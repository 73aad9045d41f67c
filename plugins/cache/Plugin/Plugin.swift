import CacheRules
import Glibc
public import SluicePlugin
import SluiceSupport

/// An HTTP cache (RFC 9111): shared where requests come from several clients, otherwise private. It answers requests
/// itself where it can, and asks the origin to confirm stored responses where it must.
///
///     request ── fresh ──────────────────────────────────────────► answered, the wire is skipped
///        └─ stale ── conditions added ── wire ── 304 ── freshened ─► the stored response
///                                          ├── 200 ── stored ─────► the new response
///                                          └── 5xx, or nothing ───► the stored response, where stale-if-error allows
struct Cache: Plugin {
  static let information = PluginInformation(
    id: "cache", version: "1.0.0", summary: "Answers requests from stored responses, as an HTTP cache.")
  static let options: PluginOptions = .wantsResponseBody
  static let configurationSchema: String? = CacheConfiguration.schema
  static let configurationDefaults: JSONValue? = CacheConfiguration.defaults

  let configuration: CacheConfiguration
  /// In milliseconds.
  let staleIfError: Int64
  let heuristicLimit: Int64
  let partition: [String]
  let store: CacheStore
  let host: PluginHost

  init(configuration: CacheConfiguration, host: PluginHost) throws {
    self.configuration = configuration
    self.host = host
    staleIfError = try configuration.milliseconds("staleIfError", configuration.staleIfError)
    heuristicLimit = try configuration.milliseconds("heuristicLimit", configuration.heuristicLimit)
    // Fields that tell the clients of a gateway apart cannot be left out.
    let partition =
      host.isShared ? ["authorization", "cookie"] + (configuration.partitionBy ?? []) : configuration.partitionBy
    self.partition = (partition ?? ["authorization"]).map { $0.lowercased() }
    let disk = configuration.disk.map { disk in
      DiskStore(
        DiskFolder(
          path: SystemPath.fromCurrentFolder(disk.path),
          maximumBytes: disk.bytes ?? CacheConfiguration.defaultDiskBytes,
          maximumEntryBytes: configuration.entryBytes), host)
    }
    store = CacheStore(memoryBytes: configuration.memoryBytes, disk: disk)
  }

  /// Not called in a trial, which must not touch the disk.
  func activate() throws {
    guard Digest.isAvailable else {
      throw StageFailure(message: "libcrypto refuses SHA-256; allow SHA-256 in the policy of OpenSSL")
    }
    if !host.isTrial { try store.open() }
  }

  func deactivate(timeout: Duration) {
    store.close(within: timeout)
  }
}

extension Timestamp {
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

// The features that the host must have.
@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.respond") @used let requiresRespond = true
@section(".sluice.requires.retry") @used let requiresRetry = true
@section(".sluice.requires.response_body") @used let requiresResponseBody = true
@section(".sluice.requires.response") @used let requiresResponse = true

/// The entry point that the host looks for.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(Cache.self, host, abi, error)
}
