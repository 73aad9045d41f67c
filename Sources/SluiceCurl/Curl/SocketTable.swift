/// What is known of each descriptor that libcurl uses, by number.
struct SocketTable {
  struct Entry {
    /// The events that epoll watches.
    var registered: UInt32 = 0
    /// The events that libcurl wants.
    var wanted: UInt32 = 0
    /// Whether the socket was opened through our callback, and so is also closed through it. Then its registration may
    /// outlive libcurl's interest.
    var isOurs = false
    /// The local port; 0 until a request went out.
    var localPort: Int32 = 0
    /// The connection's id; 0 for a socket that libcurl did not open through our callback.
    var connectionID: UInt64 = 0
    /// Whether a response came in HTTP/1; such a server must be silent between two requests.
    var isHTTP1 = false
  }

  private var entries: [Entry] = []

  subscript(descriptor: Int32) -> Entry {
    get {
      let index = Int(descriptor)
      return index < entries.count ? entries[index] : Entry()
    }
    set {
      let index = Int(descriptor)
      if index >= entries.count {
        entries.append(contentsOf: repeatElement(Entry(), count: index + 64 - entries.count))
      }
      entries[index] = newValue
    }
  }
}
