/// The manual page, in the macros of man(7). The text about commands comes from their tables. The other text is here.
enum ManPage {
  static func text(_ commands: [CommandDescription], version: String) -> String {
    """
    .TH SLUICE 1 "" "sluice \(version)" "User Commands"
    .SH NAME
    sluice \\- run HTTP requests through a pipeline of native plugin stages
    .SH SYNOPSIS
    \(commands.map { escaped($0.usage) }.joined(separator: "\n.br\n"))
    \(description)
    .SH COMMANDS
    \(commands.map(section).joined(separator: "\n"))
    \(ending)

    """
  }

  private static func section(_ command: CommandDescription) -> String {
    let details = command.details.isEmpty ? "" : "\n.PP\n" + body(command.details)
    return ".SS \"sluice \(command.name)\"\n\(escaped(command.summary)).\(details)\n"
      + command.options.map(option).joined(separator: "\n")
  }

  /// Formats paragraphs. Lines that begin with two spaces are shown unchanged.
  private static func body(_ text: String) -> String {
    var lines: [String] = []
    var isTable = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let isRow = line.hasPrefix("  ")
      if isRow != isTable { lines.append(isRow ? ".nf" : ".fi") }
      isTable = isRow
      lines.append(line.isEmpty ? ".PP" : escaped(line))
    }
    return lines.joined(separator: "\n") + (isTable ? "\n.fi" : "")
  }

  private static func option(_ option: Option) -> String {
    let letter = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
    let argument =
      option.argument.map { placeholder in
        let shown = "\\fI\(escaped(placeholder))\\fR"
        return option.isArgumentOptional ? " [\(shown)]" : " \(shown)"
      } ?? ""
    return ".TP\n\(letter)\\fB\\-\\-\(escaped(option.name))\\fR\(argument)\n\(escaped(option.summary))."
  }

  /// Escapes text for a line, so that dashes can be copied, and the beginning of the line is not taken for a macro.
  private static func escaped(_ text: some StringProtocol) -> String {
    let text = String(text).replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("…", with: "...")
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  private static let description = #"""
    .SH DESCRIPTION
    Sluice runs HTTP requests through stages that live in shared libraries: interceptors, which can change requests and
    responses, and tracers, which observe.
    One configuration file, in JSON, lists the stages and their order, and says how requests are sent.
    .PP
    Data goes to standard output, messages go to standard error.
    Colour and progress are shown only on a terminal.
    """#

  private static let ending = #"""
    .SH REQUEST AND RESULT LINES
    A request line of \fBsluice run\fR is one JSON document:
    .PP
    .nf
      {"id": 7, "method": "POST", "url": "https://api.example.com/items",
       "headers": {"accept": "application/json"}, "body": {"json": {"name": "a"}}, "timeout": "5s"}
    .fi
    .PP
    Only \fIurl\fR is required.
    A relative URL is resolved against \fItransport.baseURL\fR (RFC 3986).
    The \fIbody\fR is one of \fItext\fR, \fIbase64\fR, \fIjson\fR and \fIfile\fR.
    With \fIjson\fR, the request has \fIcontent-type: application/json\fR unless the line names a content type.
    A line can have up to four thirds of \fItransport.maxRequestBytes\fR, plus one mebibyte.
    Empty lines are skipped.
    .PP
    A result line has the request's \fIid\fR, or the number of its line; the \fIresponse\fR, if there was one;
    the \fIerror\fR with \fIcode\fR and \fImessage\fR, if the request failed; \fIattempts\fR, \fIdurationMs\fR and \fIrequestId\fR.
    .SH EXIT STATUS
    .TP
    .B 0
    All succeeded.
    .TP
    .B 1
    A request failed for a reason that has no status below; output could not be written; \fBverify\-trace\fR or \fBplugin validate\fR found a problem; or an engine
    refused what \fBctl\fR asked for.
    .TP
    .B 2
    Wrong usage, an invalid configuration, a file that does not exist, or no engine for \fBctl\fR.
    .TP
    .B 3
    A library was found but refused.
    .TP
    .B 6, 7, 8, 18, 22, 23, 26, 28, 33, 35, 47, 52, 56, 58, 60, 61, 63, 65, 90
    The request of \fBsend\fR failed: the status is that of \fBcurl\fR(1) for the same reason.
    .TP
    .B of the program
    With \fBattach\fR: 128 + signal if a signal ended the program, 127 if it is not found, 126 if it cannot be run.
    .TP
    .B 70
    A plugin called \fBexit\fR(3) in this process; the message names it.
    .TP
    .B 128 + signal
    Interrupted by SIGINT or SIGTERM, after waiting up to the drain time for requests in flight; a second signal ends the command at once.
    .TP
    .B 141
    The reader of the standard output has closed it.
    .SH ENVIRONMENT
    .TP
    .BR TRACEPARENT ", " TRACESTATE ", " BAGGAGE
    The parent trace context of \fBsend\fR, \fBrun\fR and the program of \fBattach\fR.
    .TP
    .B SLUICE_DISABLE
    In a program under \fBattach\fR: if set to anything but 0 or an empty text, its transfers bypass the pipeline.
    .TP
    .BR OTEL_PROPAGATORS ", " OTEL_TRACES_SAMPLER ", " OTEL_TRACES_SAMPLER_ARG ", " OTEL_SDK_DISABLED
    Settings of the built-in \fIheaders\fR that the configuration does not set; the first also names the families in which the parent trace context is read.
    .TP
    .BR http_proxy ", " https_proxy ", " all_proxy
    The proxy, if neither an option nor the configuration names one.
    .TP
    .B no_proxy
    The hosts that are reached without a proxy, whoever names it.
    .TP
    .B NO_COLOR
    If set and not empty, no colour is shown.
    .TP
    .B XDG_RUNTIME_DIR
    Control sockets are in its folder \fIsluice\fR; otherwise in \fI/tmp/sluice\-UID\fR.
    .TP
    .B XDG_CACHE_HOME
    The folder for private copies of plugins, unless the configuration sets \fIstore\fR.
    .SH EXAMPLES
    .nf
      sluice echo \-\-port 8080 &
      sluice send \-c sluice.json http://127.0.0.1:8080/ \-H 'accept: text/plain' \-v
      sluice run \-c sluice.json <requests.jsonl >results.jsonl
    .fi
    .SH SEE ALSO
    .BR curl (1),
    .BR jq (1)
    """#
}
