#!/usr/bin/env bash
# What a release consists of: the wheel, and an archive with the command, its manual pages and completions, the licences, and
# what the archive's files weigh and sum up to. `make dist` has built both of the dist profile before.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

inrush=target/dist/inrush
out=target/release-files
version="$("$inrush" --version | cut -d' ' -f2)"
name="inrush-$version-$(rustc -vV | sed -n 's/^host: //p')"

rm -rf "$out"
mkdir -p "$out/$name/man" "$out/$name/completions"
install -m 755 "$inrush" "$out/$name/inrush"
install -m 644 LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$out/$name"
"$inrush" man --out "$out/$name/man"
for shell in bash elvish fish powershell zsh; do
    "$inrush" completions "$shell" >"$out/$name/completions/inrush.$shell"
done
(cd "$out/$name" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
tar --directory "$out" --sort=name --owner=0 --group=0 --numeric-owner --create --xz --file "$out/$name.tar.xz" "$name"
rm -rf "${out:?}/$name"
install -m 644 target/wheels/inrush-*.whl "$out"
(cd "$out" && sha256sum -- *.tar.xz *.whl >SHA256SUMS)
ls -l "$out" >&2
