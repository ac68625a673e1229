#!/usr/bin/env bash
# Installs the named packages of a Debian-like system: scripts/packages.sh PACKAGE...
set -euo pipefail

say() { echo "packages: $*" >&2; }
die() {
    say "$*"
    exit 1
}

(($# > 0)) || die "which packages?"
command -v apt-get >/dev/null || die "missing, and there is no apt-get to install it: $*"
root=()
if ((EUID != 0)); then
    command -v sudo >/dev/null || die "not root, and no sudo; as root run: apt-get install $*"
    root=(sudo)
fi
say "installing $*"
apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
# A source that fails to refresh is no reason to stop: the packages may well come from the others.
"${apt[@]}" update </dev/null >/dev/null || say "apt-get update failed; trying to install all the same"
# A PostgreSQL server of Debian's makes a cluster when it comes, and starts it: nobody asked for that one. What else there is of
# clusters stays as it is, and so does what the next installation does.
no_cluster=/etc/postgresql-common/createcluster.d/inrush.conf
if [[ " $*" == *" postgresql-"[1-9]* && ! -e "$no_cluster" ]]; then
    trap '"${root[@]}" rm -f "$no_cluster"' EXIT
    "${root[@]}" mkdir -p "${no_cluster%/*}"
    echo "create_main_cluster = false" | "${root[@]}" tee "$no_cluster" >/dev/null
fi
"${apt[@]}" install -y --no-install-recommends "$@" </dev/null >/dev/null
