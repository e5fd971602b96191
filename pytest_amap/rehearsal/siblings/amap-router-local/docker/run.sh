#!/bin/sh
# Run the router's container with exactly the mounts that its configuration needs.
set -eu

usage() {
    cat <<'TEXT'
usage: run.sh --config PATH [--interval S] [--detach | -d] [--image NAME] [--name NAME] [-- MODE [ARGS]]
TEXT
}

die() {
    echo "run.sh: $1" >&2
    exit 2
}

value() {
    [ $# -ge 2 ] && [ -n "$2" ] || die "$1 needs a value"
}

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)
config='' detach='' image=${IMAGE:-amap-router-local} name=${CONTAINER:-amap-router-local}
interval=${ROUTER_INTERVAL:-5}
while [ $# -gt 0 ]; do
    case $1 in
    --config) value "$@"; config=$2; shift ;;
    --interval) value "$@"; interval=$2; shift ;;
    --image) value "$@"; image=$2; shift ;;
    --name) value "$@"; name=$2; shift ;;
    --detach | -d) detach=yes ;;
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    *) die "unknown argument: $1" ;;
    esac
    shift
done

command -v docker >/dev/null 2>&1 || die "docker is not on PATH"
[ -n "$config" ] || die "--config PATH is required"
[ -f "$config" ] && [ -r "$config" ] || die "$config is not a readable file"
config=$(CDPATH= cd -- "$(dirname -- "$config")" && pwd -P)/$(basename -- "$config")
mounts=$(python3 "$here/derive-mounts.py" "$config") || die "the mounts cannot be derived from $config"
echo "run.sh: $(printf '%s\n' "$mounts" | wc -l | tr -d ' ') mount(s) derived from $config" >&2

mode_args=$#
tab=$(printf '\t')
while IFS=$tab read -r path mode; do
    set -- "$@" -v "$path:$path:$mode"
done <<LIST
$mounts
LIST
set -- "$@" -v "$config:$config:ro" "$image"
# The mode and its arguments came first; docker wants them last.
while [ "$mode_args" -gt 0 ]; do
    word=$1
    shift
    set -- "$@" "$word"
    mode_args=$((mode_args - 1))
done
set -- --name "$name" --network none --user "$(id -u):$(id -g)" \
    -e "ROUTER_CONFIG=$config" -e "ROUTER_INTERVAL=$interval" "$@"
if [ -n "$detach" ]; then
    exec docker run -d --restart unless-stopped "$@"
fi
[ -t 0 ] && set -- -t "$@"
exec docker run --rm -i "$@"
