# Completion of sluice for bash, written by "sluice completion bash".

_sluice() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "send run serve attach envoy dev check bench replay echo verify-trace ctl update publish plugin completion version help --help --version" -- "$current")
    return
  fi
  case $command in
    envoy | ctl | update | publish | plugin) command="$command ${COMP_WORDS[2]-}" ;;
  esac
  if [ "$command" = attach ]; then
    local place=2 word
    while [ "$place" -lt "$COMP_CWORD" ]; do
      word=${COMP_WORDS[place]}
      case $word in
        --) place=$((place + 1)); break ;;
        -c | --config | --list | --events) place=$((place + 2)) ;;
        -*) place=$((place + 1)) ;;
        *) break ;;
      esac
    done
    if [ "$place" -lt "$COMP_CWORD" ]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset "$place"
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      return
    fi
  fi
  # The argument of an option.
  case "$command $previous" in
    "send -T" | "send --upload-file" | "send -K" | "send --options" | "send --netrc-file" | "send --cookie-jar" | "send -o" | "send --output" | "send -D" | "send --dump-header" | "send --events" | "send --har" | "send --record" | "send -c" | "send --config" | "send --plugin" | "send --unix-socket" | "send --cacert" | "send -E" | "send --cert" | "send --key" | "run -c" | "run --config" | "run -i" | "run --input" | "run --from-har" | "run -o" | "run --output" | "run --events" | "run --har" | "run --record" | "run --plugin" | "run --control" | "serve -c" | "serve --config" | "serve --events" | "serve --har" | "serve --record" | "serve --access-log" | "serve --plugin" | "serve --control" | "attach -c" | "attach --config" | "envoy plan -c" | "envoy plan --config" | "dev -c" | "dev --config" | "dev -i" | "dev --input" | "check -c" | "check --config" | "bench -T" | "bench --upload-file" | "bench -c" | "bench --config" | "bench --plugin" | "bench --cacert" | "replay -c" | "replay --config" | "replay --old" | "replay --new" | "replay --answer" | "ctl status --socket" | "ctl swap -c" | "ctl swap --config" | "ctl swap --socket" | "ctl canary --socket" | "ctl promote --socket" | "ctl abort --socket" | "ctl rollback --socket" | "ctl metrics --socket" | "ctl notify --socket" | "update check -c" | "update check --config" | "update apply -c" | "update apply --config" | "update status -c" | "update status --config" | "publish init --add" | "publish init --key" | "publish sign --key" | "publish timestamp --key" | "publish rotate --add" | "publish rotate --key" | "plugin validate -c" | "plugin validate --config" | "plugin validate --answer")
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    "send --output-dir" | "attach --events" | "publish init --keys" | "plugin new -p" | "plugin new --path")
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    "send --tls-max")
      mapfile -t COMPREPLY < <(compgen -W "1.2 1.3 default" -- "$current")
      return
      ;;
    "run --log-format" | "serve --log-format")
      mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
      return
      ;;
    "run --log-level" | "serve --log-level")
      mapfile -t COMPREPLY < <(compgen -W "debug info warning error" -- "$current")
      return
      ;;
    "attach --list")
      mapfile -t COMPREPLY < <(compgen -c -- "$current")
      return
      ;;
    "plugin new -l" | "plugin new --lang")
      mapfile -t COMPREPLY < <(compgen -W "c cpp swift" -- "$current")
      return
      ;;
    "plugin build -c" | "plugin build --configuration")
      mapfile -t COMPREPLY < <(compgen -W "debug release" -- "$current")
      return
      ;;
  esac
  local options="" operands=""
  case $command in
    "send") options="--url --request --header --data --data-binary --data-raw --data-urlencode --json --get --url-query --form --form-string --upload-file --user-agent --referer --cookie --range --oauth2-bearer --compressed --no-compressed --head --globoff --path-as-is --options --disable --from-curl --curl --user --basic --digest --anyauth --aws-sigv4 --netrc --netrc-file --netrc-optional --cookie-jar --junk-session-cookies --location --no-location --location-trusted --proto --proto-redir --max-redirs --output --remote-name --remote-name-all --remote-header-name --output-dir --create-dirs --no-clobber --remove-on-error --continue-at --limit-rate --write-out --dump-header --fail --fail-with-body --no-fail --include --no-buffer --document --json-bodies --metadata --explain --events --har --record --silent --show-error --progress-bar --no-progress-meter --verbose --trace --parallel --parallel-max --fail-early --config --plugin --ipv4 --ipv6 --resolve --connect-to --interface --unix-socket --proxy --connect-timeout --insecure --cacert --cert --key --pass --pinnedpubkey --tlsv1.2 --tlsv1.3 --tls-max --ciphers --tls13-ciphers --max-time --max-filesize --retry --retry-connrefused --retry-all-errors --retry-delay --retry-max-time --http1.0 --http1.1 --http2 --http2-prior-knowledge --help" ;;
    "run") options="--config --input --request --header --from-har --output --resume --concurrency --rate --max-per-host --rate-per-host --drain --events --har --record --json-bodies --metadata --plugin --control --metrics-port --log-format --log-level --no-progress --quiet --help" ;;
    "serve") options="--config --listen --to --drain --events --har --record --access-log --plugin --control --metrics-port --log-format --log-level --no-progress --quiet --help" ;;
    "attach") options="--config --explain --list --events --quiet --help" operands="-c" ;;
    "envoy plan") options="--config --output --wait --help" ;;
    "envoy config") options="--help" ;;
    "envoy status") options="--json --help" ;;
    "dev") options="--config --input --listen --json --help" ;;
    "check") options="--config --json --help" ;;
    "bench") options="--request --header --data --data-binary --data-raw --data-urlencode --json --get --url-query --form --form-string --upload-file --user-agent --referer --cookie --range --oauth2-bearer --compressed --no-compressed --requests --connections --rounds --document --quiet --config --plugin --max-time --insecure --cacert --http1.1 --http2 --http2-prior-knowledge --help" ;;
    "replay") options="--config --old --new --name --answer --document --help" ;;
    "echo") options="--port --host --help" ;;
    "verify-trace") options="--json --help" operands="-f" ;;
    "ctl status") options="--socket --json --help" ;;
    "ctl swap") options="--config --canary --hold --by --shadow --share --now --socket --json --help" ;;
    "ctl canary") options="--watch --socket --json --help" ;;
    "ctl promote") options="--socket --json --help" ;;
    "ctl abort") options="--socket --json --help" ;;
    "ctl rollback") options="--socket --json --help" ;;
    "ctl metrics") options="--socket --json --prometheus --help" ;;
    "ctl notify") options="--deadline --socket --json --help" ;;
    "update check") options="--config --json --help" ;;
    "update apply") options="--config --retry --json --help" ;;
    "update status") options="--config --json --help" ;;
    "publish init") options="--keys --add --threshold --key --sign-with --expires --help" ;;
    "publish key") options="--help" operands="-f" ;;
    "publish add") options="--channel --id --plugin-version --remove --revoke --allow --from --min-abi --expires --help" operands="-f" ;;
    "publish sign") options="--channel --key --sign-with --help" ;;
    "publish timestamp") options="--channel --key --sign-with --expires --help" ;;
    "publish rotate") options="--add --remove --threshold --key --sign-with --expires --help" ;;
    "publish show") options="--help" ;;
    "plugin inspect") options="--json --help" operands="-f" ;;
    "plugin validate") options="--config --answer --strict --list --only --seed --deadline --json --help" operands="-f" ;;
    "plugin new") options="--lang --path --help" ;;
    "plugin build") options="--quiet --configuration --direct --static-stdlib --help" operands="-d" ;;
    "completion") options="--help" operands="-W bash,zsh,fish" ;;
    "version") options="--help" ;;
    "help") options="--man --curl --help" operands="-W send,run,serve,attach,envoy,dev,check,bench,replay,echo,verify-trace,ctl,update,publish,plugin,completion,version,help" ;;
    "envoy "*) operands="-W plan,config,status" ;;
    "ctl "*) operands="-W status,swap,canary,promote,abort,rollback,metrics,notify" ;;
    "update "*) operands="-W check,apply,status" ;;
    "publish "*) operands="-W init,key,add,sign,timestamp,rotate,show" ;;
    "plugin "*) operands="-W inspect,validate,new,build" ;;
  esac
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
    *)
      case $operands in
        "") ;;
        -W*) mapfile -t COMPREPLY < <(IFS=,; compgen -W "${operands#-W }" -- "$current") ;;
        *) mapfile -t COMPREPLY < <(compgen "$operands" -- "$current") ;;
      esac
      ;;
  esac
}

complete -o filenames -F _sluice sluice
