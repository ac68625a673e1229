use super::server::{for_each_server, rows};
use crate::fixture::size;
use crate::jobs;
use crate::servers::OnDrop;

#[test]
fn options_of_files_hold_for_every_write() {
    for_each_server(jobs::options_of_files_travel);
}

#[test]
fn steps_of_jobs_in_any_order_do_what_each_says() {
    for_each_server(jobs::in_any_order);
}

#[test]
fn who_publishes_may_be_killed_at_any_moment() {
    for_each_server(|server| {
        jobs::killed_while_publishing(server, &server.address, |address| server.url_at(address))
    });
}

#[test]
fn who_publishes_may_be_taken_for_dead() {
    for_each_server(|server| {
        jobs::taken_for_dead(
            server,
            &server.address,
            |address| server.url_at(address),
            |_| {
                server.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
                );
            },
        );
    });
}

#[test]
fn any_answer_may_be_lost_while_a_job_is_published() {
    for_each_server(|server| {
        jobs::answers_lost(server, &server.address, |address| server.url_at(address))
    });
}

#[test]
fn of_those_who_end_a_job_at_once_one_does() {
    for_each_server(jobs::ended_at_once);
}

#[test]
fn the_command_leads_a_job_from_step_to_step() {
    for_each_server(jobs::by_command);
}

#[test]
fn a_partition_comes_in_once_wherever_its_writer_is_killed() {
    for_each_server(|server| {
        let at = |address: &str| server.url_at(address);
        jobs::killed_while_a_partition_comes_in(server, &server.address, at)
    });
}

#[test]
fn of_attempts_at_one_partition_at_once_one_writes() {
    for_each_server(jobs::one_partition_at_once);
}

#[test]
fn partitions_in_each_others_way_come_in_all() {
    for_each_server(jobs::partitions_in_a_deadlock);
}

#[test]
fn the_command_says_what_of_a_job_is_seen_early() {
    for_each_server(jobs::partitions_by_command);
}

#[test]
fn attempts_fill_one_table_at_the_same_time() {
    for_each_server(jobs::straight_into_one_table);
}

#[test]
fn of_two_jobs_that_want_an_empty_table_one_is_published() {
    for_each_server(|server| {
        jobs::two_into_one_empty_table(server, &["BEGIN", "LOCK TABLE t IN SHARE MODE"], "COMMIT");
    });
}

#[test]
fn a_table_is_empty_until_a_partition_comes() {
    for_each_server(jobs::partitions_into_an_empty_table);
}

#[test]
fn many_bad_rows_do_not_stop_a_job() {
    for_each_server(jobs::many_bad_rows);
}

#[test]
fn tokens_may_be_listed_in_any_order() {
    for_each_server(jobs::the_last_partition_decides);
}

#[test]
fn a_job_that_is_half_published_says_so() {
    for_each_server(jobs::other_tokens_than_were_published_with);
}

#[test]
fn types_of_a_job_hold_for_every_attempt() {
    for_each_server(|server| {
        let types = ["b=bytes", "at=timestamptz"];
        let rows = ("\\x41,2024-01-01 00:00:00Z", "\\x41,2024-01-01 00:00:00");
        jobs::types_of_begin(server, "b bytea, at timestamptz", &types, rows);
        assert_eq!(server.query("SELECT octet_length(b) FROM t"), rows![[4]]);
    });
}

#[test]
fn rows_that_a_trigger_drops_are_not_counted() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,10\n2,-1\n3,30\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (3, 3);
             CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS
                 $$BEGIN IF NEW.n < 0 THEN RETURN NULL; END IF; RETURN NEW; END$$;
             CREATE TRIGGER drops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drops()",
        );
        let url = server.url();
        // Of those that are skipped none came.
        for (answer, came) in [("skip", 1), ("update", 2), ("replace", 2)] {
            let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
            let more = ["--if-exists", "append", "--key", "id", "--on-conflict", answer];
            let begun = server.inrush(&[&begin[..], &more].concat()).exits(0);
            server.write("job.json", &begun.stdout);
            let token = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
            server.write("token", &token.stdout);
            server.inrush(&["job", "publish", "job.json", "token"]).exits(1).says(&[
                &format!("wrote 3 rows, and {came} of them came into the table"),
                "triggers",
            ]);
            assert_eq!(server.query("SELECT * FROM t"), rows![[3, 3]], "{answer}");
            server.inrush(&["job", "abort", "job.json"]).exits(0);
        }
    });
}

#[test]
fn an_attempt_has_the_columns_of_its_job() {
    for_each_server(jobs::columns_are_those_of_the_job);
}

#[test]
fn a_job_does_not_go_on_behind_partitions_that_are_gone() {
    for_each_server(jobs::partitions_that_are_gone);
}

#[test]
fn no_job_says_that_rows_are_in_which_are_gone() {
    for_each_server(jobs::rows_that_are_gone);
}

#[test]
fn a_step_advises_what_it_can_do() {
    for_each_server(jobs::advice_that_steps_can_follow);
}

#[test]
fn attempts_at_rows_of_one_key_say_what_decides() {
    for_each_server(jobs::attempts_with_one_key);
}

#[test]
fn a_share_of_bad_rows_is_one_of_the_job() {
    for_each_server(jobs::shares_of_bad_rows);
}

#[test]
fn who_writes_too_late_hears_that_the_job_is_over() {
    for_each_server(jobs::late_writers);
}

#[test]
fn what_keeps_a_job_from_its_end_says_what_to_do() {
    for_each_server(jobs::refusals_that_say_what_to_do);
}

/// Whatever the database's own setting is: what a job says is in the table has to be there after a power failure.
#[test]
fn rows_of_a_job_wait_for_the_disk() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let url = server.url();
        for guarantee in ["atomic", "per_partition"] {
            server.sql(&format!(
                "CREATE TABLE t (id int); CREATE TABLE seen (waits text);
                 CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                 $$BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END$$;
                 CREATE TRIGGER see BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION see();
                 ALTER DATABASE \"{}\" SET synchronous_commit = off",
                server.database
            ));
            let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
            let begin = [&begin[..], &["--guarantee", guarantee]].concat();
            server.write("job.json", server.inrush(&begin).exits(0).stdout);
            let write = ["job", "write", "job.json", "t.csv", "--partition", "0"];
            server.write("token", server.inrush(&write).exits(0).stdout);
            server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
            assert_eq!(server.query("SELECT waits FROM seen"), rows![["on"]], "{guarantee}");
            server.sql("DROP TABLE t, seen; DROP FUNCTION see()");
        }
    });
}

/// What the server says that a statement has written need not be in the table: a job looks, as a load does.
#[test]
fn rows_that_rules_triggers_and_views_take_away_are_not_published() {
    for_each_server(|server| {
        server.write("a.csv", "id\n1\n2\n").write("b.csv", "id\n3\n");
        let url = server.url();
        let takes = "CREATE FUNCTION takes() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN DELETE FROM t WHERE id = NEW.id; RETURN NEW; END$$";
        let says =
            "CREATE FUNCTION says() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$";
        let (table, other) = ("CREATE TABLE t (id int)", "CREATE TABLE other (id int)");
        let rule = "CREATE RULE rule AS ON INSERT TO t";
        for (make, is_whole) in [
            (
                &[table, other, &format!("{rule} DO INSTEAD INSERT INTO other VALUES (NEW.id)")][..],
                false,
            ),
            (
                &[
                    table,
                    other,
                    &format!(
                        "{rule} WHERE NEW.id < 3 DO INSTEAD INSERT INTO other VALUES (NEW.id)"
                    ),
                ],
                false,
            ),
            (&[table, other, &format!("{rule} DO ALSO INSERT INTO other VALUES (NEW.id)")], true),
            // The parent has the rows of its heirs.
            (
                &[
                    table,
                    "CREATE TABLE other () INHERITS (t)",
                    &format!("{rule} DO INSTEAD INSERT INTO other VALUES (NEW.id)"),
                ],
                true,
            ),
            (
                &[
                    table,
                    takes,
                    "CREATE TRIGGER it AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION takes()",
                ],
                false,
            ),
            (
                &[
                    other,
                    says,
                    "CREATE VIEW t AS SELECT * FROM other",
                    "CREATE TRIGGER it INSTEAD OF INSERT ON t FOR EACH ROW EXECUTE FUNCTION says()",
                ],
                false,
            ),
            (&[other, "CREATE VIEW t AS SELECT * FROM other WHERE id > 2"], false),
            (&[other, "CREATE VIEW t AS SELECT * FROM other"], true),
        ] {
            for guarantee in ["atomic", "per_partition"] {
                for if_exists in ["empty", "append"] {
                    server.sql(&make.join("; "));
                    let begin = ["job", "begin", &url, "--table", "t", "--like", "a.csv"];
                    let more = ["--guarantee", guarantee, "--if-exists", if_exists];
                    server.write(
                        "job.json",
                        server.inrush(&[&begin[..], &more].concat()).exits(0).stdout,
                    );
                    let mut runs = Vec::new();
                    for (number, file) in ["a.csv", "b.csv"].into_iter().enumerate() {
                        let write =
                            ["job", "write", "job.json", file, "--partition", &number.to_string()];
                        runs.push(server.inrush(&write));
                    }
                    let tokens: Vec<&str> = runs.iter().map(|run| run.stdout.trim()).collect();
                    server.write("tokens", tokens.join("\n"));
                    runs.push(server.inrush(&["job", "publish", "job.json", "tokens"]));
                    let case = format!("{make:?} {guarantee} {if_exists}");
                    let failed = runs.iter().find(|run| !run.status.success());
                    assert_eq!(failed.is_none(), is_whole, "{case}");
                    if let Some(failed) = failed {
                        let said = &failed.stderr;
                        assert!(
                            said.contains("rules") || said.contains("triggers"),
                            "{case}: {said}"
                        );
                    }
                    server.inrush(&["job", "abort", "job.json"]);
                    // What a conditional rule lets pass is the second partition.
                    assert!(guarantee != "atomic" || is_whole || server.count("t") == 0, "{case}");
                    server.sql("DROP TABLE IF EXISTS other CASCADE");
                    server.sql("DROP TABLE IF EXISTS t CASCADE; DROP FUNCTION IF EXISTS takes, says CASCADE");
                }
            }
        }
    });
}

/// A job takes a table that does not outlast a crash where it is told that this is enough.
#[test]
fn rows_of_a_job_survive_what_is_asked_for() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let url = server.url();
        for guarantee in ["atomic", "none"] {
            server.sql("DROP TABLE IF EXISTS t; CREATE UNLOGGED TABLE t (id int)");
            let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
            let begin = [&begin[..], &["--guarantee", guarantee]].concat();
            server.inrush(&begin).exits(2).says(&["UNLOGGED", "say --durability"]);
            let begun = server.inrush(&[&begin[..], &["--durability", "none"]].concat()).exits(0);
            server.write("job.json", begun.stdout);
            server.write(
                "token",
                server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0).stdout,
            );
            server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
            assert_eq!(server.count("t"), 2);
        }
    });
}

/// A reference that is looked at when the transaction ends is one of a row all the same.
#[test]
fn a_row_that_the_end_of_the_transaction_refuses_is_named() {
    for_each_server(|server| {
        server.write("t.csv", "id,par\n1,1\n2,4\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY, par int REFERENCES t DEFERRABLE INITIALLY DEFERRED)",
        );
        let url = server.url();
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
        let more = ["--guarantee", "per_partition"];
        server.write("job.json", server.inrush(&[&begin[..], &more].concat()).exits(0).stdout);
        let write = ["job", "write", "job.json", "t.csv", "--partition", "0"];
        server.inrush(&write).exits(1).says(&["Key (par)=(4)", "is no bad row of its own here"]);
        assert_eq!(server.count("t"), 0);
        server.inrush(&["job", "abort", "job.json"]).exits(0);
    });
}

#[test]
fn a_counter_that_the_job_lacks_is_the_tables() {
    for_each_server(|server| {
        // The first takes no number but with another word; the others count in the same way.
        let ids = [
            "int GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            "int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
            "serial PRIMARY KEY",
        ];
        for id in size(&ids[..1], &ids[..]) {
            jobs::counters_are_the_tables(server, id);
        }
    });
}

/// What would be found out when the job is published is found out when it begins.
#[test]
fn a_table_that_can_t_make_room_is_refused() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.write("t.csv", "id,n\n1,10\n").sql(&format!(
            "CREATE ROLE {user} LOGIN; GRANT ALL ON SCHEMA public TO {user}; CREATE TABLE t (id int PRIMARY KEY, n int);
             GRANT SELECT (id), INSERT ON t TO {user}"
        ));
        let (own, other) = (server.url(), server.url_of(&user));
        let begin = |url: &str, if_exists: &str| {
            let begin = ["job", "begin", url, "--table", "t", "--like", "t.csv", "--if-exists"];
            server.inrush(&[&begin[..], &[if_exists]].concat())
        };
        begin(&other, "append").exits(1).says(&["may not read all of its columns", "GRANT SELECT"]);
        begin(&other, "replace").exits(1).says(&["table t, and this user is not its owner"]);
        for (make, drop, what) in [
            ("CREATE VIEW v AS SELECT id FROM t", "DROP VIEW v", "view v"),
            (
                "CREATE MATERIALIZED VIEW m AS SELECT id FROM t",
                "DROP MATERIALIZED VIEW m",
                "materialized view m",
            ),
            ("CREATE TABLE child (t int REFERENCES t)", "DROP TABLE child", "on table child"),
            ("CREATE TABLE heir () INHERITS (t)", "DROP TABLE heir", "table heir"),
        ] {
            server.sql(make);
            begin(&own, "replace").exits(1).says(&["others depend on it", what, "append"]);
            server.sql(drop);
        }
        assert_eq!(server.tables(), ["t"]);
        server.sql("CREATE TABLE u (t int REFERENCES t, id int PRIMARY KEY, n int REFERENCES u)");
        let replaced = ["job", "begin", &own, "--table", "u", "--like", "t.csv"];
        server.inrush(&[&replaced[..], &["--if-exists", "replace"]].concat()).exits(0);
        server.inrush(&["job", "gc", &own, "--older-than", "0"]).exits(0);
    });
}

/// A row that only the table refuses is named, for it stops the whole job.
#[test]
fn a_row_that_the_table_refuses_is_named() {
    for_each_server(|server| {
        server.write("t.csv", "id,par\n1,1\n2,4\n").sql(
            "CREATE TABLE par (id int PRIMARY KEY); INSERT INTO par VALUES (1);
             CREATE TABLE t (id int PRIMARY KEY, par int REFERENCES par)",
        );
        let url = server.url();
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
        let more = ["--if-exists", "append", "--max-rejects", "all"];
        server.write("job.json", server.inrush(&[&begin[..], &more].concat()).exits(0).stdout);
        let token = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
        server.write("token", &token.stdout);
        server.inrush(&["job", "publish", "job.json", "token"]).exits(1).says(&[
            "Key (par)=(4) is not present in table \"par\"",
            "is no bad row of its own here",
        ]);
        server.inrush(&["job", "abort", "job.json"]).exits(0);
    });
}

#[test]
fn a_table_of_the_ledger_s_name_is_passed_over() {
    for_each_server(|server| {
        let url = server.url();
        server
            .write("t.csv", "id\n1\n")
            .sql("CREATE SCHEMA oth; CREATE TABLE oth.inrush_jobs (a int)");
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv", "--job-id", "own"];
        server.inrush(&begin).exits(0);
        server.inrush(&["job", "list", &url]).exits(0).prints(&["own"]).says(&["oth.inrush_jobs"]);
        server.inrush(&["job", "recover", &url, "own"]).exits(0).says(&["oth.inrush_jobs"]);
        let gc = ["job", "gc", &url, "--older-than", "0"];
        server.inrush(&gc).exits(0).says(&["oth.inrush_jobs is passed over"]);
        assert_eq!(server.query("SELECT count(*) FROM inrush_jobs"), rows![[0]]);
    });
}

/// A name that two schemas have is that of the job which is not at its end.
#[test]
fn a_job_is_recovered_in_whatever_schema() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").sql("CREATE SCHEMA oth; CREATE SCHEMA pub");
        let url = server.url();
        let begin = |table| {
            let begin = ["job", "begin", &url, "--table", table, "--like", "t.csv"];
            server.inrush(&[&begin[..], &["--job-id", "same"]].concat()).exits(0).stdout
        };
        server.write("oth.json", begin("oth.t"));
        server.inrush(&["job", "abort", "oth.json"]).exits(0);
        begin("pub.t");
        let recover = ["job", "recover", &url, "same"];
        server.inrush(&recover).exits(0).prints(&["\"schema\":\"pub\"", "\"aborted\""]);
        begin("oth.t");
        begin("pub.t");
        server.inrush(&recover).exits(2).says(&["two jobs same", "of table oth.t", "of pub.t"]);
        assert_eq!(server.query("SELECT state FROM oth.inrush_jobs"), rows![["open"]]);
    });
}

/// A job of an older version may have more.
#[test]
fn a_job_has_not_more_connections_than_locks_can_be_looked_through() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let url = server.url();
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv", "--connections"];
        let begin = |connections| server.inrush(&[&begin[..], &[connections]].concat());
        begin("10000").exits(2).says(&["at most 1000 connections"]);
        begin("1000").exits(0);
        server.sql("UPDATE inrush_jobs SET job = replace(job, '\"connections\":1000', '\"connections\":20000')");
        server.inrush(&["job", "list", &url]).exits(0);
        server.inrush(&["job", "gc", &url, "--older-than", "0"]).exits(0);
    });
}

/// Who may not lock the table keeps other loads out, and its job is published all the same.
#[test]
fn who_may_only_insert_publishes_into_an_empty_table() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.write("t.csv", "id\n1\n").sql(&format!(
            "CREATE ROLE {user} LOGIN; GRANT ALL ON SCHEMA public TO {user}; CREATE TABLE t (id int);
             GRANT SELECT, INSERT ON t TO {user}"
        ));
        let url = server.url_of(&user);
        let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
        for name in ["a", "b"] {
            let begin = ["begin", &url, "--table", "t", "--like", "t.csv", "--job-id", name];
            server.write(&format!("{name}.json"), job(&begin).exits(0).stdout);
            let token = job(&["write", &format!("{name}.json"), "t.csv"]).exits(0).stdout;
            server.write(&format!("{name}.token"), token);
        }
        job(&["publish", "a.json", "a.token"]).exits(0);
        job(&["publish", "b.json", "b.token"]).exits(1).says(&["now holds rows"]);
        assert_eq!(server.query("SELECT id FROM t"), rows![[1]]);
        job(&["abort", "b.json"]).exits(0);
    });
}

#[test]
fn who_is_late_commits_no_rows_of_a_job_that_is_over() {
    for_each_server(jobs::late_rows);
}

#[test]
fn a_job_is_not_recovered_while_a_process_writes_for_it() {
    for_each_server(jobs::recovered_while_written);
}

#[test]
fn a_sweep_says_how_each_job_has_ended() {
    for_each_server(jobs::ends_of_a_sweep);
}

#[test]
fn who_ends_a_job_waits_for_those_about_to_commit() {
    for_each_server(|server| jobs::ends_wait_for_commits(server, "FOR KEY SHARE"));
}

/// Who may not read the jobs does not hear that there are none.
#[test]
fn jobs_that_the_login_may_not_read_are_an_error() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        let begin = |table: &str| {
            let begin = ["job", "begin", &server.url(), "--table", table, "--like", "t.csv"];
            server.inrush(&[&begin[..], &["--job-id", "own"]].concat()).exits(0);
        };
        server
            .write("t.csv", "id\n1\n")
            .sql(&format!("CREATE ROLE {user} LOGIN; CREATE SCHEMA oth"));
        begin("t");
        let url = server.url_of(&user);
        let gc = ["gc", &url, "--older-than", "0"];
        let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
        for step in [&["list", &url][..], &gc, &["recover", &url, "own"]] {
            job(step).exits(1).says(&["permission denied", "takes SELECT on public.inrush_jobs"]);
        }
        server.sql(&format!("GRANT SELECT ON inrush_jobs TO {user}"));
        begin("oth.t");
        job(&["list", &url])
            .exits(0)
            .prints(&["own"])
            .says(&["jobs in oth.inrush_jobs are passed"]);
        assert_eq!(job(&["list", &url, "-q"]).exits(0).stderr, "");
        job(&gc).exits(1).says(&["permission denied", "takes INSERT, UPDATE and DELETE"]);
        server.inrush(&["job", "gc", &server.url(), "--older-than", "0"]).exits(0);
    });
}
