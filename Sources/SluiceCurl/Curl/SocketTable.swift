/// What is known of each descriptor that libcurl uses, by number.
struct SocketTable {
  struct Entry {
    /// What epoll watches for.
    var registered: UInt32 = 0
    /// What libcurl wants to hear of.
    var wanted: UInt32 = 0
    /// Opened through our callback, and so also closed through it: its registration may outlive libcurl's interest.
    var isOurs = false
    /// The port at this end; 0 until a request went out.
    var localPort: Int32 = 0
    /// Of the connection; 0 for a socket that libcurl did not open through us.
    var connectionID: UInt64 = 0
    /// Whether a response came in HTTP/1, whose server is silent between two requests.
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
