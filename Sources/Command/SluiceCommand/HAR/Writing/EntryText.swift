import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages

/// One entry of an HTTP Archive 1.2 (http://www.softwareishard.com/blog/har-12-spec/). Members that the format does not
/// define have names that begin with an underscore, as the format requires.
enum EntryText {
  /// This can read a file, so it must not be called on an event loop.
  static func make(_ hop: ArchivedHop, _ mask: SecretMask) -> [UInt8] {
    let timings = EntryTimings(hop.timings)
    var text = JSONText(capacity: 2048 + hop.heldBytes)
    text.object { entry in
      entry.text("startedDateTime", UniversalTime.text(hop.began))
      timings.addTotal(to: &entry)
      entry.object("request") { RequestText.add(hop, mask, to: &$0) }
      entry.object("response") { ResponseText.add(hop, mask, to: &$0) }
      entry.object("cache") { _ in }
      timings.add(to: &entry)
      if let address = hop.connection?.peer?.host ?? hop.timings.peerAddress { entry.text("serverIPAddress", address) }
      if let id = hop.connection?.id { entry.text("connection", "\(id)") }
      entry.text("_requestId", hop.identity.requestID)
      entry.number("_attempt", hop.identity.attempt)
      entry.number("_hop", hop.identity.hop)
    }
    return text.bytes
  }

  /// The version, such as `HTTP/1.1`; empty if it is not known.
  static func version(of hop: ArchivedHop) -> String {
    let version = hop.response?.version ?? hop.timings.version ?? hop.connection?.version
    return version.map { "\($0)" } ?? ""
  }
}
