#!/bin/sh
# Modes: run (default), once, peers, status, shell.
set -eu
mode=${1:-run}
[ $# -eq 0 ] || shift
case $mode in
run) set -- run --interval "${ROUTER_INTERVAL:-5}" "$@" ;;
once | peers | status) set -- "$mode" "$@" ;;
shell) exec sh "$@" ;;
*)
    echo "entrypoint: unknown mode '$mode'" >&2
    exit 2
    ;;
esac
cd /app
exec python3 -m router --config "${ROUTER_CONFIG:?entrypoint: ROUTER_CONFIG is not set}" "$@"
