#!/usr/bin/env bash
# Licences, sources and versions of the dependencies, after deny.toml. Needs no network but the crates themselves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo deny --version >/dev/null 2>&1; then
    echo "deny: cargo-deny is not here; \`cargo install --locked cargo-deny\` builds it (some minutes)" >&2
    exit 1
fi
cargo deny --locked check licenses bans sources
