import Glibc
import SluiceServer
import SluiceTestKit
import Testing

/// Programs other than curl under `sluice attach`.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachProgramTests {
  @Test func `the pipeline reaches URLSession with await, with a handler and with many requests at once`()
    async throws
  {
    let fixture = try AttachFixture()
    let requests = try await fixture.compare([BuiltProducts.executable("url-session"), fixture.url])
    #expect(requests.count == 10)
    #expect(requests.each("x-c") == Array(repeating: "plugin", count: 10))
    #expect(requests.first?.headers.first("x-own") == "program")
    #expect(Set(requests.traceIDs.map(\.trace)).count == 10)
    #expect(try await fixture.verifiedTransactions() == 10)
  }

  private static let python = "/usr/bin/python3"

  private static let pycurl = #"""
    import io, os, pycurl, sys
    base = sys.argv[1]
    def handle(path):
        curl = pycurl.Curl()
        curl.body = io.BytesIO()
        curl.setopt(pycurl.URL, base + path)
        curl.setopt(pycurl.WRITEDATA, curl.body)
        return curl
    one = handle('/one')
    one.setopt(pycurl.HTTPHEADER, ['X-Own: 1'])
    one.perform()
    # The list goes away while the handle keeps it, and the next one takes its place.
    one.setopt(pycurl.HTTPHEADER, ['X-Own: 2', 'Accept:'])
    one.setopt(pycurl.URL, base + '/two')
    one.perform()
    one.unsetopt(pycurl.HTTPHEADER)
    one.setopt(pycurl.POSTFIELDS, 'a=1')
    one.perform()
    one.reset()
    one.setopt(pycurl.URL, base + '/three')
    one.setopt(pycurl.WRITEDATA, one.body)
    one.perform()
    copy = one.duphandle()
    copy.perform()
    print(one.body.getvalue())
    multi = pycurl.CurlMulti()
    several = [handle('/many/%d' % number) for number in range(20)]
    for curl in several: multi.add_handle(curl)
    done = []
    while len(done) < 20:
        multi.perform()
        _, good, bad = multi.info_read()
        done += good + bad
        for curl in good + bad: multi.remove_handle(curl)
        if len(done) < 20: multi.select(1.0)
    print([curl.body.getvalue() for curl in several])
    dropped = handle('/dropped')
    multi.add_handle(dropped)
    multi.remove_handle(dropped)
    print(len(os.listdir('/proc/self/task')), 'thread')
    """#

  @Test(.enabled(if: AttachFixture.hasPycurl))
  func `the pipeline reaches pycurl with a handle, a reused handle, a copy and many handles at once`() async throws {
    let fixture = try AttachFixture()
    let script = try fixture.folder.write(Self.pycurl, to: "program.py")
    let requests = try await fixture.compare([Self.python, script, fixture.url])
    #expect(requests.count == 25)
    #expect(requests.each("x-c") == Array(repeating: "plugin", count: 25))
    #expect(requests.prefix(5).map { $0.headers.first("x-own") } == ["1", "2", nil, nil, nil])
    #expect(requests.prefix(3).map { $0.headers.first("accept") } == ["*/*", nil, "*/*"])
    #expect(Set(requests.traceIDs.map(\.trace)).count == 25)
    // One transaction has no request, because it was dropped before it sent anything.
    #expect(try await fixture.verifiedTransactions() == 26)
  }

  private static let php = #"""
    <?php
    $base = $argv[1];
    function handle($path) {
      global $base;
      $curl = curl_init($base . $path);
      curl_setopt($curl, CURLOPT_RETURNTRANSFER, true);
      return $curl;
    }
    $one = handle('/one');
    curl_setopt($one, CURLOPT_HTTPHEADER, ['X-Own: 1']);
    echo curl_exec($one);
    curl_setopt($one, CURLOPT_POSTFIELDS, ['a' => '1']);
    echo curl_exec($one);
    $multi = curl_multi_init();
    $several = array_map(fn($number) => handle("/many/$number"), range(0, 9));
    foreach ($several as $curl) curl_multi_add_handle($multi, $curl);
    do {
      $status = curl_multi_exec($multi, $running);
      if ($running) curl_multi_select($multi);
    } while ($running && $status == CURLM_OK);
    foreach ($several as $curl) {
      echo curl_multi_getcontent($curl);
      curl_multi_remove_handle($multi, $curl);
    }
    """#

  @Test(.enabled(if: FileTree.exists("/usr/bin/php")))
  func `the pipeline reaches PHP with one handle and with many handles at once`() async throws {
    let fixture = try AttachFixture()
    let script = try fixture.folder.write(Self.php, to: "program.php")
    let requests = try await fixture.compare(["/usr/bin/php", script, fixture.url])
    #expect(requests.count == 12)
    #expect(requests.each("x-c") == Array(repeating: "plugin", count: 12))
    #expect(requests.prefix(2).map { $0.headers.first("x-own") } == ["1", "1"])
    #expect(Set(requests.traceIDs.map(\.trace)).count == 12)
    #expect(try await fixture.verifiedTransactions() == 12)
  }

  private static let makeRepository = """
    set -e
    git init -q source && cd source
    git config user.name n && git config user.email e
    for number in 1 2 3; do echo $number >file$number; git add .; git commit -qm $number; done
    cd .. && git clone -q --bare source served && git -C served update-server-info
    """

  @Test(.enabled(if: FileTree.exists("/usr/bin/git")))
  func `the pipeline reaches git clone, and the clone is the same as without the command`() async throws {
    let root = Watched("")
    let fixture = try AttachFixture { request in
      guard let bytes = try? FileTree.read("\(root.value)\(request.path)") else { return .text("", status: 404) }
      return ServerResponse(body: .bytes(bytes))
    }
    let folder = fixture.folder.path
    root.update { $0 = folder }
    let environment = ["HOME": fixture.folder.path, "GIT_CONFIG_NOSYSTEM": "1"]
    let made = try await fixture.run(["sh", "-c", Self.makeRepository], environment: environment)
    try #require(made.status == 0, "\(made.errorText)")
    let words = "rm -rf clone; git clone -q \(fixture.url)/served clone && git -C clone log --format=%s && ls clone"
    let requests = try await fixture.compare(["sh", "-c", words], environment: environment)
    #expect(requests.count > 3)
    #expect(requests.each("x-c") == Array(repeating: "plugin", count: requests.count))
    #expect(Set(requests.traceIDs.map(\.trace)).count == requests.count)
    #expect(try await fixture.verifiedTransactions() == requests.count)
  }

  @Test func `the pipeline also reaches the programs that a program starts`() async throws {
    let fixture = try AttachFixture()
    let curl = CurlCommand.path ?? "curl"
    let requests = try await fixture.compare([
      "sh", "-c", "\(curl) -sS \(fixture.url)/1; (\(curl) -sS \(fixture.url)/2); exec \(curl) -sS \(fixture.url)/3",
    ])
    #expect(requests.map(\.target) == ["/1", "/2", "/3"])
    #expect(requests.traceIDs.count == 3)
    #expect(FileTree.names(in: fixture.folder.path("events")).count == 3)
    #expect(try await fixture.verifiedTransactions() == 3)
  }
}
