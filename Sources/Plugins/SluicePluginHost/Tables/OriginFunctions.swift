import CSluice
import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline
import Synchronization

/// The table `sluice.origins/1`.
enum OriginFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_origins> = {
    let table = UnsafeMutablePointer<sluice_origins>.allocate(capacity: 1)
    table.initialize(
      to: sluice_origins(
        size: UInt32(MemoryLayout<sluice_origins>.size), reserved: 0,
        read: { OriginFunctions.read($0, $1, $2, $3, $4) }, match: { OriginFunctions.match($0, $1) },
        release: { OriginFunctions.release($0) }))
    return UnsafePointer(table)
  }()

  /// The object behind a plugin's pointer.
  private final class List: Sendable {
    let patterns: HostPatternList
    private let handle: HostHandle

    init(_ patterns: HostPatternList, _ handle: HostHandle) {
      self.patterns = patterns
      self.handle = handle
      handle.openHostLists.add(1, ordering: .relaxed)
    }

    deinit { handle.openHostLists.subtract(1, ordering: .releasing) }
  }

  private static func read(
    _ host: UnsafePointer<sluice_host>?, _ hosts: UnsafePointer<json_t>?, _ name: UnsafePointer<CChar>?,
    _ list: UnsafeMutablePointer<OpaquePointer?>?, _ buffer: UnsafeMutablePointer<sluice_error>?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.closing }
    guard let list else {
      handle.report(.invalidArgument, "read of a list of hosts: the pointer for it is NULL")
      return Status.invalid
    }
    list.pointee = nil
    let name = name.flatMap { String(validatingCString: $0) } ?? "hosts"
    do throws(MessageError) {
      let document = hosts.map { JSONValue(retaining: UnsafeMutablePointer(mutating: $0)) }
      list.pointee = OpaquePointer(Unmanaged.passRetained(List(try patterns(document, name), handle)).toOpaque())
      return Status.ok
    } catch {
      PluginErrorBuffer.write("\(error.subject): \(error.reason)", to: buffer)
      return Status.failed
    }
  }

  private static func patterns(_ hosts: JSONValue?, _ name: String) throws(MessageError) -> HostPatternList {
    guard let hosts, hosts.isArray, hosts.count > 0 else {
      throw MessageError(.invalidURL, #""\#(name)""#, #"expected an array of at least one host; "*" is every host"#)
    }
    var list = HostPatternList()
    for index in 0..<hosts.count {
      guard let text = hosts[index]?.string else {
        throw MessageError(.invalidURL, "\"\(name)\"[\(index)]", "expected a string like \"api.example.com\"")
      }
      do throws(MessageError) {
        list.append(try HostPattern(text, hosts: .idna))
      } catch { throw MessageError(.invalidURL, "\"\(name)\"[\(index)]", error.reason) }
    }
    return list
  }

  private static func match(_ handle: OpaquePointer?, _ list: OpaquePointer?) -> sluice_status {
    CallContext.with(handle) { called in
      guard let list else { return called.refuse(.invalidArgument, "match without a list of hosts") }
      return Unmanaged<List>.fromOpaque(UnsafeRawPointer(list))._withUnsafeGuaranteedRef { list in
        list.patterns.matches(called) ? Status.ok : Status.absent
      }
    }
  }

  private static func release(_ list: OpaquePointer?) {
    if let list { Unmanaged<List>.fromOpaque(UnsafeRawPointer(list)).release() }
  }
}

extension HostPatternList {
  /// Whether the host of the request's current URL is on the list. A URL that cannot be parsed is on no list.
  fileprivate func matches(_ called: CalledExchange) -> Bool {
    guard let document = called.requestDocument else {
      return firstIndex(matching: called.exchange.requestForms.native.url) != nil
    }
    guard let text = document.json["url"]?.string, let url = try? HTTPURL(text, hosts: .idna) else { return false }
    return firstIndex(matching: url) != nil
  }
}
