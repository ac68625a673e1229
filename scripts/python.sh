#!/usr/bin/env bash
# The Python package: what builds and tests it, and the wheel.
#
#     scripts/python.sh venv              target/python, with what the tests compare with
#     scripts/python.sh wheel PROFILE     the wheel of that cargo profile in target/wheels, and in target/python
#     scripts/python.sh rivals            what else benches/programs.py compares with
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=target/python

say() { echo "python: $*" >&2; }

# A Python of at least 3.10 that can make virtual environments.
a_python() {
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$python" && return 0
    done
    return 1
}

make_venv() {
    local wanted
    wanted="$(sha256sum python/requirements.txt)"
    [[ "$(cat "$venv/made-of" 2>/dev/null)" != "$wanted" ]] || return 0
    if ! a_python >/dev/null; then
        scripts/packages.sh python3-venv
    fi
    say "installing what the package is tested with (a minute, once)"
    rm -rf "$venv"
    "$(a_python)" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement python/requirements.txt
    echo "$wanted" >"$venv/made-of"
}

make_wheel() {
    make_venv
    rm -rf target/wheels
    # The workspace's own features, so that nothing is compiled twice.
    "$venv/bin/maturin" build --quiet --locked --profile "$1" --manifest-path python/Cargo.toml --out target/wheels \
        --interpreter "$venv/bin/python"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/inrush-*.whl
}

# mysqlclient is built from its source.
install_rivals() {
    make_venv
    "$venv/bin/python" -c 'import MySQLdb, sqlalchemy' 2>/dev/null && return 0
    scripts/packages.sh libmariadb-dev pkg-config python3-dev
    "$venv/bin/pip" install --quiet --disable-pip-version-check mysqlclient sqlalchemy
}

case "${1-}" in
venv) make_venv ;;
rivals) install_rivals ;;
wheel) make_wheel "${2:-dist}" ;;
*)
    say "say venv, wheel or rivals"
    exit 2
    ;;
esac
