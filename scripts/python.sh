#!/usr/bin/env bash
# The Python package: what builds and tests it, and the wheel.
#
#     scripts/python.sh venv              target/python, with what the tests compare with
#     scripts/python.sh wheel             the wheel as it is published in target/wheels, and in target/python
#     scripts/python.sh test-wheel        the same around the module that `make units` has built
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
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement python/requirements.txt
    echo "$wanted" >"$venv/made-of"
}

make_wheel() {
    make_venv
    rm -rf target/wheels
    "$venv/bin/maturin" build --quiet --locked --profile dist --manifest-path python/Cargo.toml --out target/wheels \
        --interpreter "$venv/bin/python"
    install_wheel
}

# maturin would compile nearly everything once more: of one package alone the dependencies have other features than of the workspace.
make_test_wheel() {
    local parts=target/wheel-parts
    make_venv
    rm -rf target/wheels "$parts"
    mkdir -p "$parts"
    (cd python && "../$venv/bin/maturin" pep517 write-dist-info --metadata-directory "../$parts" \
        --interpreter "../$venv/bin/python" >/dev/null)
    cp -R python/inrush "$parts/inrush"
    rm -rf "$parts/inrush/__pycache__"
    install -m 755 target/debug/lib_inrush.so "$parts/inrush/_inrush.abi3.so"
    strip --strip-debug "$parts/inrush/_inrush.abi3.so"
    mkdir -p target/wheels
    "$venv/bin/python" -m wheel pack --dest-dir target/wheels "$parts" >/dev/null
    rm -rf "$parts"
    install_wheel
}

install_wheel() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall target/wheels/inrush-*.whl
}

# mysqlclient is built from its source.
install_rivals() {
    make_venv
    "$venv/bin/python" -c 'import MySQLdb, sqlalchemy' 2>/dev/null && return 0
    scripts/packages.sh libmariadb-dev pkg-config python3-dev
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check mysqlclient sqlalchemy
}

case "${1-}" in
venv) make_venv ;;
rivals) install_rivals ;;
wheel) make_wheel ;;
test-wheel) make_test_wheel ;;
*)
    say "say venv, wheel, test-wheel or rivals"
    exit 2
    ;;
esac
