/// The options of `send`. They have curl's names and letters where curl has the option.
enum SendOptions {
  static let all = url + content + request + hops + output + several + pipeline + connection + tls + transport

  private static let url = [Option("url", nil, "URL", "A URL to send to, as an operand")]

  /// The content of the request.
  static let content = [
    Option("request", "X", "METHOD", "The method"),
    Option(
      "header", "H", "\"NAME: VALUE\"", takesBytes: true,
      "Add a header; \"NAME:\" removes a default header, @FILE reads headers; may be repeated"),
    Option(
      "data", "d", "DATA", takesBytes: true, aliases: ["data-ascii"],
      "Send form data: DATA, or @FILE or @- (standard input) without line ends; repeats are joined by &"),
    Option(
      "data-binary", nil, "DATA", takesBytes: true, "Send this data unchanged: DATA, @FILE or @- (standard input)"),
    Option("data-raw", nil, "DATA", takesBytes: true, "Like -d, but a leading @ has no meaning"),
    Option(
      "data-urlencode", nil, "DATA", takesBytes: true,
      "Like -d, percent-encoded: CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE"),
    Option(
      "json", nil, "DATA", takesBytes: true,
      "Send this as JSON, and accept JSON: DATA, @FILE or @- (standard input); repeats are joined"),
    Option("get", "G", nil, "Append the data to the URL's query, and send GET"),
    Option("url-query", nil, "DATA", takesBytes: true, "Append this to the query, as --data-urlencode writes it"),
    Option(
      "form", "F", "NAME=VALUE", takesBytes: true,
      "Send a form with this field; @FILE sends a file, <FILE its content; ;type= and ;filename= may follow"),
    Option("form-string", nil, "NAME=VALUE", takesBytes: true, "Like -F, but @, < and ; have no meaning"),
    Option(
      "upload-file", "T", "FILE",
      "Send this file with PUT; - sends standard input as it comes. A URL that ends with / gets the file's name"),
    Option("user-agent", "A", "TEXT", takesBytes: true, "The User-Agent; \"\" sends none"),
    Option("referer", "e", "URL", takesBytes: true, "The Referer"),
    Option(
      "cookie", "b", "NAME=VALUE", takesBytes: true,
      "Send these cookies; without = it is a file to read cookies from; may be repeated"),
    Option("range", "r", "RANGE", takesBytes: true, "Ask for these bytes: 0-99, 100-, -5"),
    Option("oauth2-bearer", nil, "TOKEN", takesBytes: true, "Send this token as Authorization: Bearer"),
    Option("compressed", nil, nil, "Ask for compressed content and decode it (the default, except for files)"),
    Option("no-compressed", nil, nil, "Do not ask for compressed content, and do not decode it"),
  ]
  private static let request = [
    Option("head", "I", nil, "Send HEAD and print the response's head"),
    Option("globoff", "g", nil, "Take [] and {} in URLs literally"),
    Option("path-as-is", nil, nil, "Keep /../ in the URL's path (always)"),
    Option("options", "K", "FILE", "Read more options from this file, as curl does; - reads standard input"),
    Option("disable", "q", nil, "No effect: .curlrc is never read"),
    Option(
      "from-curl", nil, "COMMAND", takesBytes: true,
      "Send the request of this curl command; - reads it from standard input"),
    Option("curl", nil, nil, "Print the curl command for this request, without secrets, and send nothing"),
  ]
  private static let hops = [
    Option(
      "user", "u", "USER:PASSWORD", takesBytes: true,
      "Send these as Basic, and as Digest if the server asks for it; without a colon, the password is asked for"),
    Option("basic", nil, nil, "With -u, send Basic (the default)"),
    Option("digest", nil, nil, "With -u, use only Digest"),
    Option("anyauth", nil, nil, "With -u, send Basic or Digest only when the server asks for it"),
    Option(
      "aws-sigv4", nil, "PROVIDER[:PROVIDER2[:REGION[:SERVICE]]]",
      "Sign the request with AWS's signature version 4; -u has KEY-ID:SECRET"),
    Option("netrc", "n", nil, "Take user and password for the host from ~/.netrc"),
    Option("netrc-file", nil, "FILE", "Like -n, from this file"),
    Option("netrc-optional", nil, nil, "Like -n, but the file need not exist"),
    Option("cookie-jar", nil, "FILE", "Write all cookies to this file at the end; - prints them"),
    Option("junk-session-cookies", "j", nil, "Ignore session cookies in the files of -b"),
    Option("location", "L", nil, "Follow redirects (the default, unless the configuration says otherwise)"),
    Option("no-location", nil, nil, "Follow no redirects: print the redirect itself"),
    Option("location-trusted", nil, nil, "Follow redirects, and send credentials to other hosts too"),
    Option("proto", nil, "LIST", "Allow only these schemes: =https, -http"),
    Option("proto-redir", nil, "LIST", "Like --proto, for redirects"),
    Option("max-redirs", nil, "N", "Follow at most N redirects (default 20); 0 prints the redirect itself"),
  ]
  private static let output = [
    Option("output", "o", "FILE", "Write the body to this file while it arrives; #1 is the text of the first {} or []"),
    Option("remote-name", "O", nil, "Write the body to a file with the last component of the URL's path as its name"),
    Option("remote-name-all", nil, nil, "Like -O, for each URL without -o"),
    Option("remote-header-name", "J", nil, "With -O, let the server name the file; an existing file is not changed"),
    Option("output-dir", nil, "DIR", "The folder for the files of -o and -O"),
    Option("create-dirs", nil, nil, "Create the folders that the output file needs"),
    Option("no-clobber", nil, nil, "Change no existing file: the output gets a number, as in NAME.1"),
    Option("remove-on-error", nil, nil, "Remove the output file if the request fails"),
    Option(
      "continue-at", "C", "OFFSET", "Download the rest of the file of -o or -O; - means from the size of that file"),
    Option("limit-rate", nil, "SPEED", "Send and receive at most this many bytes a second: 500k, 1.5M"),
    Option(
      "write-out", "w", "FORMAT", takesBytes: true,
      "Print this at the end: %{http_code}, %{time_total}, %header{NAME}, \\n; @FILE reads FORMAT from a file"),
    Option("dump-header", "D", "FILE", "Write the heads of all responses to this file; - prints them"),
    Option("fail", "f", nil, "Print no body if the status is 400 or above"),
    Option("fail-with-body", nil, nil, "Print the body, and fail, if the status is 400 or above (the default)"),
    Option("no-fail", nil, nil, "Do not fail if the status is 400 or above"),
    Option("include", "i", nil, "Print the heads of all responses before the body"),
    Option("no-buffer", "N", nil, "Print the body as it arrives (always)"),
    Option("document", nil, nil, "Print a result document, as \"sluice run\" does"),
    Option("json-bodies", nil, nil, "With --document, give a body as JSON if it is JSON"),
    Option("metadata", nil, nil, "With --document, add the original and the sent request, the final URL and timings"),
    Option("explain", nil, nil, "Explain why each header that stages could set was sent or not"),
    Option("events", nil, "FILE", "Record every event of the transactions here, for \"sluice verify-trace\""),
    Option("har", nil, "FILE", "Write an HTTP Archive (HAR) with an entry for each hop here; secrets are hidden"),
    Option("record", nil, "FILE", "Record each request here, for \"sluice replay\"; secrets are hidden"),
    Option("silent", "s", nil, "Print nothing on standard error"),
    Option("show-error", "S", nil, "With -s, still print why the request failed"),
    Option("progress-bar", "#", nil, "Show progress on a terminal, also if no body goes to a file"),
    Option("no-progress-meter", nil, nil, "Show no progress"),
    Option("verbose", "v", nil, "Show the sent and received heads; secrets are hidden"),
    Option("trace", nil, nil, "Show where the time went: phases of the exchange and stages"),
  ]
  private static let several = [
    Option("parallel", "Z", nil, "Send the requests for several URLs at the same time"),
    Option("parallel-max", nil, "N", "With -Z, at most N at the same time (default 50)"),
    Option("fail-early", nil, nil, "Send no further requests when one has failed"),
  ]
  private static let pipeline = [
    Option("config", "c", "FILE", "The configuration of the pipeline"),
    PluginArguments.option,
  ]
  private static let connection = [
    Option("ipv4", "4", nil, "Use only IPv4 addresses of names"),
    Option("ipv6", "6", nil, "Use only IPv6 addresses of names"),
    Option("resolve", nil, "HOST:PORT:ADDRESS", "Use this address for the host and port; may be repeated"),
    Option(
      "connect-to", nil, "HOST:PORT:TO-HOST:TO-PORT",
      "Connect to another host and port than those of the URL; may be repeated"),
    Option("interface", nil, "NAME", "Connect through this interface, or from this local address"),
    Option("unix-socket", nil, "PATH", "Connect to this Unix socket, whatever the URL"),
    Option("proxy", "x", "URL", "Use this proxy, [SCHEME://][USER:PASSWORD@]HOST[:PORT]; \"\" uses none"),
    Option("connect-timeout", nil, "DURATION", "Limit the time until the connection is established (default: 5s)"),
  ]
  private static let tls = [
    Option("insecure", "k", nil, "Accept any certificate"),
    Option("cacert", nil, "FILE", "Trust these authorities (PEM) instead of the system's"),
    Option("cert", "E", "FILE[:PASSWORD]", "Send this client certificate (PEM)"),
    Option("key", nil, "FILE", "The key of the client certificate (default: in the same file)"),
    Option("pass", nil, "PASSWORD", "The password of the key"),
    Option(
      "pinnedpubkey", nil, "HASHES",
      "Accept only servers with one of these public keys: sha256//BASE64, with ; between them, or a file"),
    Option("tlsv1.2", nil, nil, "Use TLS 1.2 or newer (the default)"),
    Option("tlsv1.3", nil, nil, "Use TLS 1.3 or newer"),
    Option(
      "tls-max", nil, "VERSION", words: ["1.2", "1.3", "default"], "Use this version of TLS or an older one: 1.2, 1.3"),
    Option("ciphers", nil, "LIST", "The ciphers up to TLS 1.2, as OpenSSL names them"),
    Option("tls13-ciphers", nil, "LIST", "The ciphers of TLS 1.3"),
  ]
  private static let transport = [
    Option(
      "max-time", "m", "DURATION", aliases: ["timeout"],
      "Limit the whole request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)"),
    Option("max-filesize", nil, "BYTES", "Fail if the response body is larger: 500k, 1.5M"),
    Option("retry", nil, "N", "Send up to N times more if the answer is 408, 429, 500, 502, 503 or 504"),
    Option("retry-connrefused", nil, nil, "With --retry, retry also if the connection fails or breaks"),
    Option("retry-all-errors", nil, nil, "With --retry, retry after every failure and every status of 400 or above"),
    Option(
      "retry-delay", nil, "DURATION",
      "With --retry, wait this long each time (default: 1s, doubled each time)"),
    Option("retry-max-time", nil, "DURATION", "With --retry, send again only within this time"),
    Option("http1.0", "0", nil, "Use HTTP/1.0"),
    Option("http1.1", nil, nil, "Use HTTP/1.1"),
    Option("http2", nil, nil, "Offer HTTP/2 over TLS"),
    Option("http2-prior-knowledge", nil, nil, "Use HTTP/2 in clear text without negotiation, and offer it over TLS"),
  ]
}
