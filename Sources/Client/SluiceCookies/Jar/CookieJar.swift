import Glibc
public import SluiceMessages
import SluiceSupport

/// The cookies of a client, according to draft-ietf-httpbis-rfc6265bis-22. They are kept in memory and, if the program
/// wants it, in a file.
///
/// Can be used from any thread, and by several clients. Only ``init(file:keepsSessionCookies:)`` and ``save(timeout:)``
/// wait for a disk.
///
/// A server can set a cookie for its own host, and for the domains above it that are not public suffixes (by libpsl).
/// Without a list of public suffixes, only cookies for the server's own host are kept. Name and value together have at
/// most 4,096 bytes. The jar keeps at most 180 cookies for a domain and 3,000 in total. It drops the cookies that were
/// not used for the longest time.
public final class CookieJar: Sendable {
  private struct State {
    var store = CookieStore()
    /// The keys of cookies that were set or removed since the file was last read or written.
    var changed: Set<Cookie.Key> = []
  }

  private let state: Locked<State>
  private let suffixes: PublicSuffixes
  private let now: @Sendable () -> Int64
  private let file: CookieFile?
  private let keepsSessionCookies: Bool

  /// An empty jar in memory. The first jar of the process reads the system's list of public suffixes.
  public convenience init() { self.init(suffixes: .system) }

  /// - Parameter now: in seconds since 1970.
  package init(suffixes: PublicSuffixes, now: @escaping @Sendable () -> Int64 = CookieJar.wallClock) {
    state = Locked(State())
    self.suffixes = suffixes
    self.now = now
    file = nil
    keepsSessionCookies = false
  }

  /// A jar with the cookies of a file, in the form that curl reads and writes. The jar is empty if the file does not
  /// exist.
  ///
  /// The file is read at once. Only ``save(timeout:)`` writes it. It must belong to the user of the process and must
  /// not be readable or writable by other users. A symbolic link is not followed. Expired cookies, and cookies that
  /// break the rules about prefixes and public suffixes, are not used.
  ///
  /// - Parameters:
  ///   - path: the file; its folder must exist.
  ///   - keepsSessionCookies: whether cookies without an expiry are read and written too, as curl does. By default such
  ///     cookies end with the program.
  /// - Throws: `damaged` with the line, `unsafe` or `system`.
  public convenience init(file path: String, keepsSessionCookies: Bool = false) async throws(CookieJarError) {
    try await self.init(
      file: path, keepsSessionCookies: keepsSessionCookies, suffixes: .system, now: CookieJar.wallClock)
  }

  package init(
    file path: String, keepsSessionCookies: Bool, suffixes: PublicSuffixes, now: @escaping @Sendable () -> Int64
  ) async throws(CookieJarError) {
    let file = CookieFile(path: path)
    let moment = now()
    let cookies = try await Self.onThread(path) { () throws(CookieJarError) in try Self.read(file, moment) }
    var store = CookieStore()
    for cookie in cookies
    where CookieStore.keepsRules(cookie, suffixes) && (keepsSessionCookies || cookie.expires != nil) {
      store.insert(cookie, now: moment)
    }
    state = Locked(State(store: store))
    self.suffixes = suffixes
    self.now = now
    self.file = file
    self.keepsSessionCookies = keepsSessionCookies
  }

  /// The system's clock, in seconds since 1970.
  package static let wallClock: @Sendable () -> Int64 = { Int64(time(nil)) }

  // MARK: Cookies

  /// The cookies that have not expired, in the order of their creation.
  public var cookies: [Cookie] {
    let now = now()
    return state.withLock { $0.store.cookies }.filter { !$0.isExpired(at: now) }
  }

  /// The cookies that a request for a URL gets, in the order in which they are sent.
  public func cookies(for url: HTTPURL) -> [Cookie] {
    let now = now()
    return state.withLock { $0.store.cookies(for: url, now: now) }
  }

  /// Handles a `Set-Cookie` value as if it were in a response from the URL.
  ///
  /// - Returns: whether the rules allow the cookie. If not, the jar is unchanged.
  @discardableResult
  public func receive(_ setCookie: String, from url: HTTPURL) -> Bool {
    receive(Array(setCookie.utf8)[...], from: url) == nil
  }

  /// Handles each `Set-Cookie` field of a response from the URL.
  package func receive(_ fields: HeaderFields, from url: HTTPURL) {
    let name = "set-cookie"
    var next = fields.firstIndex(named: name.utf8.span)
    while let index = next {
      receive(fields.buffer[fields.valueRange(at: index)], from: url)
      next = fields.firstIndex(named: name.utf8.span, from: index + 1)
    }
  }

  /// - Returns: why the field was ignored; nil if it was accepted.
  @discardableResult
  package func receive(_ field: ArraySlice<UInt8>, from url: HTTPURL) -> CookieRefusal? {
    let now = now()
    return state.withLock { state in
      do throws(CookieRefusal) {
        let cookie = try state.store.receive(field, from: url, suffixes: suffixes, now: now)
        state.changed.insert(cookie.key)
        return nil
      } catch { return error }
    }
  }

  /// The value of the `Cookie` field for a request; nil if it gets no cookie.
  package func header(for url: HTTPURL) -> [UInt8]? {
    let now = now()
    return state.withLock { $0.store.header(for: url, now: now) }
  }

  /// Removes the cookie with the same name, domain and path.
  public func remove(_ cookie: Cookie) {
    state.withLock { state in
      state.store.remove(cookie.key)
      state.changed.insert(cookie.key)
    }
  }

  /// Removes all cookies.
  public func removeAll() {
    state.withLock { state in
      state.changed.formUnion(state.store.cookies.map(\.key))
      state.store = CookieStore()
    }
  }

  /// Adds cookies that did not come from a response, for instance from a file. Cookies that break the rules about
  /// prefixes and public suffixes are left out.
  package func insert(_ cookies: [Cookie]) {
    let now = now()
    state.withLock { state in
      for cookie in cookies where CookieStore.keepsRules(cookie, suffixes) {
        state.store.insert(cookie, now: now)
        state.changed.insert(cookie.key)
      }
    }
  }

  // MARK: The file

  /// All cookies, including session cookies, in the form that curl reads.
  package var text: [UInt8] { CookieFileText.write(cookies) }

  /// Checks, without changing anything, whether ``write(to:)`` could write the file now.
  package static func checkWriting(to path: String) throws(CookieJarError) {
    try CookieFile(path: path).checkReplacing()
  }

  /// Replaces the content of a file with all cookies, including session cookies (mode 0600). Waits for the disk on a
  /// separate thread.
  package func write(to path: String) async throws(CookieJarError) {
    let (file, bytes) = (CookieFile(path: path), text)
    try await Self.onThread(path) { () throws(CookieJarError) in try file.replace(with: bytes) }
  }

  /// Writes all changes to the file, and keeps the changes that other processes have written to it. Waits for the disk
  /// on a separate thread. Does nothing for a jar without a file.
  ///
  /// The new content replaces the file atomically (mode 0600): after a crash, there is either the old or the new file.
  /// A damaged file is not replaced.
  ///
  /// - Parameter timeout: how long to wait for a process that writes the same file.
  /// - Throws: `locked`, `damaged` with the line, `unsafe` or `system`. After an error, the file is unchanged, and the
  ///   next call writes the changes.
  public func save(timeout: Duration = .seconds(5)) async throws(CookieJarError) {
    guard let file else { return }
    try await Self.onThread(file.path) { [self] () throws(CookieJarError) in
      try file.withLock(timeout: timeout) { () throws(CookieJarError) in try write(file) }
    }
  }

  private func write(_ file: CookieFile) throws(CookieJarError) {
    let moment = now()
    var merged = CookieStore()
    for cookie in try Self.read(file, moment) { merged.insert(cookie, now: moment) }
    // The state is read while the lock of the file is held. Of two calls, the later one therefore writes the later
    // state.
    let (store, changed) = state.withLock { state in
      defer { state.changed = [] }
      return (state.store, state.changed)
    }
    let current = store.cookies.filter { changed.contains($0.key) && ($0.expires != nil || keepsSessionCookies) }
    let kept = Set(current.map(\.key))
    for key in changed where !kept.contains(key) { merged.remove(key) }
    for cookie in current { merged.insert(cookie, now: moment) }
    do throws(CookieJarError) { try file.replace(with: CookieFileText.write(merged.cookies)) } catch {
      state.withLock { $0.changed.formUnion(changed) }
      throw error
    }
  }

  private static func read(_ file: CookieFile, _ now: Int64) throws(CookieJarError) -> [Cookie] {
    let bytes = try file.read()
    do throws(CookieFileText.Damage) { return try CookieFileText.read(bytes, now: now) } catch {
      throw CookieJarError(
        .damaged, file.path, line: error.line, "\(error.message); repair the line, or move the file away")
    }
  }

  /// Runs the body on a separate thread, so that no thread of Swift's pool waits for the disk.
  private static func onThread<Success: Sendable>(
    _ path: String, _ body: @escaping @Sendable () throws(CookieJarError) -> Success
  ) async throws(CookieJarError) -> Success {
    let result = await Handover<Result<Success, CookieJarError>>.wait { handover in
      let hasStarted = SystemThread.start("sluice-cookies") {
        do throws(CookieJarError) { handover.give(.success(try body())) } catch { handover.give(.failure(error)) }
      }
      if !hasStarted {
        handover.give(.failure(CookieJarError(.system, path, "no thread could be started: \(SystemError.text())")))
      }
    }
    return try result.get()
  }
}

extension CookieJar: CustomStringConvertible {
  /// The number of cookies, without their names and values.
  public var description: String { "CookieJar(\(state.withLock { $0.store.count }) cookies)" }
}
