# Every check and chore has one name here. `make help` lists them; `make test` is the one that has to pass.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The order of the checks is the order below, whatever -j says: cargo uses the cores itself.
.NOTPARALLEL:

# Where cargo and its subcommands are, on a machine whose shell has not been told.
export PATH := $(PATH):$(if $(CARGO_HOME),$(CARGO_HOME),$(HOME)/.cargo)/bin

ROWS ?= 5000000
MYSQL_ROWS ?= 1000000
POSTGRES_ROWS ?= 1000000
MONGODB_ROWS ?= 100000
COLUMNS_ROWS ?= 1000000
DUCKDB_ROWS ?= 5000000
PROGRAM_ROWS ?= 1000000
SPARK_ROWS ?= 2000000
PAIRS ?= 5
SIZE_MB ?= 2048
FUZZ_S ?= 60
CASES ?= 10000
TUNE_MB ?= 200
TUNE_PAIRS ?= 7
DOCTOR_ROWS ?= 800000
SMOKE_RESULTS := target/bench-smoke

TEST_SERVERS := mariadb-10.11 mysql-8.0 postgres-15 ferretdb-1.24
ALL_SERVERS := $(TEST_SERVERS) mariadb-11.4 mysql-5.5 mysql-5.6 mysql-5.7 mysql-8.0.15 postgres-16 postgres-17 postgres-18
# NAME... -- COMMAND: private servers for as long as the command runs.
WITH_SERVERS := target/debug/inrush-servers

.PHONY: help test test-all engines python test-wheel wheel dist bench-programs units units-and-packages servers-program deps deps-all nextest testdata fmt lint doc doctest scripts build bench bench-mysql bench-postgres bench-mongodb bench-duckdb bench-parquet bench-columns bench-picture bench-spark bench-smoke bench-tune bench-doctor memory schemas deny fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

# Tests and their servers keep their files in memory, where there is room for some gigabytes: no test waits for a disk.
test test-all: export TMPDIR := $(shell df --output=avail -k /dev/shm 2>/dev/null | awk -v dir="$${TMPDIR:-/tmp}" '$$1 > 6e6 { dir = "/dev/shm" } END { print dir }')

# The checks compile the workspace once, by clippy's compiler, which warns while it compiles; a warning ends the build. What cargo has
# compiled otherwise (`cargo build`, `cargo nextest`) is kept apart from it, with what only the inner loop has a use for: incremental
# state, and lines in backtraces.
CHECKS := test test-all python test-wheel bench-smoke units units-and-packages doctest
$(CHECKS): export RUSTC_WORKSPACE_WRAPPER := clippy-driver
$(CHECKS): export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
$(CHECKS): export CARGO_INCREMENTAL := 0
# Four units a crate of the workspace: sixteen, which is usual without incremental state, do a third of the work twice.
$(CHECKS): export CARGO_PROFILE_DEV_CODEGEN_UNITS := 4
$(CHECKS): export CARGO_PROFILE_DEV_DEBUG := false

# Tests of random cases draw the same ones in every run of the one check, so that what it says depends on the code alone. Campaigns draw new ones.
test: export PROPTEST_RNG_SEED ?= 1

# Tests start some sixty servers of their own; the first data directory of each kind is made once.
$(CHECKS): export INRUSH_FIRST_DATA := $(CURDIR)/target/servers/first-data

# All but benches, which `make lint` looks at.
CHECKED := --workspace --locked --lib --bins --tests --examples
# One test more at a time than there are processors, for many wait for a server.
# --tests alone: --lib, --bins and --examples would compile as tests also what has none.
RUN_TESTS := cargo test --workspace --locked --tests --no-fail-fast -- --test-threads $(shell echo $$(($$(nproc) + 1)))
# Tests that hang are ended, and what they started with them; their servers stop as after any other end.
LIMIT := 60m
test-all: LIMIT := 6h
LIMITED = timeout --verbose --kill-after=60 $(LIMIT)
PYTHON_TESTS := target/python/bin/python -m pytest python/tests
PYTHON_LOG := target/python/tests.log

test test-all: export INRUSH_DUCKDB_LIB ?= $(CURDIR)/target/servers/duckdb-1.5/libduckdb.so

# Beside the others, on servers of their own, one test of Python at a time: alone each of the two leaves processors idle.
test: deps fmt units-and-packages doctest test-wheel ## the one check: everything below up to python, and all tests but campaigns
	@echo "the tests of Python run beside the others, and write to $(PYTHON_LOG)"
	@$(WITH_SERVERS) $(TEST_SERVERS) -- $(LIMITED) $(PYTHON_TESTS) >$(PYTHON_LOG) 2>&1 & python=$$!; failed=0; \
		$(WITH_SERVERS) $(TEST_SERVERS) -- $(LIMITED) $(RUN_TESTS) || failed=1; \
		wait $$python || failed=1; cat $(PYTHON_LOG); exit $$failed

test-all: export INRUSH_TEST_ALL := 1
# Random cases of a property, where it has no number of its own.
test-all: export PROPTEST_CASES ?= 500
test-all: deps deps-all fmt units-and-packages engines lint doc doctest python bench-smoke ## also campaigns, all versions of the servers, the documentation's links, the bench
	@scripts/servers.sh $(ALL_SERVERS)
	$(WITH_SERVERS) $(ALL_SERVERS) -- $(LIMITED) $(RUN_TESTS) --include-ignored

deps: ## install what is missing: system packages, toolchain, servers, test data
	@scripts/deps.sh

deps-all: ## what only campaigns need: a pooler and a browser
	@scripts/deps.sh --all

nextest: ## install cargo-nextest, with which the inner loop runs tests
	@scripts/deps.sh --nextest

testdata: ## the flights table (336,776 rows) as target/testdata/flights.csv
	@scripts/testdata.sh

fmt: ## formatting, checked only (`cargo fmt --all` repairs it)
	cargo fmt --all --check

# Every step takes the whole workspace, so that all have the same features and nothing is compiled twice.
units: ## clippy, warnings are errors, and with it what the checks run: the command, the tests, the servers' program
	cargo build $(CHECKED)

# The same, while what the Python tests need comes over the network.
units-and-packages:
	@scripts/python.sh venv & packages=$$!; cargo build $(CHECKED) && wait $$packages

lint: ## clippy alone, over benches too
	cargo clippy --workspace --all-targets --locked -- -D warnings

# --lib: the command and the library are both called inrush, and their pages would overwrite each other.
doc: ## API documentation, warnings are errors
	RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --workspace --lib --locked

doctest: ## the examples in the documentation
	cargo test --doc --workspace --locked

servers-program:
	@cargo build --quiet --locked -p inrush-servers

engines: ## what campaigns of the Python package need besides: Ray and Dask, and object stores
	@scripts/python.sh engines
	@scripts/stores.sh

test-wheel: units
	scripts/python.sh test-wheel

python: test-wheel ## the Python package: its wheel in a virtual environment, and its tests on real servers
	$(WITH_SERVERS) $(TEST_SERVERS) -- $(LIMITED) $(PYTHON_TESTS) -n $$(($$(nproc) + 1))

scripts: ## shellcheck over the scripts
	shellcheck scripts/*.sh .ci/run

build: ## the command as it is published, target/dist/inrush, and what the bench compares it with
	cargo build --profile dist --locked -p inrush-cli -p inrush --bin inrush --example prepared

wheel: ## the Python package as it is published, in target/wheels
	scripts/python.sh wheel

dist: build wheel ## what a release consists of, in target/release-files: the wheel, and an archive of the command, with sums
	scripts/dist.sh

bench: build ## load against sqlite3 .import, cp and prepared statements, paired (ROWS, PAIRS)
	benches/sqlite.py $(ROWS) $(PAIRS)

bench-mysql: build servers-program ## load into MariaDB 10.11 and MySQL 8.0 against mariadb-import, paired (MYSQL_ROWS, PAIRS)
	@scripts/servers.sh mariadb-10.11 mysql-8.0
	$(WITH_SERVERS) mariadb-10.11 mysql-8.0 -- benches/mysql.py $(MYSQL_ROWS) $(PAIRS)

bench-postgres: build servers-program ## load into PostgreSQL 15 against psql \copy, paired (POSTGRES_ROWS, PAIRS)
	@scripts/servers.sh postgres-15
	$(WITH_SERVERS) postgres-15 -- benches/postgres.py $(POSTGRES_ROWS) $(PAIRS)

bench-mongodb: build servers-program ## load into FerretDB, and into a server that only counts, against pymongo's insert_many, paired (MONGODB_ROWS, PAIRS)
	@scripts/servers.sh ferretdb-1.24
	$(WITH_SERVERS) ferretdb-1.24 -- benches/mongodb.py $(MONGODB_ROWS) $(PAIRS)

bench-duckdb: build ## load into DuckDB against its own read_csv, paired (DUCKDB_ROWS, PAIRS)
	@scripts/servers.sh duckdb-1.5
	benches/duckdb.py $(DUCKDB_ROWS) $(PAIRS)

bench-tune: build ## what tune finds in two minutes against an exhaustive run, on five targets and three shapes of rows (TUNE_MB, TUNE_PAIRS); hours
	@scripts/servers.sh duckdb-1.5 mysql-8.0
	@cargo build -q -p inrush-servers
	INRUSH_DUCKDB_LIB=$(CURDIR)/target/servers/duckdb-1.5/libduckdb.so $(WITH_SERVERS) mariadb-10.11 mysql-8.0 postgres-15 -- benches/tune.py --mb $(TUNE_MB) --pairs $(TUNE_PAIRS)

bench-doctor: build servers-program ## what doctor --measure says against the same changes by the databases' own clients, paired (DOCTOR_ROWS, PAIRS)
	@scripts/servers.sh mariadb-10.11 postgres-15
	$(WITH_SERVERS) mariadb-10.11 postgres-15 -- benches/doctor.py $(DOCTOR_ROWS) $(PAIRS)

bench-parquet: build ## convert CSV to Parquet against DuckDB's COPY, paired (DUCKDB_ROWS, PAIRS)
	@scripts/servers.sh duckdb-1.5
	benches/parquet.py $(DUCKDB_ROWS) $(PAIRS)

bench-columns: build servers-program ## load Parquet into SQLite and PostgreSQL against ADBC, pgpq and others of PyPI, paired (COLUMNS_ROWS, PAIRS)
	@scripts/servers.sh postgres-15
	$(WITH_SERVERS) postgres-15 -- benches/columns.py $(COLUMNS_ROWS) $(PAIRS)

bench-programs: wheel servers-program ## rows of a Python program against pandas, Polars, ADBC, psycopg and mysqlclient, paired (PROGRAM_ROWS, PAIRS)
	@scripts/servers.sh mariadb-10.11 postgres-15
	scripts/python.sh rivals
	$(WITH_SERVERS) mariadb-10.11 postgres-15 -- target/python/bin/python benches/programs.py $(PROGRAM_ROWS) $(PAIRS)

bench-spark: wheel servers-program ## rows and files of Spark against its JDBC writer, at 0, 2 and 20 ms of round trip, paired (SPARK_ROWS, PAIRS)
	@scripts/servers.sh mariadb-10.11 postgres-15
	cargo build --profile dist --locked -p inrush-bench --example relay
	$(WITH_SERVERS) mariadb-10.11 postgres-15 -- target/python/bin/python benches/spark.py $(SPARK_ROWS) $(PAIRS)

bench-picture: ## docs/speed.svg, the README's picture, from benches/samples.jsonl (SAMPLES=FILE make bench ... adds to such a file)
	benches/picture.py

bench-smoke: export INRUSH_DUCKDB_LIB ?= $(CURDIR)/target/servers/duckdb-1.5/libduckdb.so
bench-smoke: units ## every suite of `inrush bench` at its smallest size, all rows compared
	rm -rf $(SMOKE_RESULTS)
	INRUSH_PYTHON="$$(ls target/python/bin/python 2>/dev/null || echo python3)" \
		target/debug/inrush bench all --profile smoke --server mariadb-10.11 --server postgres-15 --results $(SMOKE_RESULTS) --progress plain

memory: build ## peak memory of loading SIZE_MB, exits 1 above 150 MB
	benches/memory.py $(SIZE_MB)

schemas: ## sqlite/pages against sqlite/bind on CASES tables and files that look random
	PROPTEST_CASES=$(CASES) cargo test --locked -p inrush --test it pages_do_what_bind_does -- --nocapture

deny: ## licences, sources and doubled versions of the dependencies
	@scripts/deny.sh

fuzz: ## every fuzz target for FUZZ_S seconds (nightly toolchain)
	@scripts/fuzz.sh $(FUZZ_S)

clean: ## remove what was built, test data included
	cargo clean
	rm -rf target fuzz/target
