import CSluice
import SluiceJSON

/// A list of hosts, which the engine reads and compares in the same way as its own lists (`sluice.origins/1`, a draft).
///
/// A stage that sends secrets to some hosts must not parse URLs itself: if two parsers disagree about a URL, the secret
/// goes to the wrong host. Can be used from any thread.
public final class HostList: Sendable {
  private let link: HostLink
  private let handle: HostListHandle

  fileprivate init(_ link: HostLink, _ handle: HostListHandle) {
    self.link = link
    self.handle = handle
    link.hostLists.insert(handle)
  }

  deinit { link.hostLists.release(handle) }

  /// Whether the URL of the request is on the list: the current URL or, from issue interceptors on, the URL of the hop.
  ///
  /// False outside of the call that `request` belongs to, and for a request of another instance.
  public func contains(_ request: StageRequest) -> Bool {
    guard request.call.link === link else { return false }
    return request.call.withExchange { _, exchange in
      handle.origins.pointee.match(exchange, handle.list) == sluice_status(SLUICE_STATUS_OK)
    } ?? false
  }
}

extension PluginHost {
  private static let messageBytes = 1024

  /// Reads the entries of a list of hosts: `api.example.com`, `*.example.com` or `*`, each with an optional `https://`
  /// before it and `:port` after it. Call it in `init`, with texts of the configuration.
  ///
  /// - Parameter name: the place of the list in the configuration, for messages.
  /// - Throws: ``StageFailure`` that names the first bad entry; with the code `unsupported` in a host without the
  ///   table.
  public func hostList(_ hosts: [String], named name: String) throws(StageFailure) -> HostList {
    var handle: HostListHandle?
    var message = ""
    let status = link.withHost { host -> sluice_status in
      guard let origins = host.origins else { return sluice_status(SLUICE_STATUS_UNSUPPORTED) }
      return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.messageBytes) { buffer in
        buffer.initialize(repeating: 0)
        var error = sluice_error(
          size: UInt32(MemoryLayout<sluice_error>.size), capacity: UInt32(buffer.count), message: buffer.baseAddress)
        var list: OpaquePointer?
        let status = JSONValue.array(of: hosts).withUnsafeJSON { json in
          name.withCString { origins.pointee.read(host, json, $0, &list, &error) }
        }
        handle = list.map { HostListHandle($0, origins) }
        message = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return status
      }
    }
    if let handle { return HostList(link, handle) }
    switch status.map(Int.init) {
    case nil, Int(SLUICE_STATUS_CLOSING): throw .instanceEnded
    case Int(SLUICE_STATUS_UNSUPPORTED):
      throw StageFailure(code: "unsupported", message: "this host does not support lists of hosts")
    default: throw StageFailure(message: message.isEmpty ? "the host refused \"\(name)\"" : message)
    }
  }
}
