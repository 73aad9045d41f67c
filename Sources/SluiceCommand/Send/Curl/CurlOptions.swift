/// The options of curl 7.88, and how `send` treats them. Options that are in neither list have the same name and
/// meaning in `send`; `CurlComparisonTests` sends requests with each of them.
enum CurlOptions {
  /// Options that `send` has with another meaning.
  static let different: [(name: String, how: String)] = [
    ("aws-sigv4", "signs the host, the content type and the provider's headers; curl signs every header of `-H`"),
    ("cacert", "takes the place of the system's authorities; curl adds the folder of the system's"),
    ("compressed", "is the default; `--no-compressed` turns it off"),
    ("config", "is the pipeline's configuration. A file of options is `-K`, whose long name is `--options`"),
    ("continue-at", "a file that is whole already is a success, with `-f` too. Not for uploads"),
    ("cookie-jar", "has no letter: `-c` is the configuration. The file has mode 0600"),
    ("cookie", "a file of cookies has the form of `--cookie-jar`; a file with HTTP heads is refused"),
    ("disable", "does nothing: no `.curlrc` is read"),
    ("fail-with-body", "is the default; `--no-fail` turns it off"),
    ("fail-early", "without it too, the status is that of the last request that failed, not of the last request"),
    ("globoff", "braces are refused then, because a URL cannot contain them"),
    ("form", "one file for a field; `;headers=` and `;encoder=` are refused"),
    ("header", "`Connection`, `Transfer-Encoding` and `Content-Length` are left to the transport, with a warning"),
    ("help", "without categories"),
    ("http2", "in clear text HTTP/1.1 is used, without an offer to upgrade"),
    ("http2-prior-knowledge", "over TLS the server still chooses the version"),
    ("include", "the reason in a status line is the usual one of the status"), ("dump-header", "see `--include`"),
    ("interface", "an interface or an address of this machine, and no host name"),
    (
      "limit-rate",
      "body bytes, in both directions; a request body of more than 16 KiB is sent once, and no retry and no redirect repeats it"
    ),
    ("location", "is the default; `--no-location` turns it off"),
    ("netrc", "counts for the host of the URL; a redirect to another host looks for no entry"),
    ("netrc-file", "see `--netrc`"), ("netrc-optional", "see `--netrc`"),
    ("max-redirs", "`-1` means 1000"), ("output", "more outputs than URLs are refused"),
    ("path-as-is", "is always so"),
    ("progress-bar", "the line is removed at the end, and shown on a terminal only"),
    ("proxy", "a URL with its scheme; `SOCKS5` and the others too, so that `--socks5` and its kind are not needed"),
    ("proto", "the schemes are http and https"), ("proto-redir", "see `--proto`"),
    ("referer", "`;auto` is refused"),
    ("request", "301 and 302 make GET of POST although `-X` names it; other methods are kept, with their body"),
    ("resolve", "an address is for the whole command; `-HOST:PORT` is refused"),
    (
      "retry",
      "a body that has begun to arrive is not fetched again; the answer of a failed attempt is not printed. POST and PATCH are sent again too, as with curl"
    ),
    ("retry-all-errors", "a body that has begun to arrive is not fetched again"),
    ("retry-connrefused", "also if the connection breaks"),
    ("trace", "shows [where the time went](#where-the-time-went), and takes no file"),
    ("upload-file", "one file for one URL: braces in it are not patterns. Above 1 MiB the server is asked first"),
    ("user", "Basic at once, and Digest if the server asks for it"),
    ("verbose", "another form; secrets are hidden"),
    ("version", "is `sluice version`"),
    ("write-out", "the variables [named above](#what--w-prints); times are those of the last hop"),
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
      ], "for other protocols than HTTP"
    ),
    (["proto-default"], "a URL without a scheme is an http URL"),
    (
      ["negotiate", "ntlm", "ntlm-wb", "delegation", "service-name", "tlsauthtype", "tlsuser", "tlspassword"],
      "Kerberos, NTLM and SRP are not supported: a plugin can do them"
    ),
    (
      [
        "proxy-anyauth", "proxy-basic", "proxy-digest", "proxy-user", "proxy-header", "proxytunnel", "proxy1.0",
        "preproxy", "noproxy", "haproxy-protocol", "suppress-connect-headers",
      ], "a proxy is configured by its URL, user and password included, and by `no_proxy`"
    ),
    (
      [
        "proxy-cacert", "proxy-capath", "proxy-cert", "proxy-cert-type", "proxy-ciphers", "proxy-crlfile",
        "proxy-insecure", "proxy-key", "proxy-key-type", "proxy-negotiate", "proxy-ntlm", "proxy-pass",
        "proxy-pinnedpubkey", "proxy-service-name", "proxy-ssl-allow-beast", "proxy-ssl-auto-client-cert",
        "proxy-tls13-ciphers", "proxy-tlsauthtype", "proxy-tlspassword", "proxy-tlsuser", "proxy-tlsv1",
      ], "the settings of TLS are those for servers"
    ),
    (
      [
        "socks4", "socks4a", "socks5", "socks5-basic", "socks5-gssapi", "socks5-gssapi-nec", "socks5-gssapi-service",
        "socks5-hostname",
      ], "use `-x` with `socks4://`, `socks5://` or `socks5h://`; GSS-API is not supported"
    ),
    (
      ["sslv2", "sslv3", "tlsv1", "tlsv1.0", "tlsv1.1", "ssl-allow-beast"],
      "TLS 1.2 is the oldest version that is spoken"
    ),
    (
      [
        "capath", "cert-status", "cert-type", "crlfile", "curves", "egd-file", "engine", "false-start", "key-type",
        "no-alpn", "no-npn", "no-sessionid", "random-file", "ssl-auto-client-cert", "ssl-no-revoke",
        "ssl-revoke-best-effort",
      ], "certificates and keys are PEM files; OpenSSL's configuration decides the rest"
    ),
    (
      ["http0.9", "http3", "http3-only", "alt-svc", "hsts"], "HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken, as the URL says"
    ),
    (
      [
        "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers", "doh-cert-status", "doh-insecure", "doh-url",
      ], "the system's resolver answers; `--resolve` gives an address"
    ),
    (
      [
        "abstract-unix-socket", "happy-eyeballs-timeout-ms", "keepalive-time", "local-port", "no-keepalive",
        "tcp-fastopen", "tcp-nodelay",
      ], "sockets have no further options: keep-alive and `TCP_NODELAY` are on"
    ),
    (
      ["ignore-content-length", "raw", "tr-encoding", "expect100-timeout", "request-target", "form-escape"],
      "messages are framed by RFC 9112 alone"
    ),
    (
      ["post301", "post302", "post303"],
      "301 and 302 make GET of POST, and 303 makes GET of everything but HEAD"
    ),
    (
      ["speed-limit", "speed-time", "rate", "parallel-immediate"],
      "`-m` and `--limit-rate` are there; `sluice run` has `--rate` and limits for hosts"
    ),
    (["remote-time", "xattr", "create-file-mode"], "files get the time of their writing, and the mode of the umask"),
    (["next"], "all URLs share the options; `sluice run` takes different requests"),
    (
      ["etag-compare", "etag-save", "time-cond"],
      "`-H` sets the fields of a conditional request, and the plugin `cache` keeps answers"
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

      An option that has no effect without another one is refused, as `-J` without `-O`, and so are two that contradict each other.

      | different | how |
      |---|---|
      \(different.joined(separator: "\n"))

      | absent | why |
      |---|---|
      \(absent.joined(separator: "\n"))

      """
  }
}
