#!/usr/bin/env bash
# Object stores for tests, in target/stores: Azurite, which speaks Azure's protocol, and fake-gcs-server, which speaks Google's.
# moto, which speaks S3's, comes with what the Python package is tested with. Says nothing when all is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=target/stores
AZURITE=azurite@3.37.0
FAKE_GCS=github.com/fsouza/fake-gcs-server@v1.56.1

say() { echo "stores: $*" >&2; }

# Some Go that fetches the one that it needs; older ones can't.
a_go() {
    local go
    for go in go /usr/local/go/bin/go; do
        [[ "$("$go" env GOVERSION 2>/dev/null)" =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 21)) && echo "$go" && return 0
    done
    return 1
}

azurite() {
    [[ ! -x "$dir/node_modules/.bin/azurite-blob" ]] || return 0
    command -v npm >/dev/null || scripts/packages.sh npm
    say "fetching $AZURITE"
    mkdir -p "$dir"
    # None of its scripts, nor of its dependencies', runs.
    npm install --silent --ignore-scripts --no-audit --no-fund --no-save --prefix "$dir" "$AZURITE" </dev/null >/dev/null
}

fake_gcs() {
    local go
    [[ ! -x "$dir/bin/fake-gcs-server" ]] || return 0
    if ! go="$(a_go)"; then
        say "no Go of at least 1.21, so Google's store is not tested"
        return 0
    fi
    say "building $FAKE_GCS (two minutes, once)"
    GOBIN="$PWD/$dir/bin" GOFLAGS=-trimpath GOTOOLCHAIN=auto "$go" install "$FAKE_GCS" </dev/null >&2
}

azurite
fake_gcs
