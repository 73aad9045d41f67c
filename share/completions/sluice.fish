# Completion of sluice for fish, written by "sluice completion fish".

complete -c sluice -f
set -l commands send run dev check bench echo verify-trace ctl plugin completion version help
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a send -d 'Send one request through the pipeline and print the response\'s body'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run request documents, one on each line, and print a result document for each'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a dev -d 'Run a pipeline while its plugins are written: watch, build, swap, restart'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a check -d 'Check a configuration and its plugins'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a bench -d 'Measure what the pipeline costs each request'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a echo -d 'Run a server that answers each request with the request, as a document'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a verify-trace -d 'Check an event log against the rules of the ledger'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a ctl -d 'Talk to a running engine'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a plugin -d 'Create, build, inspect and check plugins'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a completion -d 'Print the script with which a shell completes the command'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a version -d 'Show the version, the plugin ABI and the libraries in use'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a help -d 'Show the commands, or the usage of a command'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a status -d 'Show the builds, swaps and pending work of a running engine'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a swap -d 'Load new builds into a running engine, while requests flow'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a rollback -d 'Undo the last swap of a running engine'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a metrics -d 'Show the metrics of a running engine and its plugins'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a notify -d 'Offer a notification to the plugins of a running engine'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect validate new build" -a inspect -d 'Show facts about plugins without running their code'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect validate new build" -a validate -d 'Check that a plugin follows the rules, each check in its own process'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect validate new build" -a new -d 'Create a folder with a plugin that builds at once'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect validate new build" -a build -d 'Build a plugin and print the path of its library'

# sluice send
complete -c sluice -n "__fish_seen_subcommand_from send" -s X -l request -x -d 'The method'
complete -c sluice -n "__fish_seen_subcommand_from send" -s H -l header -x -d 'Add a header; "NAME:" removes a default header; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from send" -s d -l data -x -d 'Send form data; @FILE and @- read it, without line ends; repeats are joined by &'
complete -c sluice -n "__fish_seen_subcommand_from send" -l data-binary -x -d 'Send this data unchanged; @FILE and @- read it'
complete -c sluice -n "__fish_seen_subcommand_from send" -s I -l head -d 'Send HEAD and print the response\'s head'
complete -c sluice -n "__fish_seen_subcommand_from send" -s u -l user -x -d 'Send these as Basic, and as Digest if the server asks for it'
complete -c sluice -n "__fish_seen_subcommand_from send" -l digest -d 'With -u, send them only as Digest'
complete -c sluice -n "__fish_seen_subcommand_from send" -l anyauth -d 'With -u, send Basic or Digest only when the server asks for it'
complete -c sluice -n "__fish_seen_subcommand_from send" -s L -l location -d 'Follow redirects (the default, unless the configuration says otherwise)'
complete -c sluice -n "__fish_seen_subcommand_from send" -l max-redirs -x -d 'Follow at most N redirects (default 20); 0 prints the redirect itself'
complete -c sluice -n "__fish_seen_subcommand_from send" -s o -l output -rF -d 'Write the body to this file while it arrives'
complete -c sluice -n "__fish_seen_subcommand_from send" -s i -l include -d 'Print the response\'s head before the body'
complete -c sluice -n "__fish_seen_subcommand_from send" -l json -d 'Print a result document, as "sluice run" does'
complete -c sluice -n "__fish_seen_subcommand_from send" -l metadata -d 'With --json, add the original and the sent request, the final URL and timings'
complete -c sluice -n "__fish_seen_subcommand_from send" -l explain -d 'Explain why each header that stages could set was sent or not'
complete -c sluice -n "__fish_seen_subcommand_from send" -l events -rF -d 'Record every event of the transaction here, for "sluice verify-trace"'
complete -c sluice -n "__fish_seen_subcommand_from send" -s s -l silent -d 'Print nothing on standard error'
complete -c sluice -n "__fish_seen_subcommand_from send" -s S -l show-error -d 'With -s, still print why the request failed'
complete -c sluice -n "__fish_seen_subcommand_from send" -s v -l verbose -d 'Show the sent and received heads; secrets are hidden'
complete -c sluice -n "__fish_seen_subcommand_from send" -l trace -d 'Show where the time went: phases of the exchange and stages'
complete -c sluice -n "__fish_seen_subcommand_from send" -s c -l config -rF -d 'The configuration of the pipeline'
complete -c sluice -n "__fish_seen_subcommand_from send" -l plugin -rF -d 'Add a plugin to each list that it has callbacks for; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from send" -s m -l timeout -x -d 'Limit the whole request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)'
complete -c sluice -n "__fish_seen_subcommand_from send" -l connect-timeout -x -d 'Limit the time until the connection is established (default: 5s)'
complete -c sluice -n "__fish_seen_subcommand_from send" -s k -l insecure -d 'Accept any certificate'
complete -c sluice -n "__fish_seen_subcommand_from send" -l cacert -rF -d 'Trust these authorities (PEM) instead of the system\'s'
complete -c sluice -n "__fish_seen_subcommand_from send" -l http1.1 -d 'Use HTTP/1.1'
complete -c sluice -n "__fish_seen_subcommand_from send" -l http2 -d 'Offer HTTP/2 over TLS'
complete -c sluice -n "__fish_seen_subcommand_from send" -l http2-prior-knowledge -d 'Speak HTTP/2, in clear text too, without asking'
complete -c sluice -n "__fish_seen_subcommand_from send" -s x -l proxy -x -d 'Use this proxy; "" uses none'
complete -c sluice -n "__fish_seen_subcommand_from send" -s h -l help -d 'Show this help'

# sluice run
complete -c sluice -n "__fish_seen_subcommand_from run" -s c -l config -rF -d 'The configuration of the pipeline'
complete -c sluice -n "__fish_seen_subcommand_from run" -s i -l input -rF -d 'Read requests from here (default: standard input)'
complete -c sluice -n "__fish_seen_subcommand_from run" -s o -l output -rF -d 'Write results to here, emptied first (default: standard output)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l resume -d 'Keep the results that the output file already has, and send only the lines without one'
complete -c sluice -n "__fish_seen_subcommand_from run" -l concurrency -x -d 'Maximum number of requests in flight (default 64)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l rate -x -d 'Maximum number of requests started per second'
complete -c sluice -n "__fish_seen_subcommand_from run" -l max-per-host -x -d 'Maximum number of requests in flight to one host'
complete -c sluice -n "__fish_seen_subcommand_from run" -l rate-per-host -x -d 'Maximum number of requests started per second to one host'
complete -c sluice -n "__fish_seen_subcommand_from run" -l drain -x -d 'When interrupted, time for requests in flight to finish (default 30s)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l events -rF -d 'Record every event of every transaction here, for "sluice verify-trace"'
complete -c sluice -n "__fish_seen_subcommand_from run" -l metadata -d 'Add to each result the original and the sent request, the final URL and timings'
complete -c sluice -n "__fish_seen_subcommand_from run" -l plugin -rF -d 'Add a plugin to each list that it has callbacks for; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from run" -l control -F -d 'Listen for "sluice ctl" at this socket (default: one named after the process)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l metrics-port -x -d 'Serve the metrics for Prometheus at http://127.0.0.1:PORT/metrics; 0 takes any port'
complete -c sluice -n "__fish_seen_subcommand_from run" -l log-format -xa 'text json' -d 'Write messages as text (default), or each as a JSON document on a line: json'
complete -c sluice -n "__fish_seen_subcommand_from run" -l log-level -xa 'debug info warning error' -d 'Write messages of this level and above: debug, info, warning, error'
complete -c sluice -n "__fish_seen_subcommand_from run" -l no-progress -d 'Show no progress bar on a terminal'
complete -c sluice -n "__fish_seen_subcommand_from run" -s q -l quiet -d 'Show neither progress nor summary'
complete -c sluice -n "__fish_seen_subcommand_from run" -s h -l help -d 'Show this help'

# sluice dev
complete -c sluice -n "__fish_seen_subcommand_from dev" -s c -l config -rF -d 'The configuration of the pipeline; required'
complete -c sluice -n "__fish_seen_subcommand_from dev" -s i -l input -rF -d 'Send these request documents, one on each line, at the start'
complete -c sluice -n "__fish_seen_subcommand_from dev" -l listen -x -d 'Accept requests here, send them to transport.baseURL, and answer with the response'
complete -c sluice -n "__fish_seen_subcommand_from dev" -l json -d 'Print each event as a JSON document on one line'
complete -c sluice -n "__fish_seen_subcommand_from dev" -s h -l help -d 'Show this help'

# sluice check
complete -c sluice -n "__fish_seen_subcommand_from check" -s c -l config -rF -d 'The configuration'
complete -c sluice -n "__fish_seen_subcommand_from check" -l json -d 'Print the result as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from check" -s h -l help -d 'Show this help'

# sluice bench
complete -c sluice -n "__fish_seen_subcommand_from bench" -s X -l request -x -d 'The method'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s H -l header -x -d 'Add a header; "NAME:" removes a default header; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s d -l data -x -d 'Send form data; @FILE and @- read it, without line ends; repeats are joined by &'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l data-binary -x -d 'Send this data unchanged; @FILE and @- read it'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s n -l requests -x -d 'Requests in a round (default 10000); a quarter of them is sent before, as a warm-up'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l connections -x -d 'Requests in flight at a time (default 32)'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l rounds -x -d 'Rounds through each of both pipelines (default 5)'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l json -d 'Print the result as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s q -l quiet -d 'Show no progress'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s c -l config -rF -d 'The configuration of the pipeline'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l plugin -rF -d 'Add a plugin to each list that it has callbacks for; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s m -l timeout -x -d 'Limit each request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s k -l insecure -d 'Accept any certificate'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l cacert -rF -d 'Trust these authorities (PEM) instead of the system\'s'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l http1.1 -d 'Use HTTP/1.1'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l http2 -d 'Offer HTTP/2 over TLS'
complete -c sluice -n "__fish_seen_subcommand_from bench" -l http2-prior-knowledge -d 'Speak HTTP/2, in clear text too, without asking'
complete -c sluice -n "__fish_seen_subcommand_from bench" -s h -l help -d 'Show this help'

# sluice echo
complete -c sluice -n "__fish_seen_subcommand_from echo" -s p -l port -x -d 'Listen on this port; 0, the default, takes any free port'
complete -c sluice -n "__fish_seen_subcommand_from echo" -l host -x -d 'Listen on this address (default 127.0.0.1)'
complete -c sluice -n "__fish_seen_subcommand_from echo" -s h -l help -d 'Show this help'

# sluice verify-trace
complete -c sluice -n "__fish_seen_subcommand_from verify-trace" -l json -d 'Print the result as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from verify-trace" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from verify-trace" -F

# sluice ctl status
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from status" -l socket -rF -d 'The control socket (default: the socket of the only running engine)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from status" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from status" -s h -l help -d 'Show this help'

# sluice ctl swap
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -s c -l config -rF -d 'Make the engine read this configuration; do not name plugins'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -l socket -rF -d 'The control socket (default: the socket of the only running engine)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -s h -l help -d 'Show this help'

# sluice ctl rollback
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from rollback" -l socket -rF -d 'The control socket (default: the socket of the only running engine)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from rollback" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Show this help'

# sluice ctl metrics
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -l socket -rF -d 'The control socket (default: the socket of the only running engine)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -l prometheus -d 'Print Prometheus\' text format'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -s h -l help -d 'Show this help'

# sluice ctl notify
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -l deadline -x -d 'Time limit for the outcome (default 30s)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -l socket -rF -d 'The control socket (default: the socket of the only running engine)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -s h -l help -d 'Show this help'

# sluice plugin inspect
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from inspect" -l json -d 'Print a JSON document for each library, one on each line'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from inspect" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from inspect" -F

# sluice plugin validate
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -s c -l config -rF -d 'The configuration of the instances; many plugins require one'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l answer -rF -d 'Answer call-outs with this response document (default: a token and status 200)'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l strict -d 'Also fail if a check was skipped: the plugin has the feature, but it was not checked'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -s l -l list -d 'List the checks'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l only -x -d 'Run only this check; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l seed -x -d 'Use the same random input as the run with this seed'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l deadline -x -d 'Time limit for each check (default 30s)'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l json -d 'Print a JSON document for each check, one on each line'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -F

# sluice plugin new
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from new" -s l -l lang -xa 'c cpp swift' -d 'c (default), cpp or swift'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from new" -s p -l path -xa '(__fish_complete_directories)' -d 'Create the folder in DIR instead of the current folder'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from new" -s h -l help -d 'Show this help'

# sluice plugin build
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -s c -l configuration -xa 'debug release' -d 'debug (default) or release'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -l direct -d 'In Swift: call the compiler without the package manager if only the plugin\'s own sources have changed'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -l static-stdlib -d 'In Swift: link the standard library statically, for programs with another Swift runtime or none'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -a '(__fish_complete_directories)'

# sluice completion
complete -c sluice -n "__fish_seen_subcommand_from completion" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from completion" -a 'bash zsh fish'

# sluice version
complete -c sluice -n "__fish_seen_subcommand_from version" -s h -l help -d 'Show this help'

# sluice help
complete -c sluice -n "__fish_seen_subcommand_from help" -l man -d 'Print the manual page, for man(1)'
complete -c sluice -n "__fish_seen_subcommand_from help" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from help" -a 'send run dev check bench echo verify-trace ctl plugin completion version help'
