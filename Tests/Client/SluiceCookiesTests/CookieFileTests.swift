import Glibc
import SluiceCookies
import SluiceMessages
import SluiceTestKit
import Testing

/// The file in which a jar saves its cookies.
@Suite struct CookieFileTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path("cookies.txt") }
  private let url: HTTPURL = "https://a.example/"

  init() throws { folder = try TemporaryDirectory() }

  private func jar(keepsSessionCookies: Bool = false) async throws(CookieJarError) -> CookieJar {
    try await CookieJar(file: path, keepsSessionCookies: keepsSessionCookies, suffixes: .few) { noon }
  }

  private func write(_ lines: String, mode: mode_t = 0o600) throws {
    try folder.write(lines, to: "cookies.txt")
    chmod(path, mode)
  }

  private func failure(_ body: () async throws(CookieJarError) -> Void) async -> CookieJarError? {
    do throws(CookieJarError) { try await body() } catch { return error }
    return nil
  }

  private func content() throws -> String { try FileTree.readText(path) }

  @Test func `saved cookies can be loaded again, with everything except SameSite`() async throws {
    let first = try await jar()
    first.receive("a=1; max-age=60; domain=a.example; path=/x; secure; httponly", from: url)
    first.receive("b=2\t3; max-age=60", from: "http://127.0.0.1/")
    first.receive("only a value; max-age=60", from: "http://[::1]/")
    first.receive("empty=; max-age=99999999999", from: url)
    try await first.save()
    let second = try await jar()
    #expect(second.cookies == first.cookies && second.cookies.count == 4)
    #expect(
      try content().hasSuffix(
        """
        #HttpOnly_.a.example\tTRUE\t/x\tTRUE\t1800000060\ta\t1
        127.0.0.1\tFALSE\t/\tFALSE\t1800000060\tb\t2\t3
        ::1\tFALSE\t/\tFALSE\t1800000060\t\tonly a value
        a.example\tFALSE\t/\tFALSE\t1834560000\tempty\t

        """))
  }

  @Test func `a file that curl has written can be read`() async throws {
    try write(
      """
      # Netscape HTTP Cookie File
      # https://curl.se/docs/http-cookies.html

      .a.example\tTRUE\t/\tTRUE\t1800000060\ta\t1
      #HttpOnly_B.example\tFALSE\t/x\tFALSE\t0\tb\t2\r

      """)
    let jar = try await jar(keepsSessionCookies: true)
    #expect(jar.cookies(for: "https://x.a.example/").map(\.name) == ["a"])
    let session = jar.cookies(for: "http://b.example/x/y").first
    #expect(session?.value == "2" && session?.isHTTPOnly == true && session?.expires == nil)
  }

  @Test func `only the owner can read the file and its lock`() async throws {
    let jar = try await jar()
    jar.receive("a=1; max-age=60", from: url)
    let mask = umask(0)
    defer { umask(mask) }
    try await jar.save()
    for name in ["cookies.txt", "cookies.txt.lock"] {
      var status = stat()
      #expect(stat(folder.path(name), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    #expect(FileTree.names(in: folder.path) == ["cookies.txt", "cookies.txt.lock"])
  }

  @Test func `session cookies are not saved, unless the program asks for it`() async throws {
    let first = try await jar()
    first.receive("a=1", from: url)
    try await first.save()
    #expect(try !content().contains("\ta\t"))
    let second = try await jar(keepsSessionCookies: true)
    second.receive("a=1", from: url)
    try await second.save()
    #expect(try await jar().cookies.isEmpty)
    #expect(try await jar(keepsSessionCookies: true).cookies.map(\.name) == ["a"])
  }

  @Test func `expired cookies are removed from the file, and no cookie lives longer than 400 days`() async throws {
    try write("a.example\tFALSE\t/\tFALSE\t1799999999\told\t1\na.example\tFALSE\t/\tFALSE\t9999999999\tlong\t1\n")
    let jar = try await jar()
    #expect(jar.cookies.map(\.name) == ["long"] && jar.cookies.first?.expires == noon + 400 * 86_400)
    try await jar.save()
    #expect(try !content().contains("old") && content().contains("1834560000\tlong"))
  }

  @Test func `cookies in a file that break the rules for cookies are not sent`() async throws {
    let lines = [
      ".com\tTRUE\t/\tFALSE\t1800000060\ta\t1", "x.com\tFALSE\t/\tFALSE\t1800000060\t__Secure-b\t1",
      ".x.com\tTRUE\t/\tTRUE\t1800000060\t__Host-c\t1", "x.com\tFALSE\t/y\tTRUE\t1800000060\t__Host-d\t1",
      "x.com\tFALSE\t/\tTRUE\t1800000060\t\t__Host-e=1", "127.0.0.1\tTRUE\t/\tTRUE\t1800000060\tf\t1",
    ]
    try write(lines.joined(separator: "\n") + "\n")
    let jar = try await jar()
    #expect(jar.cookies.isEmpty)
  }

  @Test func `a file that an extension of a browser has exported is read`() async throws {
    try write(
      "\u{FEFF}# Netscape HTTP Cookie File\r\n# https://curl.haxx.se/rfc/cookie_spec.html\r\n\r\n"
        + "#HttpOnly_.a.example\ttrue\t/\tfalse\t1800000060.123\tfraction\t1\r\na.example\tFALSE\t/\tFALSE\t-1\tsession\t2\r\n"
        + "a.example\tFALSE\t/\tFALSE\t1800000060\tempty\r\n")
    let cookies = try await jar(keepsSessionCookies: true).cookies
    try #require(cookies.map(\.name) == ["fraction", "session", "empty"])
    #expect(cookies.map(\.expires) == [1_800_000_060, nil, 1_800_000_060])
    #expect(cookies[0].isHTTPOnly && !cookies[0].isHostOnly && cookies[2].value.isEmpty)
  }

  @Test(arguments: [
    ("a.example\tFALSE\t/\tFALSE\t1800000060", "5 fields"), ("a.example FALSE / FALSE 1800000060 a b", "1 fields"),
    ("a..example\tFALSE\t/\tFALSE\t1800000060\ta\tb", "field 1"), ("\tFALSE\t/\tFALSE\t1800000060\ta\tb", "field 1"),
    ("a.example:80\tFALSE\t/\tFALSE\t1800000060\ta\tb", "field 1"),
    ("u@a.example\tFALSE\t/\tFALSE\t1800000060\ta\tb", "field 1"),
    ("a.example\tno\t/\tFALSE\t1800000060\ta\tb", "field 2"),
    ("a.example\tFALSE\tx\tFALSE\t1800000060\ta\tb", "field 3"),
    ("a.example\tFALSE\t/\t0\t1800000060\ta\tb", "field 4"), ("a.example\tFALSE\t/\tFALSE\t-\ta\tb", "field 5"),
    ("a.example\tFALSE\t/\tFALSE\t1.x\ta\tb", "field 5"), ("a.example\tFALSE\t/\tFALSE\t.5\ta\tb", "field 5"),
    ("a.example\tFALSE\t/\tFALSE\t99999999999999999999\ta\tb", "field 5"),
    ("a.example\tFALSE\t/\tFALSE\t1800000060\ta=x\tb", "fields 6"),
    ("a.example\tFALSE\t/\tFALSE\t1800000060\ta\tb; c=d", "fields 6"),
    ("a.example\tFALSE\t/\tFALSE\t1800000060\t\t", "fields 6"),
    ("a.example\tFALSE\t/\tFALSE\t1800000060\ta\tb\u{1}", "control character"),
    ("a.example\tFALSE\t/\tFALSE\t1800000060\ta\t" + String(repeating: "b", count: 4096), "4096 bytes"),
  ])
  func `a damaged file is an error that names the line, and the file does not change`(
    line: String, message: String
  ) async throws {
    let damaged = "# comment\na.example\tFALSE\t/\tFALSE\t1800000060\tgood\t1\n\(line)\n"
    let jar = try await jar()
    try write(damaged)
    let opening = await failure { () throws(CookieJarError) in _ = try await self.jar() }
    #expect(opening?.code == .damaged && opening?.line == 3 && opening?.file == path)
    #expect(opening?.message.contains(message) == true, "\(opening?.message ?? "")")
    jar.receive("new=1; max-age=60", from: url)
    let saving = await failure { () throws(CookieJarError) in try await jar.save() }
    #expect(saving == opening)
    #expect(try content() == damaged)
    // After the file was repaired, the cookies of the file and of the jar are saved.
    try write("a.example\tFALSE\t/\tFALSE\t1800000060\tgood\t1\n")
    try await jar.save()
    #expect(try await self.jar().cookies.map(\.name) == ["good", "new"])
  }

  @Test func `a file that was cut off is damaged`() async throws {
    try write("a.example\tFALSE\t/\tFALSE\t1800000060\ta\tb\na.example\tFALSE\t/\tFALSE\t1800000060\ta\thalf")
    let error = await failure { () throws(CookieJarError) in _ = try await jar() }
    #expect(error?.code == .damaged && error?.line == 2)
    let description = error?.description ?? ""
    #expect(description.hasPrefix("cookie jar \(path):2: ") && !description.contains("half"))
  }

  @Test func `a file that is too large is not read`() async throws {
    try folder.writeSparse(byteCount: 33 << 20, to: "cookies.txt")
    chmod(path, 0o600)
    #expect(await failure { () throws(CookieJarError) in _ = try await jar() }?.code == .damaged)
  }

  @Test func `a symbolic link, a folder, and a file that others can read are refused and not changed`() async throws {
    let target = try folder.write("", to: "target")
    chmod(target, 0o600)
    #expect(symlink(target, path) == 0)
    #expect(await failure { () throws(CookieJarError) in _ = try await jar() }?.code == .unsafe)
    unlink(path)
    for mode: mode_t in [0o640, 0o606, 0o622] {
      try write("", mode: mode)
      #expect(await failure { () throws(CookieJarError) in _ = try await jar() }?.code == .unsafe)
    }
    unlink(path)
    mkdir(path, 0o700)
    #expect(await failure { () throws(CookieJarError) in _ = try await jar() }?.code == .unsafe)
    #expect(try FileTree.readText(target).isEmpty)
  }

  @Test func `a missing folder is reported as an error of the system`() async throws {
    let path = folder.path("no/cookies.txt")
    let jar = try await CookieJar(file: path, keepsSessionCookies: false, suffixes: .few) { noon }
    jar.receive("a=1; max-age=60", from: url)
    #expect(await failure { () throws(CookieJarError) in try await jar.save() }?.code == .system)
  }

  @Test func `if two jars use one file, the file keeps the cookies of both`() async throws {
    let (first, second) = (try await jar(), try await jar())
    first.receive("a=1; max-age=60", from: url)
    first.receive("c=1; max-age=60", from: url)
    try await first.save()
    second.receive("b=1; max-age=60", from: url)
    second.receive("c=2; max-age=60", from: url)
    try await second.save()
    let third = try await jar()
    #expect(third.cookies.map { "\($0.name)=\($0.value)" } == ["a=1", "c=2", "b=1"])
    third.remove(try #require(third.cookies.first))
    try await third.save()
    try await first.save()
    #expect(try await jar().cookies.map(\.name) == ["c", "b"])
    third.removeAll()
    try await third.save()
    #expect(try await jar().cookies.isEmpty)
  }

  @Test func `saving fails while another process holds the lock, and the next call saves everything`() async throws {
    let jar = try await jar()
    jar.receive("a=1; max-age=60", from: url)
    let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(lock, LOCK_EX) == 0)
    #expect(await failure { () throws(CookieJarError) in try await jar.save(timeout: .zero) }?.code == .locked)
    #expect(!FileTree.exists(path))
    close(lock)
    try await jar.save()
    #expect(try await self.jar().cookies.map(\.name) == ["a"])
  }

  @Test func `many calls at once lose no cookie`() async throws {
    let jars = [try await jar(), try await jar(), try await jar()]
    await withTaskGroup { group in
      for number in 0..<30 {
        group.addTask {
          jars[number % 3].receive("c\(number)=1; max-age=60", from: "https://a.example/")
          try? await jars[number % 3].save(timeout: .seconds(60))
        }
      }
    }
    #expect(try await Set(jar().cookies.map(\.name)) == Set((0..<30).map { "c\($0)" }))
  }
}
