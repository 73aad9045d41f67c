import CCurl
import CLinux
import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// A multi handle of libcurl. The events of one loop drive it.
///
/// When libcurl stops watching a descriptor between two requests, the descriptor stays registered for input. A reused
/// connection therefore costs no `epoll_ctl`. The registration ends when the socket is closed, or when an event arrives
/// that libcurl does not wait for.
final class CurlMulti {
  /// The maximum number of concurrent streams that libcurl may open on a connection. If a server allows fewer streams,
  /// libcurl opens more connections to it (RFC 9113 §6.5.2 recommends at least 100).
  static let streamsPerConnection = 100

  let handle: UnsafeMutableRawPointer
  // The reference is strong, because the loop must exist until libcurl has released its last socket. The callbacks that
  // libcurl then calls use the loop's epoll set.
  private let loop: Loop
  @exclusivity(unchecked) private var sockets = SocketTable()
  /// The descriptors by their local ports. Libcurl identifies the connection of a request by its local port.
  @exclusivity(unchecked) private var ports: [Int32: Int32] = [:]
  private var sourceIndex = 0
  /// Whether libcurl is on the stack. Its callbacks must not call libcurl again.
  @exclusivity(unchecked) private(set) var isBusy = false
  @exclusivity(unchecked) private(set) var isDue = false
  @exclusivity(unchecked) private var deadline = Instant.distantFuture
  private let timer = LoopTimer()
  private var capacity = 256
  private var isClosed = false

  init(loop: Loop) throws(TransportError) {
    guard let handle = curl_multi_init() else {
      throw TransportError(.resources, "libcurl: no memory for a multi handle", isBeforeSending: true)
    }
    self.handle = handle
    self.loop = loop
    setCallbacks()
    sluice_multi_set_long(handle, CURLMOPT_MAXCONNECTS, capacity)
    sluice_multi_set_long(handle, CURLMOPT_MAX_CONCURRENT_STREAMS, Self.streamsPerConnection)
  }

  deinit { if !isClosed { curl_multi_cleanup(handle) } }

  /// Closes every connection. At this point libcurl must have no transfer, and must not get another one. [loop]
  func close() {
    isClosed = true
    curl_multi_cleanup(handle)
    loop.disarm(timer)
  }

  /// Sets the number by which the loop identifies this source of events. [loop]
  func attach(_ sourceIndex: Int) { self.sourceIndex = sourceIndex }

  /// Limits the number of connections to one host. Further transfers wait inside libcurl.
  func limitConnectionsPerHost(to count: Int) {
    sluice_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, count)
  }

  /// Keeps the connection cache large enough for the transfers in flight. Libcurl also counts connections in use: if
  /// the cache were too small, libcurl would close each connection that becomes idle.
  func makeRoom(forTransfers count: Int) {
    guard count * 2 > capacity else { return }
    while capacity < count * 2 { capacity *= 2 }
    sluice_multi_set_long(handle, CURLMOPT_MAXCONNECTS, capacity)
  }

  func add(_ easy: UnsafeMutableRawPointer) -> CURLMcode { enter { curl_multi_add_handle(handle, easy) } }

  func remove(_ easy: UnsafeMutableRawPointer) { _ = enter { curl_multi_remove_handle(handle, easy) } }

  func unpause(_ easy: UnsafeMutableRawPointer) -> CURLcode { enter { curl_easy_pause(easy, CURLPAUSE_CONT) } }

  /// Lets libcurl do the work for which it has requested a timeout of 0. [loop]
  func runDue() {
    isDue = false
    var running: Int32 = 0
    _ = enter { curl_multi_socket_action(handle, curl_socket_t(-1), 0, &running) }
  }

  /// The next transfer that libcurl has finished; nil if there is none.
  func nextFinished() -> (easy: UnsafeMutableRawPointer, code: CURLcode)? {
    var left: Int32 = 0
    while let message = curl_multi_info_read(handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
      return (easy, message.pointee.data.result)
    }
    return nil
  }

  func descriptorIsReady(_ descriptor: Int32, _ events: UInt32) {
    let wanted = sockets[descriptor].wanted
    guard wanted != 0 else { return forget(descriptor) }
    var mask: Int32 = 0
    // An error is reported to libcurl as readiness. Libcurl then reads or writes, and gets the exact error.
    let failed = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
    if wanted & EPOLLIN.rawValue != 0, failed || events & EPOLLIN.rawValue != 0 { mask |= CURL_CSELECT_IN }
    if wanted & EPOLLOUT.rawValue != 0, failed || events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
    guard mask != 0 else { return register(descriptor, wanted) }
    var running: Int32 = 0
    _ = enter { curl_multi_socket_action(handle, descriptor, mask, &running) }
  }

  /// Opens a socket that no child process inherits. Returns -1 and sets `errno` if all descriptors except the reserved
  /// ones are in use.
  func open(_ family: Int32, _ type: Int32, _ proto: Int32) -> Int32 {
    let descriptor = SharedState.keepingStreams(socket(family, type | sluice_socket_close_on_exec, proto))
    guard descriptor >= 0 else { return descriptor }
    guard !DescriptorLimit.isReserved(descriptor) else {
      _ = Glibc.close(descriptor)
      errno = EMFILE
      return -1
    }
    sockets[descriptor] = SocketTable.Entry(
      isOurs: true, connectionID: Self.connectionIDs.add(1, ordering: .relaxed).newValue)
    return descriptor
  }

  func close(_ descriptor: Int32) -> Int32 {
    let port = sockets[descriptor].localPort
    if ports[port] == descriptor { ports[port] = nil }
    // The kernel removes the epoll registration when the last descriptor of the socket is closed.
    sockets[descriptor] = SocketTable.Entry()
    return Glibc.close(descriptor)
  }

  func want(_ descriptor: Int32, _ what: Int32) {
    var interest: UInt32 = 0
    if what & CURL_POLL_IN != 0, what != CURL_POLL_REMOVE { interest |= EPOLLIN.rawValue }
    if what & CURL_POLL_OUT != 0, what != CURL_POLL_REMOVE { interest |= EPOLLOUT.rawValue }
    sockets[descriptor].wanted = interest
    let entry = sockets[descriptor]
    if interest == 0 {
      // Only the registration for input may stay. It causes no events, because an idle connection is silent until the
      // peer closes it.
      guard entry.isOurs else { return forget(descriptor) }
      interest = entry.registered & EPOLLIN.rawValue
    }
    register(descriptor, interest)
  }

  /// The descriptor of the connection with that local port.
  ///
  /// - Parameter opened: the descriptors that the handle has opened for this request.
  func descriptor(onPort port: Int32, opened: [Int32]) -> Int32? {
    guard port > 0 else { return nil }
    for descriptor in opened where sockets[descriptor].isOurs && Self.localPort(of: descriptor) == port {
      sockets[descriptor].localPort = port
      ports[port] = descriptor
    }
    return ports[port]
  }

  private static let connectionIDs = Atomic<UInt64>(0)

  func connectionID(of descriptor: Int32) -> UInt64? {
    let id = sockets[descriptor].connectionID
    return id == 0 ? nil : id
  }

  func noteHTTP1(_ descriptor: Int32) { sockets[descriptor].isHTTP1 = true }

  /// Whether a kept connection must not be used, because bytes have arrived, or the server has closed it, before the
  /// request is sent. Libcurl would take such bytes for the response (RFC 9112 §9.2). After an early close, it would
  /// report that the response is missing.
  func isSoiled(_ descriptor: Int32) -> Bool {
    guard sockets[descriptor].isHTTP1 else { return false }
    var byte: UInt8 = 0
    guard recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 else { return true }
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR
  }

  private static func localPort(of descriptor: Int32) -> Int32 {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      guard let pointer, getsockname(descriptor, pointer, &size) == 0 else { return 0 }
      // The port is at the same offset in addresses of both families.
      switch Int32(pointer.pointee.sa_family) {
      case AF_INET, AF_INET6: return Int32(bytes[2]) << 8 | Int32(bytes[3])
      default: return 0
      }
    }
  }

  private func register(_ descriptor: Int32, _ interest: UInt32) {
    let registered = sockets[descriptor].registered
    guard registered != interest else { return }
    guard interest != 0 else { return forget(descriptor) }
    let tag = loop.tag(sourceIndex, descriptor)
    let isKnown = registered != 0 && loop.poller.control(EPOLL_CTL_MOD, descriptor, interest, tag: tag)
    if !isKnown { loop.poller.control(EPOLL_CTL_ADD, descriptor, interest, tag: tag) }
    sockets[descriptor].registered = interest
  }

  private func forget(_ descriptor: Int32) {
    guard sockets[descriptor].registered != 0 else { return }
    loop.poller.control(EPOLL_CTL_DEL, descriptor, 0, tag: 0)
    sockets[descriptor].registered = 0
  }

  @inline(__always)
  private func enter<Result>(_ body: () -> Result) -> Result {
    let wasBusy = isBusy
    isBusy = true
    defer { isBusy = wasBusy }
    return body()
  }
}

extension CurlMulti: LoopTimerTarget {
  /// Sets the timeout that libcurl's timer callback requests: -1 means none, and 0 means at once.
  func setTimeout(milliseconds: Int) {
    switch milliseconds {
    case 0: isDue = true
    case ..<0: deadline = .distantFuture
    default:
      // The timeout is counted from the beginning of the turn. The clock need not be read then, and the timer fires a
      // little early, which libcurl tolerates.
      deadline = Instant(nanoseconds: loop.turnBegan.nanoseconds &+ UInt64(milliseconds) &* 1_000_000)
      // A timer that is armed for an earlier time stays, and is armed again when it fires. This is cheaper than moving
      // the timer for each request.
      if !timer.isArmed || timer.deadline > deadline { loop.arm(timer, at: deadline, for: self) }
    }
  }

  func timerDidFire(_ timer: LoopTimer) {
    guard deadline < .distantFuture else { return }
    if loop.now >= deadline {
      deadline = .distantFuture
      isDue = true
    } else {
      loop.arm(timer, at: deadline, for: self)
    }
  }

  private func setCallbacks() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sluice_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, context)
    sluice_multi_set_socket_function(handle) { _, descriptor, what, context, _ in
      guard let context else { return 0 }
      Unmanaged<CurlMulti>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.want(descriptor, what) }
      return 0
    }
    sluice_multi_set_pointer(handle, CURLMOPT_TIMERDATA, context)
    sluice_multi_set_timer_function(handle) { _, milliseconds, context in
      guard let context else { return 0 }
      Unmanaged<CurlMulti>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.setTimeout(milliseconds: milliseconds) }
      return 0
    }
  }
}
