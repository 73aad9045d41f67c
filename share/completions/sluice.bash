# Completion of sluice for bash.

_sluice() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "send run dev check bench echo verify-trace ctl plugin version help --help --version" -- "$current")
    return
  fi
  case $command in
    plugin | ctl) command="$command ${COMP_WORDS[2]-}" ;;
  esac
  case "$command $previous" in
    "plugin build -c" | "plugin build --configuration")
      mapfile -t COMPREPLY < <(compgen -W "debug release" -- "$current")
      return
      ;;
    "plugin new -l" | "plugin new --lang")
      mapfile -t COMPREPLY < <(compgen -W "c cpp swift" -- "$current")
      return
      ;;
    "plugin new -p" | "plugin new --path")
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    "run -i" | "dev -i")
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
  esac
  case $previous in
    --log-format)
      mapfile -t COMPREPLY < <(compgen -W "text json" -- "$current")
      return
      ;;
    --log-level)
      mapfile -t COMPREPLY < <(compgen -W "debug info warning error" -- "$current")
      return
      ;;
    --config | -c | --input | --events | --output | -o | --cacert | --plugin | --control | --socket)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
  esac
  local options
  case $command in
    "send") options="--request --header --data --data-binary --head --user --digest --anyauth --location --max-redirs --output --include --json --metadata --explain --events --silent --show-error --verbose --trace --config --plugin --timeout --connect-timeout --insecure --cacert --http1.1 --http2 --http2-prior-knowledge --proxy --help" ;;
    "run") options="--config --input --output --resume --concurrency --rate --max-per-host --rate-per-host --drain --events --metadata --plugin --control --metrics-port --log-format --log-level --no-progress --quiet --help" ;;
    "dev") options="--config --input --listen --json --help" ;;
    "check") options="--config --json --help" ;;
    "bench") options="--request --header --data --data-binary --requests --connections --rounds --json --quiet --config --plugin --timeout --insecure --cacert --http1.1 --http2 --http2-prior-knowledge --help" ;;
    "echo") options="--port --host --help" ;;
    "verify-trace") options="--json --help" ;;
    "ctl status") options="--socket --json --help" ;;
    "ctl swap") options="--config --socket --json --help" ;;
    "ctl rollback") options="--socket --json --help" ;;
    "ctl metrics") options="--socket --json --prometheus --help" ;;
    "ctl notify") options="--deadline --socket --json --help" ;;
    "plugin inspect") options="--json --help" ;;
    "plugin new") options="--lang --path --help" ;;
    "plugin build") options="--configuration --direct --static-stdlib --help" ;;
    "plugin validate") options="--config --answer --strict --list --only --seed --deadline --json --help" ;;
    "version") options="--help" ;;
    "help") options="--help" ;;
    "plugin "*) options="inspect new build validate" ;;
    "ctl "*) options="status swap rollback metrics notify" ;;
    *) options="" ;;
  esac
  if [ "$command" = help ] && [ "${current#-}" = "$current" ]; then options="send run dev check bench echo verify-trace ctl plugin version help"; fi
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
    *)
      case $command in
        "plugin inspect" | "plugin build" | "plugin validate" | verify-trace) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        "ctl status" | "ctl swap" | "ctl rollback" | "ctl metrics" | "ctl notify") ;;
        "plugin "* | "ctl "* | help) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
      esac
      ;;
  esac
}

complete -o filenames -F _sluice sluice
