# Completion of sluice for fish.

complete -c sluice -f
set -l commands send run dev check echo verify-trace ctl plugin version help
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a send -d 'Send one request through the pipeline and print the response\'s body'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a run -d 'Run request documents, one a line, and print a result document for each'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a dev -d 'Run a pipeline while its plugins are written: watch, build, swap, restart'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a check -d 'Say what is wrong with a configuration and its plugins'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a echo -d 'Run a server that answers each request with the request, as a document'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a verify-trace -d 'Check a recorded event log against the rules of the ledger'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a ctl -d 'Talk to a running engine'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a plugin -d 'Make, build, look at and check plugins'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a version -d 'Show the version, the plugin ABI and the libraries in use'
complete -c sluice -n "not __fish_seen_subcommand_from $commands" -a help -d 'Show what there is, or what a command takes'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a status -d 'Show what serves in a running engine, what did, and what keeps it'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a swap -d 'Load plugins of a running engine anew, while requests flow'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a rollback -d 'Go back to what served before the last swap of a running engine'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a metrics -d 'Show what a running engine and its plugins have counted'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and not __fish_seen_subcommand_from status swap rollback metrics notify" -a notify -d 'Offer a notification to the plugins of a running engine'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect new build validate" -a inspect -d 'Read the facts of plugins without running their code'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect new build validate" -a new -d 'Make a folder with a plugin that builds at once'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect new build validate" -a build -d 'Build a plugin and print the path of its library'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and not __fish_seen_subcommand_from inspect new build validate" -a validate -d 'Check that a plugin keeps the rules, each check in a process of its own'

# sluice send
complete -c sluice -n "__fish_seen_subcommand_from send" -s X -l request -x -d 'The method'
complete -c sluice -n "__fish_seen_subcommand_from send" -s H -l header -x -d 'Add a header; "NAME:" takes a default one away; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from send" -s d -l data -x -d 'Send this as a form; @FILE and @- read it, without line ends; repeated, joined by &'
complete -c sluice -n "__fish_seen_subcommand_from send" -l data-binary -x -d 'Send this as it is; @FILE and @- read it'
complete -c sluice -n "__fish_seen_subcommand_from send" -s I -l head -d 'Send HEAD and print the response\'s head'
complete -c sluice -n "__fish_seen_subcommand_from send" -s u -l user -x -d 'Send these as Basic, and as Digest where the server asks for it'
complete -c sluice -n "__fish_seen_subcommand_from send" -l digest -d 'With -u, send them as Digest alone'
complete -c sluice -n "__fish_seen_subcommand_from send" -l anyauth -d 'With -u, send nothing before the server asks, then what it asks for'
complete -c sluice -n "__fish_seen_subcommand_from send" -s L -l location -d 'Follow redirects, which is so anyway unless the configuration says otherwise'
complete -c sluice -n "__fish_seen_subcommand_from send" -l max-redirs -x -d 'Follow so many redirects (20); 0 prints the redirect itself'
complete -c sluice -n "__fish_seen_subcommand_from send" -s o -l output -rF -d 'Write the body to this file while it arrives'
complete -c sluice -n "__fish_seen_subcommand_from send" -s i -l include -d 'Print the response\'s head before the body'
complete -c sluice -n "__fish_seen_subcommand_from send" -l json -d 'Print a result document, as "sluice run" does'
complete -c sluice -n "__fish_seen_subcommand_from send" -l metadata -d 'With --json, add the requests as given and as sent, the final URL and timings'
complete -c sluice -n "__fish_seen_subcommand_from send" -l explain -d 'Say of each header that stages could set in a hop why it was sent or not'
complete -c sluice -n "__fish_seen_subcommand_from send" -l events -rF -d 'Record every event of the transaction here, for "sluice verify-trace"'
complete -c sluice -n "__fish_seen_subcommand_from send" -s s -l silent -d 'Say nothing on standard error'
complete -c sluice -n "__fish_seen_subcommand_from send" -s S -l show-error -d 'With -s, still say why the request failed'
complete -c sluice -n "__fish_seen_subcommand_from send" -s v -l verbose -d 'Show the heads that are sent and received; secrets are hidden'
complete -c sluice -n "__fish_seen_subcommand_from send" -l trace -d 'Show where the time went: phases of the exchange and stages'
complete -c sluice -n "__fish_seen_subcommand_from send" -s c -l config -rF -d 'The configuration of the pipeline'
complete -c sluice -n "__fish_seen_subcommand_from send" -l plugin -rF -d 'Add a plugin to each list that it has a part in; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from send" -s m -l timeout -x -d 'Limit the whole request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)'
complete -c sluice -n "__fish_seen_subcommand_from send" -l connect-timeout -x -d 'Limit the time until the connection is made (default: 5s)'
complete -c sluice -n "__fish_seen_subcommand_from send" -s k -l insecure -d 'Accept any certificate'
complete -c sluice -n "__fish_seen_subcommand_from send" -l cacert -rF -d 'Trust these authorities (PEM) instead of the system\'s'
complete -c sluice -n "__fish_seen_subcommand_from send" -l http1.1 -d 'Speak HTTP/1.1'
complete -c sluice -n "__fish_seen_subcommand_from send" -l http2 -d 'Offer HTTP/2 over TLS'
complete -c sluice -n "__fish_seen_subcommand_from send" -s x -l proxy -x -d 'Go through this proxy; "" goes direct'
complete -c sluice -n "__fish_seen_subcommand_from send" -s h -l help -d 'Show this help'

# sluice run
complete -c sluice -n "__fish_seen_subcommand_from run" -s c -l config -rF -d 'The configuration of the pipeline'
complete -c sluice -n "__fish_seen_subcommand_from run" -s i -l input -rF -d 'Read requests from here (default: standard input)'
complete -c sluice -n "__fish_seen_subcommand_from run" -s o -l output -rF -d 'Write results to here (default: standard output)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l concurrency -x -d 'Have so many requests in flight (default 64)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l rate -x -d 'Start at most so many requests a second'
complete -c sluice -n "__fish_seen_subcommand_from run" -l drain -x -d 'When interrupted, wait so long for what is in flight (default 30s)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l events -rF -d 'Record every event of every transaction here, for "sluice verify-trace"'
complete -c sluice -n "__fish_seen_subcommand_from run" -l metadata -d 'Add to each result the requests as given and as sent, the final URL and timings'
complete -c sluice -n "__fish_seen_subcommand_from run" -l plugin -rF -d 'Add a plugin to each list that it has a part in; may be repeated'
complete -c sluice -n "__fish_seen_subcommand_from run" -l control -F -d 'Listen for "sluice ctl" at this socket (default: one that it finds by itself)'
complete -c sluice -n "__fish_seen_subcommand_from run" -l no-progress -d 'Show no progress bar on a terminal'
complete -c sluice -n "__fish_seen_subcommand_from run" -s q -l quiet -d 'Show neither progress nor summary'
complete -c sluice -n "__fish_seen_subcommand_from run" -s h -l help -d 'Show this help'

# sluice dev
complete -c sluice -n "__fish_seen_subcommand_from dev" -s c -l config -rF -d 'The configuration of the pipeline; required'
complete -c sluice -n "__fish_seen_subcommand_from dev" -s i -l input -rF -d 'Send these request documents, one a line, at the start'
complete -c sluice -n "__fish_seen_subcommand_from dev" -l listen -x -d 'Take requests here, send them to transport.baseURL, and answer with the response'
complete -c sluice -n "__fish_seen_subcommand_from dev" -l json -d 'Print an event a line as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from dev" -s h -l help -d 'Show this help'

# sluice check
complete -c sluice -n "__fish_seen_subcommand_from check" -s c -l config -rF -d 'The configuration'
complete -c sluice -n "__fish_seen_subcommand_from check" -l json -d 'Print the verdict as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from check" -s h -l help -d 'Show this help'

# sluice echo
complete -c sluice -n "__fish_seen_subcommand_from echo" -s p -l port -x -d 'Listen on this port; 0, the default, takes any free one'
complete -c sluice -n "__fish_seen_subcommand_from echo" -l host -x -d 'Listen on this address (default 127.0.0.1)'
complete -c sluice -n "__fish_seen_subcommand_from echo" -s h -l help -d 'Show this help'

# sluice verify-trace
complete -c sluice -n "__fish_seen_subcommand_from verify-trace" -l json -d 'Print the verdict as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from verify-trace" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from verify-trace" -F

# sluice ctl status
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from status" -l socket -rF -d 'The control socket (default: of the only engine that runs)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from status" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from status" -s h -l help -d 'Show this help'

# sluice ctl swap
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -s c -l config -rF -d 'Have the engine read this configuration, in place of naming plugins'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -l socket -rF -d 'The control socket (default: of the only engine that runs)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from swap" -s h -l help -d 'Show this help'

# sluice ctl rollback
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from rollback" -l socket -rF -d 'The control socket (default: of the only engine that runs)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from rollback" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Show this help'

# sluice ctl metrics
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -l socket -rF -d 'The control socket (default: of the only engine that runs)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -l prometheus -d 'Print Prometheus\' text format'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from metrics" -s h -l help -d 'Show this help'

# sluice ctl notify
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -l deadline -x -d 'Wait so long for the outcome (default 30s)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -l socket -rF -d 'The control socket (default: of the only engine that runs)'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -l json -d 'Print the answer as a JSON document'
complete -c sluice -n "__fish_seen_subcommand_from ctl; and __fish_seen_subcommand_from notify" -s h -l help -d 'Show this help'

# sluice plugin inspect
complete -c sluice -n "__fish_seen_subcommand_from inspect" -l json -d 'Print a JSON document for each, one a line'
complete -c sluice -n "__fish_seen_subcommand_from inspect" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from inspect" -F

# sluice plugin new
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from new" -s l -l lang -x -a 'c swift' -d 'c or swift; c without it'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from new" -s p -l path -r -F -d 'Make the folder there, and not here'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from new" -s h -l help -d 'Show this help'

# sluice plugin build
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -s c -l configuration -x -a 'debug release' -d 'debug, which is the default, or release'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from build" -F

# sluice plugin validate
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -s c -l config -r -F -d 'The configuration of the instances; many plugins want one'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l answer -r -F -d 'Answer call-outs with this response document'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l strict -d 'Fail where a check was skipped'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -s l -l list -d 'List the checks'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l only -x -d 'Run this check alone; more than one may be given'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l seed -x -d 'Try at random what was tried with this seed'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l deadline -x -d 'The time for each check, 30s without it'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -l json -d 'Print a JSON document for each check, one a line'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -s h -l help -d 'Show this help'
complete -c sluice -n "__fish_seen_subcommand_from plugin; and __fish_seen_subcommand_from validate" -F

# sluice version
complete -c sluice -n "__fish_seen_subcommand_from version" -s h -l help -d 'Show this help'

# sluice help
complete -c sluice -n "__fish_seen_subcommand_from help" -s h -l help -d 'Show this help'
