/// The options of curl 7.88, and how `send` treats them. An option that is in neither list has the same name and
/// meaning in `send`. `CurlComparisonTests` sends requests with each such option.
enum CurlOptions {
  /// Options that `send` has with another meaning.
  static let different: [(name: String, how: String)] = [
    ("aws-sigv4", "signs the host, the content type and the provider's headers; curl signs every header of `-H`"),
    ("cacert", "takes the place of the system's authorities; curl adds the folder of the system's"),
    (
      "compressed",
      "is the default if the body goes to standard output; `--no-compressed` turns it off. Beside `-I`, `-r` and "
        + "preconditions it is not the default"
    ),
    ("config", "is the pipeline's configuration. A file of options is `-K`, whose long name is `--options`"),
    (
      "continue-at",
      "a file that is already complete is a success, with `-f` too; a server that has no more bytes but another size "
        + "fails the request. Uploads cannot be continued"
    ),
    ("cookie-jar", "has no short form: `-c` is the configuration. The file has mode 0600"),
    (
      "cookie",
      "a file of cookies has the form of `--cookie-jar`; other lines, such as those of HTTP heads, are ignored with a "
        + "warning"
    ),
    ("disable", "does nothing: no `.curlrc` is read"),
    ("fail-with-body", "is the default; `--no-fail` turns it off"),
    ("fail-early", "even without it, the status is that of the last request that failed, not of the last request"),
    ("globoff", "with it, braces are refused, because a URL cannot contain them"),
    ("form", "one file per field; `;headers=` and `;encoder=` are refused"),
    ("header", "`Connection`, `Transfer-Encoding` and `Content-Length` are left to the transport, with a warning"),
    ("help", "without categories"),
    ("http2", "`http:` URLs use HTTP/1.1, without an offer to upgrade"),
    ("http2-prior-knowledge", "over TLS the server still chooses the version"),
    ("include", "the reason phrase in a status line is the standard one for the status"),
    ("dump-header", "see `--include`"),
    ("interface", "an interface or an address of this machine, but not a host name"),
    (
      "limit-rate",
      "limits body bytes, in both directions; a request body of more than 16 KiB is sent only once, so no retry or "
        + "redirect can repeat it"
    ),
    ("location", "is the default; `--no-location` turns it off"),
    ("netrc", "applies to the host of the URL; for a redirect to another host, no entry is looked up"),
    ("netrc-file", "see `--netrc`"), ("netrc-optional", "see `--netrc`"),
    ("max-redirs", "`-1` means 1000"), ("output", "more outputs than URLs are refused"),
    ("path-as-is", "is always so"),
    ("progress-bar", "the line is removed at the end, and shown on a terminal only"),
    ("proxy", "a URL with a scheme, such as `socks5://`, so `--socks5` and similar options are not needed"),
    ("proto", "the schemes are http and https; an empty list and a word that is no scheme are refused"),
    ("proto-redir", "see `--proto`"),
    ("referer", "`;auto` is refused"),
    (
      "remote-header-name",
      "the name can come from `filename*`; a dot at its beginning becomes `_`. No existing file is changed, and the "
        + "dot is replaced, even if the name comes from the URL"
    ),
    ("remote-name", "a URL without the name of a file is refused before anything is sent, with status 2"),
    ("remote-name-all", "see `--remote-name`"),
    ("request", "301 and 302 turn POST into GET even if `-X` names it; other methods are kept, with their body"),
    ("resolve", "an address applies to the whole command; `-HOST:PORT` is refused"),
    (
      "retry",
      "a body that has begun to arrive is not fetched again; the response of a failed attempt is not printed. POST "
        + "and PATCH are sent again too, as with curl"
    ),
    ("retry-all-errors", "a body that has begun to arrive is not fetched again"),
    ("retry-connrefused", "also retries if the connection breaks"),
    ("trace", "shows [where the time went](send.md#where-the-time-went), and takes no file"),
    (
      "upload-file",
      "one file for one URL: braces in it are not patterns. Above 1 MiB, the server is asked first (`Expect: "
        + "100-continue`)"
    ),
    ("user", "Basic at once, and Digest if the server asks for it"),
    ("verbose", "has another format; secrets are hidden"),
    ("version", "is `sluice version`"),
    (
      "write-out",
      "the variables [listed for `-w`](send.md#what--w-prints), and an unknown one is refused; times are those of the last hop"
    ),
  ]

  /// Options that `send` does not have.
  static let absent: [(names: [String], why: String)] = [
    (
      [
        "append", "disable-eprt", "disable-epsv", "ftp-account", "ftp-alternative-to-user", "ftp-create-dirs",
        "ftp-method", "ftp-pasv", "ftp-port", "ftp-pret", "ftp-skip-pasv-ip", "ftp-ssl-ccc", "ftp-ssl-ccc-mode",
        "ftp-ssl-control", "list-only", "quote", "use-ascii", "crlf", "ssl", "ssl-reqd", "krb", "compressed-ssh",
        "hostpubmd5", "hostpubsha256", "pubkey", "mail-auth", "mail-from", "mail-rcpt", "mail-rcpt-allowfails",
        "sasl-authzid", "sasl-ir", "login-options", "telnet-option", "tftp-blksize", "tftp-no-options",
      ], "for protocols other than HTTP"
    ),
    (["proto-default"], "a URL without a scheme is an http URL"),
    (
      ["negotiate", "ntlm", "ntlm-wb", "delegation", "service-name", "tlsauthtype", "tlsuser", "tlspassword"],
      "Kerberos, NTLM and SRP are not supported, but a plugin can add them"
    ),
    (
      ["proxy-user"],
      "user and password belong into the URL of the proxy: `-x http://USER:PASSWORD@HOST:PORT`, with `%40` for `@`"
    ),
    (
      ["proxy-anyauth", "proxy-basic", "proxy-digest"],
      "Basic is sent at once, and Digest if the proxy asks for it"
    ),
    (
      [
        "proxy-negotiate", "proxy-ntlm", "proxy-service-name", "proxy-tlsauthtype", "proxy-tlspassword",
        "proxy-tlsuser",
      ],
      "for proxies, only Basic and Digest are supported"
    ),
    (["noproxy"], "set `no_proxy` in the environment; it also applies to the proxy of `-x`"),
    (
      [
        "haproxy-protocol", "preproxy", "proxy-header", "proxy1.0", "proxytunnel", "suppress-connect-headers",
      ], "of proxies, only the URL can be chosen: `http:` URLs go to an HTTP proxy whole, others through a tunnel"
    ),
    (
      [
        "proxy-cacert", "proxy-capath", "proxy-cert", "proxy-cert-type", "proxy-ciphers", "proxy-crlfile",
        "proxy-insecure", "proxy-key", "proxy-key-type", "proxy-pass", "proxy-pinnedpubkey", "proxy-ssl-allow-beast",
        "proxy-ssl-auto-client-cert", "proxy-tls13-ciphers", "proxy-tlsv1",
      ], "the certificate of a proxy is always verified, with the authorities of `--cacert`"
    ),
    (
      [
        "socks4", "socks4a", "socks5", "socks5-basic", "socks5-gssapi", "socks5-gssapi-nec", "socks5-gssapi-service",
        "socks5-hostname",
      ], "use `-x` with `socks4://`, `socks5://` or `socks5h://`; GSS-API is not supported"
    ),
    (
      ["sslv2", "sslv3", "tlsv1", "tlsv1.0", "tlsv1.1", "ssl-allow-beast"],
      "TLS 1.2 is the oldest supported version"
    ),
    (
      [
        "capath", "cert-status", "cert-type", "crlfile", "curves", "egd-file", "engine", "false-start", "key-type",
        "no-alpn", "no-npn", "no-sessionid", "random-file", "ssl-auto-client-cert", "ssl-no-revoke",
        "ssl-revoke-best-effort",
      ], "certificates and keys are PEM files; OpenSSL's configuration decides the rest"
    ),
    (
      ["http0.9", "http3", "http3-only", "alt-svc", "hsts"],
      "only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported, with the scheme and host of the URL"
    ),
    (
      [
        "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers", "doh-cert-status", "doh-insecure", "doh-url",
      ], "the system's resolver looks names up; `--resolve` gives an address"
    ),
    (
      [
        "abstract-unix-socket", "happy-eyeballs-timeout-ms", "keepalive-time", "local-port", "no-keepalive",
        "tcp-fastopen", "tcp-nodelay",
      ], "sockets have no further options: keep-alive and `TCP_NODELAY` are on"
    ),
    (
      ["ignore-content-length", "raw", "tr-encoding", "expect100-timeout", "request-target", "form-escape"],
      "messages are framed only as RFC 9112 says"
    ),
    (
      ["post301", "post302", "post303"],
      "301 and 302 turn POST into GET, and 303 turns every method but HEAD into GET"
    ),
    (
      ["speed-limit", "speed-time", "rate", "parallel-immediate"],
      "use `-m` and `--limit-rate`; `sluice run` has `--rate` and limits for each host"
    ),
    (
      ["remote-time", "xattr", "create-file-mode"],
      "files get the time when they are written, and a mode that the umask limits"
    ),
    (["next"], "all URLs share the options; `sluice run` takes different requests"),
    (
      ["etag-compare", "etag-save", "time-cond"],
      "`-H` sets the fields of a conditional request, and the plugin `cache` stores responses"
    ),
    (
      [
        "disallow-username-in-url", "metalink", "libcurl", "manual", "stderr", "styled-output", "trace-ascii",
        "trace-time",
      ],
      "help, messages and traces are Sluice's own: `--help`, `2>FILE`, `-v`, `--trace`"
    ),
  ]

  /// Options that `send` has with the same name and meaning, in the order of its help.
  static var same: [Option] {
    let others = Set(different.map(\.name))
    return CurlText.dialect.options.filter { !others.contains($0.name) && $0.name != "options" }
  }

  /// Why `send` lacks an option of curl; nil for other names.
  ///
  /// - Parameter name: the name or the letter of the option.
  static func reason(for name: String) -> String? {
    let long = letters.first { $0.value == name }?.key ?? name
    if long == "version" { return "use \"sluice version\"" }
    return absent.first { $0.names.contains(long) }?.why
  }

  /// The letters of the options that `send` lacks.
  private static let letters = [
    "append": "a", "use-ascii": "B", "list-only": "l", "manual": "M", "next": ":", "ftp-port": "P", "proxytunnel": "p",
    "quote": "Q", "remote-time": "R", "sslv2": "2", "sslv3": "3", "tlsv1": "1", "telnet-option": "t",
    "proxy-user": "U", "version": "V", "speed-limit": "Y", "speed-time": "y", "time-cond": "z",
  ]

  /// The tables for the documentation.
  static var text: String {
    let same = same.map { "`\($0.letter.map { "-\($0)` `" } ?? "")--\($0.name)`" }.joined(separator: ", ")
    let different = different.sorted { $0.name < $1.name }.map { "| `--\($0.name)` | \($0.how) |" }
    let absent = absent.map { entry in
      let names = entry.names.sorted().map { name in (letters[name].map { "`-\($0)` " } ?? "") + "`--\(name)`" }
      return "| \(names.joined(separator: ", ")) | \(entry.why) |"
    }
    return """
      The same: \(same).

      An option that has no effect without another one (`-J` without `-O`) is refused, and so are contradictory options.

      | different | how |
      |---|---|
      \(different.joined(separator: "\n"))

      | absent | why |
      |---|---|
      \(absent.joined(separator: "\n"))

      """
  }
}
