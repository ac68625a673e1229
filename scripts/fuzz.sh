#!/usr/bin/env bash
# fuzz.sh [SECONDS]: runs every fuzz target for that long (60). Stops at the first input that breaks one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds="${1:-60}"
if [[ ! -f fuzz/Cargo.toml ]]; then
    echo "fuzz: there is no fuzz/ here" >&2
    exit 1
fi
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: needs a nightly toolchain; \`rustup toolchain install nightly --profile minimal\`" >&2
    exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "fuzz: cargo-fuzz is not here; \`cargo install --locked cargo-fuzz\` builds it" >&2
    exit 1
fi

mapfile -t targets < <(cargo +nightly fuzz list)
for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s" >&2
    cargo +nightly fuzz run "$target" -- -dict="fuzz/$target.dict" -max_total_time="$seconds"
done
