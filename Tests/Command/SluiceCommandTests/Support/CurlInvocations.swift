/// Arguments with which curl and `sluice send` must do the same.
///
/// `{url}` is the server's URL, `{host}` its host and port, `{port}` its port, and `{socket}` the Unix socket of another
/// server. These are files: `{file}` has two lines, `{bytes}` all byte values, `{large}` more than 1 MiB, `{jar}` cookies,
/// `{netrc}`, `{bare}` and `{secret}` passwords, and `{options}` options. The working folder contains `part.txt`, which
/// has the first five bytes of the server's answer, and `old.txt`.
enum CurlInvocations {
  static let requests: [String] = [
    "{url}/", "{url}/a?b=c", "-X DELETE {url}/a", "--request OPTIONS {url}/", "-I {url}/", "--head {url}/",
    "-H 'X-A: 1' -H 'X-B:2' {url}/", "-H 'Accept:' {url}/", "-H 'X-Empty;' {url}/", "-H 'User-Agent:' {url}/",
    "-H 'Host: other.example' {url}/", "-H 'Content-Type: text/plain' -d a {url}/",
    "-d a=1 {url}/", "-d a=1 -d b=2 {url}/", "-d @{file} {url}/", "-d '' {url}/",
    "--data a=1 --data-raw @b {url}/", "--data-ascii a=1 {url}/", "--data-binary @{file} {url}/",
    "--data-binary @{bytes} {url}/", "--data-binary a -d b {url}/", "-d @{file} --data-binary @{file} {url}/",
    "--data-urlencode 'a b&c' {url}/", "--data-urlencode 'n=a b&c' {url}/", "--data-urlencode '=a=b' {url}/",
    "--data-urlencode @{file} {url}/", "--data-urlencode n@{file} {url}/", "--data-urlencode 'n=ü/~-._' {url}/",
    "--data-urlencode n@{bytes} {url}/", "-X PUT -d a {url}/", "-X GET -d a {url}/",
    "-G -d a=1 {url}/", "-G -d a=1 -d b=2 {url}/x?c=3", "--get --data-urlencode 'q=a b' {url}/", "-G {url}/x?c=3",
    "-G -I -d a=1 {url}/",
    "--json '{\"a\": 1}' {url}/", "--json @{file} {url}/", "--json '{\"a\":' --json '1}' {url}/",
    "--json 1 -H 'Accept: text/plain' {url}/", "--json 1 -H 'Content-Type: a/b' {url}/", "-X PATCH --json 1 {url}/",
    "-F a=1 {url}/", "-F a=1 -F b=2 {url}/", "-F 'a=x;type=text/plain' {url}/", "-F f=@{file} {url}/",
    "-F 'f=@{file};type=a/b' {url}/", "-F 'f=@{file};filename=x.txt' {url}/", "-F f=@{bytes} -F a=1 {url}/",
    "-F 'f=@{file};filename=\"a;b.png\";type=image/png' {url}/", "-F 'a=<{file}' {url}/",
    "--form-string 'a=@b;c' {url}/",
    "-F 'f=@{file};type=text/html;charset=utf-8' {url}/", "-F 'a=\"x;y\"' {url}/", "--form a=ü {url}/",
    "-F 'a=1;filename=n' {url}/",
    "-T {file} {url}/x", "-T {file} {url}/up/", "--upload-file {bytes} {url}/x", "-X POST -T {file} {url}/x",
    "-T {large} {url}/x", "--data-binary @{large} {url}/x",
    "-T {file} '{url}/up/?q=1'", "-T {file} '{url}/up?q=/'", "-T {file} {url}", "-T {file} '{url}?q=1'",
    "-T {file} '{url}/up/#f'", "-T {file} --url-query a=1 {url}/up/", "-T 'old\\slash' {url}/up/",
    "-A me/1 {url}/", "--user-agent '' {url}/", "-e http://r.example/ {url}/", "--referer x {url}/",
    "-b a=1 {url}/", "--cookie 'a=1; b=2' {url}/", "-r 0-9 {url}/", "--range -5 {url}/", "-r 5- {url}/",
    "-r 600 {url}/", "-r 1,3 {url}/", "-r x {url}/",
    "--oauth2-bearer t0ken {url}/", "-u me:pw {url}/", "--user 'me:p:w' {url}/", "--anyauth -u me:pw {url}/",
    "--url {url}/x", "-L {url}/redirect", "-L -d a=1 {url}/redirect", "-L {url}/permanent", "-L -d a=1 {url}/permanent",
    "--max-redirs 5 {url}/redirect",
    "-s {url}/", "-sS {url}/", "-o out {url}/", "--output out {url}/a", "-O {url}/name.txt", "-O '{url}/a/b?c=d'",
    "--output-dir d --create-dirs -o x {url}/", "--create-dirs -o d/e/x {url}/",
    "-O --output-dir d --create-dirs {url}/y",
    "-w '%{http_code}' {url}/", "-w '%{http_code}\\n%{content_type}\\n' -o out {url}/",
    "-w '%{url_effective}' {url}/a?b",
    "-w '%{num_redirects} %{method} %{scheme}' -L {url}/redirect", "-w '%header{x-mark}%%\\t%{size_download}' {url}/",
    "-w '%{remote_ip} %{http_version} %{exitcode}' {url}/status/404",
    "-w '%{onerror}bad %{http_code}' {url}/status/500",
    "-f {url}/status/404", "--fail {url}/status/200", "--fail-with-body {url}/status/500", "{url}/status/404",
    "-f -o out {url}/status/404", "--unix-socket {socket} http://host.example/u", "-m 30 {url}/",
    "--max-time 30 {url}/",
    "--connect-timeout 5 {url}/", "--http1.1 {url}/", "--retry 0 {url}/", "--compressed {url}/gzip",
    "--compressed -I {url}/", "--compressed -r 0-9 {url}/",
    "--compressed -o x {url}/", "-k {url}/",
    "-x '' {url}/", "--no-location {url}/redirect",
  ]

  /// A field of `-H`, or its removal, takes the place of the field that another option would build.
  static let fields: [String] = [
    "-A a -H 'User-Agent: b' {url}/", "-A a -H 'User-Agent:' {url}/", "-A '' -H 'User-Agent: b' {url}/",
    "-e a -H 'Referer: b' {url}/", "-e a -H 'Referer:' {url}/",
    "-r 0-9 -H 'Range: bytes=1-2' {url}/", "-r 0-9 -H 'Range:' -o x {url}/", "-r 0-9 -H 'Range;' {url}/",
    "-C 3 -o new.txt -H 'Range: bytes=3-' {url}/range", "-C - -o part.txt -H 'Range: bytes=5-' {url}/range",
    "-C - -o part.txt -H 'Range:' {url}/whole",
    "-b a=1 -H 'Cookie: b=2' {url}/", "-b a=1 -H 'Cookie:' {url}/", "-b a=1 -H 'cookie;' {url}/",
    "--oauth2-bearer t -H 'Authorization: X' {url}/", "--oauth2-bearer t -H 'Authorization:' {url}/",
    "--oauth2-bearer t -u me:pw {url}/",
    "-u me:pw -H 'Authorization: X' {url}/", "-u me:pw -H 'Authorization:' {url}/",
    "-u me:pw -H 'authorization;' {url}/", "-H 'Authorization:' http://me:pw@{host}/",
    "--netrc-file {netrc} -H 'Authorization:' {url}/",
    "-H 'Authorization:' --location-trusted -u me:pw {url}/elsewhere",
    "--aws-sigv4 aws:amz:a:b -u key:secret -H 'Authorization: X' {url}/",
    "--aws-sigv4 aws:amz:a:b -u key:secret -H 'Authorization:' {url}/",
    "--json 1 -H 'Accept:' -H 'Content-Type:' {url}/", "-d a=1 -H 'Content-Type:' {url}/",
    "--compressed -H 'Accept-Encoding: x' {url}/",
    "--compressed -H 'Accept-Encoding:' {url}/", "-A a -e b -H @{headers} {url}/",
  ]

  static let habits: [String] = [
    "-H @{headers} {url}/", "-H @- {url}/ <{headers}", "-I -X GET {url}/", "--proto =http {url}/",
    "--proto =https {url}/",
    "--proto -http {url}/redirect", "--proto-redir =https {url}/redirect", "--proto-redir -all,http {url}/redirect",
    "--max-redirs -1 {url}/redirect", "-m .9 {url}/", "-w @{format} {url}/",
    "-sSfL -o x -w '%{http_code}\\n' {url}/redirect",
    "--proto =https,http {url}/digest", "--retry 2 --retry-delay 0 --max-time 30 {url}/", "-OJ {url}/old",
  ]

  static let several: [String] = [
    "{url}/a {url}/b", "--url {url}/a {url}/b", "-o x {url}/a -o y {url}/b", "-O {url}/n1 -O {url}/n2",
    "--remote-name-all {url}/n1 {url}/n2", "-H 'Accept-Encoding:' -o x {url}/a {url}/b", "'{url}/{a,b}/[1-3]'",
    "-o 'f#1_#2' '{url}/{a,b}/[1-2]'",
    "'{url}/[a-e:2]'", "'{url}/[01-10:3]'", "-O '{url}/{one,two}.txt'",
    "-w '%{url_effective}\\n' -o '#1' '{url}/{a,b}'",
    "-Z -o x -o y {url}/a {url}/b", "--parallel --parallel-max 2 -o 'f#1' '{url}/[1-9]'", "-d a=1 {url}/a {url}/b",
    "-T {file} {url}/x -T {bytes} {url}/y", "-I {url}/a {url}/b", "-f {url}/a {url}/status/404",
    "--fail-early -f {url}/status/404 {url}/a", "-g '{url}/x?a=[1]'", "-g {url}/x",
  ]

  static let outputs: [String] = [
    "-D heads {url}/", "-D - {url}/", "--dump-header heads -o out {url}/redirect", "-i {url}/", "-i {url}/redirect",
    "-I {url}/redirect", "-D heads {url}/status/404", "-D heads -o '#1' '{url}/{a,b}'", "--include {url}/status/204",
    "-J -O {url}/named", "-OJ {url}/named-with-path", "-OJ {url}/unnamed",
    "-O -J --output-dir d --create-dirs {url}/named",
    "--remote-header-name --remote-name {url}/named", "-C - -o part.txt {url}/range", "-C 3 -o new.txt {url}/range",
    "--continue-at - -o none.txt {url}/range", "-C - -o part.txt {url}/whole",
    "--no-clobber -o old.txt {url}/", "--remove-on-error -f -o x {url}/status/404", "--limit-rate 1M {url}/",
    "-N {url}/", "--no-buffer {url}/", "-# -o x {url}/", "--no-progress-meter -o x {url}/", "--progress-bar {url}/",
    "--max-filesize 5 {url}/", "--max-filesize 1k {url}/", "-s -S -f {url}/status/404",
  ]

  static let cookies: [String] = [
    "-b {jar} {url}/", "-b {jar} -b x=1 {url}/", "--cookie-jar out.txt {url}/cookie",
    "-b {jar} --cookie-jar out.txt {url}/cookie",
    "-b '' --cookie-jar out.txt {url}/cookie-redirect", "-b {jar} -j {url}/", "-b nowhere.txt {url}/cookie",
    "--junk-session-cookies -b {jar} {url}/", "-b '' {url}/cookie {url}/", "-b {jar} --cookie-jar - {url}/",
  ]

  static let credentials: [String] = [
    "-n {url}/", "--netrc {url}/", "--netrc-file {netrc} {url}/", "--netrc-optional {url}/",
    "--netrc-optional --netrc-file nowhere {url}/", "-n -u me:pw {url}/", "--basic -u me:pw {url}/",
    "--location-trusted -u me:pw {url}/elsewhere", "-u me:pw {url}/elsewhere", "--digest -u me:pw {url}/digest",
    "http://TOKEN@{host}/", "http://TOKEN@{host}/redirect", "http://@{host}/", "http://:pw@{host}/", "-u TOKEN: {url}/",
    "http://a%3Ab:c@{host}/", "http://a:b:c@{host}/", "http://%FF:%E9@{host}/", "--netrc-file {bare} {url}/",
    "--netrc-file {bare} http://me@{host}/", "--netrc-file {secret} {url}/",
    "--netrc-file {secret} http://me@{host}/", "--location-trusted -u TOKEN: {url}/elsewhere",
  ]

  static let connections: [String] = [
    "--resolve host.example:{port}:127.0.0.1 http://host.example:{port}/x",
    "--resolve '*:{port}:127.0.0.1' http://a.example:{port}/",
    "--resolve host.example:{port}:[::1],127.0.0.1 http://host.example:{port}/x",
    "--connect-to a.example:80:127.0.0.1:{port} http://a.example/x",
    "--connect-to ::127.0.0.1:{port} http://a.example/x",
    "-4 {url}/", "--ipv4 http://localhost:{port}/", "-6 {url}/", "--ipv6 {url}/", "--interface 127.0.0.1 {url}/",
    "--interface lo {url}/",
    "-0 {url}/", "--http1.0 {url}/", "--tlsv1.2 {url}/", "--tlsv1.3 {url}/", "--tls-max 1.3 {url}/",
  ]

  static let repeats: [String] = [
    "--retry 1 --retry-delay 1 -o out {url}/once-503", "--retry 1 --retry-all-errors --retry-delay 1 -f {url}/once-404",
    "--retry 3 --retry-max-time 1 --retry-delay 2 -f {url}/status/503",
    "--retry 1 --retry-delay 1 --retry-connrefused http://127.0.0.1:1/",
  ]

  /// These have their own test, because the signature contains the time.
  static let signed: [String] = [
    "--aws-sigv4 aws:amz:eu-west-1:execute-api -u key:secret {url}/", "--aws-sigv4 aws:amz -u key:secret {url}/a/b.txt",
    "--aws-sigv4 aws:amz:eu-west-1:execute-api -u key:secret -H 'Content-Type: text/plain' -d a=1 {url}/form",
    "--aws-sigv4 aws:amz:us-east-2:es -u key:secret -X PUT -d '{}' -H 'Content-Type: application/json' -H 'X-Amz-Target: t' '{url}/x?a=1&b=2'",
    "--aws-sigv4 aws:amz:eu:s3 -u a:b -H 'Content-Type: a/b' -H 'X-Amz-Content-Sha256: UNSIGNED-PAYLOAD' -d abc {url}/16",
    "--aws-sigv4 aws:amz:eu:es -u a:b -H 'Content-Type: a/b' -H 'X-Amz-Content-Sha256: UNSIGNED-PAYLOAD' -d abc {url}/16",
    "--aws-sigv4 osc:example:eu-west-1:svc -u key:secret {url}/",
    "--aws-sigv4 aws:amz:eu-west-1:execute-api -u key:secret -H \"X-Amz-Meta: $(printf 'caf\\351')\" {url}/",
  ]

  static let files: [String] = [
    "-K {options} {url}/", "-q {url}/", "-K - {url}/ <{options}", "-T - {url}/x <{file}",
    "-T . {url}/x <{bytes}", "--upload-file - {url}/ <{file}", "--path-as-is {url}/a/../b", "--url-query a=b {url}/",
    "--url-query 'q=x y' --url-query +raw {url}/?z", "--json @- {url}/ <{file}",
  ]

  /// Arguments for a TLS server at `{tls}`. `{ca}` is its authority, `{cert}` and `{key}` are a client certificate and
  /// its key, and `{locked}` is the same key, encrypted with the password `secret`. `{both}` has the certificate and
  /// the encrypted key in one file. `{public}` is the server's public key, and `{pin}` is the hash of this key.
  static let secure: [String] = [
    "{tls}/facts", "-k {tls}/facts", "--insecure {tls}/facts", "--cacert {ca} {tls}/facts",
    "--cacert {ca} --cert {cert} --key {key} {tls}/facts",
    "--cacert {ca} -E {cert} --key {locked} --pass secret {tls}/facts",
    "--cacert {ca} --cert {both}:secret {tls}/facts", "--cacert {ca} --pinnedpubkey {pin} {tls}/facts",
    "--cacert {ca} --pinnedpubkey 'sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;{pin}' {tls}/facts",
    "--cacert {ca} --pinnedpubkey {public} {tls}/facts", "-k --pinnedpubkey {pin} {tls}/facts",
    "--cacert {ca} --pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= {tls}/facts",
    "-k --pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= {tls}/facts",
    "--cacert {ca} --tlsv1.2 {tls}/facts", "--cacert {ca} --tlsv1.3 {tls}/facts",
    "--cacert {ca} --tls-max 1.2 {tls}/facts",
    "--cacert {ca} --tls-max 1.2 --ciphers ECDHE-ECDSA-AES256-GCM-SHA384 {tls}/facts",
    "--cacert {ca} --tls13-ciphers TLS_CHACHA20_POLY1305_SHA256 {tls}/facts", "--cacert {ca} --http1.1 {tls}/facts",
    "--cacert {ca} --http2 {tls}/facts", "--cacert {ca} -w '%{http_version} %{scheme}\\n' {tls}/facts",
    "--cacert {ca} --resolve other.example:{port}:127.0.0.1 https://other.example:{port}/facts",
    "--cacert {ca} --connect-to localhost:443:127.0.0.1:{port} https://localhost/facts",
  ]

  static let all =
    requests + fields + habits + several + outputs + cookies + credentials + connections + repeats + files
}
