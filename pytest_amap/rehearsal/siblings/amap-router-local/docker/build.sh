#!/bin/sh
# Build the router's image from this checkout; more arguments go to docker build as they are.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
exec docker build -f "$root/docker/Dockerfile" -t "${IMAGE:-amap-router-local}" "$root" "$@"
