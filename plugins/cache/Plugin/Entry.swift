import CacheRules
import struct SluiceMessages.HeaderFields

/// A stored response. There can be several for one URL.
final class Entry: Sendable {
  /// The request fields on which the response depends: their names, and a digest of their values, which may be secrets.
  struct Selection: Hashable, Sendable {
    let names: [String]
    /// Nil if the request has none of the fields.
    let digest: Digest?

    init(names: [String], digest: Digest?) {
      self.names = names
      self.digest = digest
    }

    init(_ names: [String], of request: HeaderFields) {
      self.init(names: names, digest: request.selection(names).map { Digest(of: $0) })
    }
  }

  let url: String
  let head: StoredHead
  let body: [UInt8]
  let selection: Selection

  init(url: String, head: StoredHead, body: [UInt8], selection: Selection) {
    self.url = url
    self.head = head
    self.body = body
    self.selection = selection
  }

  /// The size that counts towards a limit: the entry's bytes, and an estimate of the other memory that it needs.
  var byteCount: Int { body.count + head.headers.wireByteCount + url.utf8.count + 512 }

  func with(_ head: StoredHead) -> Entry {
    Entry(url: url, head: head, body: body, selection: selection)
  }
}

extension Sequence<[String]> {
  /// The request's values of the selecting fields: one selection for each list of field names.
  func selections(of request: HeaderFields) -> [Entry.Selection] {
    map { Entry.Selection($0, of: request) }
  }
}

extension Sequence<Entry> {
  /// The newest of several matching responses (RFC 9111 §4.1).
  func latest() -> Entry? {
    self.max { ($0.head.date, $0.head.received) < ($1.head.date, $1.head.received) }
  }
}
