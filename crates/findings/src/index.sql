-- What the folders of all runs hold, for questions in SQL. Made anew from them by `index rebuild`: nothing is kept here alone.
-- Columns without a value in any run are for what isn't measured yet.
CREATE TABLE env(
  env_id TEXT PRIMARY KEY,            -- hash of the stable hardware and OS facts
  cpu TEXT, cores INTEGER, threads INTEGER, governor TEXT, turbo TEXT, ram_bytes INTEGER, numa INTEGER,
  kernel TEXT, os TEXT, virt TEXT, cgroup_json TEXT, fs TEXT, mount_opts TEXT,
  disk_model TEXT, disk_rotational INTEGER, disk_write_cache TEXT, io_scheduler TEXT, json TEXT NOT NULL);
CREATE TABLE run(
  run_id TEXT PRIMARY KEY, suite_id TEXT NOT NULL, suite_hash TEXT NOT NULL, format INTEGER NOT NULL,
  tool_version TEXT NOT NULL, tool_rev TEXT, build_profile TEXT, argv TEXT,
  seed INTEGER,                       -- the 64 bits as a signed number
  env_id TEXT NOT NULL REFERENCES env, started_utc TEXT NOT NULL, ended_utc TEXT, exit TEXT,
  doctor_json TEXT, note TEXT, tags TEXT,
  profile TEXT NOT NULL, stopped_by TEXT, path TEXT NOT NULL);
CREATE TABLE target(
  run_id TEXT NOT NULL REFERENCES run, target TEXT NOT NULL,
  server TEXT NOT NULL,               -- '' where there is none
  adapter TEXT NOT NULL,              -- the family
  engine TEXT,                        -- with its version
  server_version TEXT, driver_version TEXT, transport TEXT, rtt_us_p50 REAL, rtt_us_p99 REAL,
  durability TEXT NOT NULL, profile TEXT, publish TEXT,
  settings_hash TEXT, unavailable TEXT,
  PRIMARY KEY(run_id, target, server));
CREATE TABLE setting(
  run_id TEXT NOT NULL, target TEXT NOT NULL, server TEXT NOT NULL, name TEXT NOT NULL, value TEXT, default_value TEXT,
  set_by_us INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(run_id, target, server, name));
CREATE TABLE dataset(
  run_id TEXT NOT NULL, dataset TEXT NOT NULL, kind TEXT NOT NULL, rows INTEGER, bytes INTEGER,
  seed INTEGER, content_hash TEXT NOT NULL, synthetic INTEGER NOT NULL, PRIMARY KEY(run_id, dataset));
CREATE TABLE cell(
  run_id TEXT NOT NULL REFERENCES run, cell_id TEXT NOT NULL, experiment TEXT NOT NULL, target TEXT NOT NULL,
  server TEXT NOT NULL, strategy TEXT,
  params_json TEXT NOT NULL,          -- all coordinates
  is_aa INTEGER NOT NULL DEFAULT 0,   -- the second measurement of another cell
  unavailable TEXT, PRIMARY KEY(run_id, cell_id));
CREATE TABLE sample(
  run_id TEXT NOT NULL,
  sample_id TEXT NOT NULL,            -- one that was measured again has '#2' behind it
  cell_id TEXT NOT NULL, block INTEGER NOT NULL, ord INTEGER NOT NULL,
  warmup INTEGER NOT NULL, status TEXT NOT NULL CHECK(status IN
    ('ok','incorrect','timeout','error','oom','unsupported','unavailable','interrupted','contended')),
  flags TEXT, error TEXT, started_utc TEXT, seconds REAL, load_before REAL, foreign_cpu REAL, steal REAL,
  size_after_load INTEGER,            -- of the first size phase
  size_after_maintenance INTEGER, size_log_files INTEGER,
  verify_ok INTEGER, verify_rows INTEGER, verify_hash TEXT, verify_secs REAL,
  durability TEXT, durability_json TEXT,
  PRIMARY KEY(run_id, sample_id), FOREIGN KEY(run_id, cell_id) REFERENCES cell);
CREATE TABLE phase(
  run_id TEXT NOT NULL, sample_id TEXT NOT NULL, phase TEXT NOT NULL, ord INTEGER NOT NULL, timed INTEGER NOT NULL,
  ack_ns INTEGER, durable_ns INTEGER, rows INTEGER, stmts INTEGER, commits INTEGER, requests INTEGER,
  user_bytes INTEGER, wire_bytes INTEGER, retries INTEGER, errors INTEGER, partial INTEGER NOT NULL DEFAULT 0,
  cli_cpu_us INTEGER, srv_cpu_us INTEGER, cli_peak_mem INTEGER, srv_peak_mem INTEGER,
  srv_read_bytes INTEGER, srv_write_bytes INTEGER,
  write_bytes INTEGER,                -- of the workers and the server's processes together
  dev_write_bytes INTEGER, eng_write_bytes INTEGER, fsyncs INTEGER,
  rate_p50 REAL,
  rate_p99 REAL,                      -- 99 of 100 seconds were faster
  rate_min REAL, stall_s REAL,
  worker_skew REAL,                   -- the fastest worker's rate divided by the slowest one's
  bytes INTEGER, strategy TEXT,
  PRIMARY KEY(run_id, sample_id, phase), FOREIGN KEY(run_id, sample_id) REFERENCES sample);
CREATE TABLE latency(
  run_id TEXT NOT NULL, sample_id TEXT NOT NULL, phase TEXT NOT NULL, op TEXT NOT NULL, kind TEXT NOT NULL,
  n INTEGER, p50_us REAL, p90_us REAL, p99_us REAL, p999_us REAL, max_us REAL, mean_us REAL, hdr BLOB,
  PRIMARY KEY(run_id, sample_id, phase, op, kind));
CREATE TABLE reference(
  suite_id TEXT NOT NULL, ref_id TEXT NOT NULL,
  ord INTEGER NOT NULL,               -- of the value, from 0
  match_json TEXT NOT NULL, metric TEXT NOT NULL, value REAL NOT NULL,
  unit TEXT, source_url TEXT NOT NULL, source_date TEXT, source_machine TEXT, note TEXT, PRIMARY KEY(suite_id, ref_id, ord));
CREATE TABLE claim_result(
  run_id TEXT NOT NULL REFERENCES run, claim_id TEXT NOT NULL, server TEXT NOT NULL, verdict TEXT NOT NULL CHECK(verdict IN
    ('reproduced','not reproduced','indistinguishable','not testable here')),
  value REAL, low REAL, high REAL, n INTEGER, claimed TEXT, detail TEXT, PRIMARY KEY(run_id, claim_id, server));
CREATE VIEW derived AS SELECT p.run_id, p.sample_id, p.phase,
  1e9*p.rows/p.ack_ns AS rows_s_ack, 1e9*p.rows/p.durable_ns AS rows_s_durable,
  1.0*p.srv_cpu_us/p.rows AS srv_us_row, 1.0*p.cli_cpu_us/p.rows AS cli_us_row,
  1.0*p.write_bytes/p.user_bytes AS write_amp, 1.0*s.size_after_load/p.user_bytes AS space_amp
  FROM phase p JOIN sample s USING(run_id, sample_id) WHERE p.rows>0 AND p.ack_ns>0;
