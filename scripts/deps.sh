#!/usr/bin/env bash
# Installs what the checks need and this machine lacks. Says nothing when all is there.
#
#     scripts/deps.sh              for `make test`
#     scripts/deps.sh --all        what only `make test-all` needs: a pooler, and a browser that opens the bench's report
#     scripts/deps.sh --nextest    cargo-nextest, for the inner loop
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

NEXTEST_VERSION=0.9.151
# The servers that `make test` starts, and DuckDB's library.
SERVERS=(duckdb-1.5 ferretdb-1.24 mariadb-10.11 mysql-8.0 postgres-15)
CARGO_BIN="${CARGO_HOME:-$HOME/.cargo}/bin"
PATH="$PATH:$CARGO_BIN"

say() { echo "deps: $*" >&2; }
die() {
    say "$*"
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# Some python3 of this machine can run pip; which one is testdata.sh's choice.
has_pip() { python3 -m pip --version >/dev/null 2>&1 || /usr/bin/python3 -m pip --version >/dev/null 2>&1; }
has_libc_headers() { echo '#include <stdio.h>' | cc -E - >/dev/null 2>&1; }

missing_packages() {
    has sqlite3 || echo sqlite3
    has jq || echo jq
    has python3 || echo python3
    [[ -s target/testdata/flights.csv ]] || has_pip || echo python3-pip
    has make || echo make
    has cc || echo gcc
    has cc && has_libc_headers || echo libc6-dev
    has gzip || echo gzip
    has zstd || echo zstd
    has lz4 || echo lz4
    has bzip2 || echo bzip2
    has xz || echo xz-utils
    [[ -e /etc/ssl/certs/ca-certificates.crt ]] || [[ ! -e /etc/debian_version ]] || echo ca-certificates
    scripts/servers.sh --packages "${SERVERS[@]}"
}

missing_packages_of_campaigns() {
    has chromium || has chromium-browser || has google-chrome || [[ ! -e /etc/debian_version ]] || echo chromium
    has pgbouncer || [[ -x /usr/sbin/pgbouncer ]] || echo pgbouncer
}

install_packages() {
    local packages
    mapfile -t packages < <("$1")
    ((${#packages[@]} > 0)) || return 0
    scripts/packages.sh "${packages[@]}"
}

install_toolchain() {
    local channel installed
    if ! has rustup; then
        has cargo || die "no Rust here: install rustup, the Rust toolchain installer, then run this again"
        [[ "$(cargo --version)" == "cargo $(toolchain_channel)"* ]] ||
            say "no rustup: going on with $(cargo --version), the checks are made for $(toolchain_channel)"
        return 0
    fi
    channel="$(toolchain_channel)"
    installed="$(rustup component list --installed --toolchain "$channel" 2>/dev/null || true)"
    if [[ "$installed" != *clippy* || "$installed" != *rustfmt* ]]; then
        say "installing the Rust toolchain $channel"
        rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy --no-self-update
    fi
}

toolchain_channel() { sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml; }

install_nextest() {
    has cargo-nextest && return 0
    say "installing cargo-nextest $NEXTEST_VERSION (a few minutes, once)"
    # Without the self-updater and not optimised it is built in 1 min 40 s on two cores instead of 5 min 10 s, and
    # costs 2 ms more for each test it starts.
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_DEBUG=0 \
        cargo install --locked --quiet cargo-nextest --version "$NEXTEST_VERSION" \
        --no-default-features --features default-no-update --root "$(dirname "$CARGO_BIN")"
}

case "${1:-}" in
'')
    install_packages missing_packages
    install_toolchain
    scripts/servers.sh "${SERVERS[@]}"
    scripts/testdata.sh
    ;;
--all) install_packages missing_packages_of_campaigns ;;
--nextest) install_nextest ;;
*) die "no such part: $1" ;;
esac
