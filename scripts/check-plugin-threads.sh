#!/bin/sh
# Checks that the Swift SDK for plugins, the plugins and their documentation do not start threads of Swift's runtime in
# the program of the host: they must wait on the host's timers, and start tasks on its loops.
# usage: scripts/check-plugin-threads.sh
set -u
cd "$(dirname "$0")/.."

places="Sources/Plugins/SluicePlugin Sources/Base/SluiceSupport Sources/Core/SluiceMessages Sources/Base/SluiceJSON plugins Examples/SwiftPlugin/Sources Examples/Tenant/Sources Sources/Command/SluiceCommand/Build/PluginTemplate+Swift.swift"
# Finds unstructured tasks without the executor of the host, the sleep of a clock or a task, Dispatch, and the executors
# that use it.
pattern='Task\.sleep|Task\.detached|Clock\(?\)?\.sleep|import Dispatch|Dispatch(Queue|Semaphore|Group|Source)|globalConcurrentExecutor|@MainActor|(^|[^.A-Za-z])Task *\{|(^|[^.A-Za-z])Task\(\)|Task(\.immediate)?\((priority|name)|Task\.immediate *\{'

# shellcheck disable=SC2086 # the places are words
found=$(grep -rnE --include='*.swift' "$pattern" $places | grep -vE '^[^:]+:[0-9]+: *//')
# The guide may name what it advises against, but not in its examples.
guide=$(awk '/^```/ { inside = !inside } inside { print FILENAME ":" FNR ":" $0 }' docs/swift-plugins.md plugins/*/README.md |
  grep -E "$pattern")
[ -z "$found$guide" ] || {
  printf '%s\n' "$found" "$guide" | grep . >&2
  echo "check-plugin-threads: use sleep(for:) and task of PluginHost, or a BackgroundThread" >&2
  exit 1
}
echo "check-plugin-threads: passed"
