/// The facts about each descriptor that libcurl uses.
struct SocketTable {
  struct Entry {
    /// The events that epoll watches.
    var registered: UInt32 = 0
    /// The events that libcurl waits for.
    var wanted: UInt32 = 0
    /// Whether the socket was opened by our callback, so that it is also closed by our callback. Its epoll registration
    /// may then stay when libcurl stops watching it.
    var isOurs = false
    /// The local port; 0 until a request was sent on the connection.
    var localPort: Int32 = 0
    /// The connection's id; 0 for a socket that libcurl did not open through our callback.
    var connectionID: UInt64 = 0
    /// Whether a response in HTTP/1 has arrived. An HTTP/1 server must send nothing between two requests.
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
