use std::process::Command;

use super::login::{SECRET, User, run};
use super::server::{Extras, alone_on_each_server, for_each_private_server, for_some_servers};
use crate::fixture::{Outcome, finish, start, wait_until_it_waits};
use crate::jobs;

#[test]
fn options_of_files_hold_for_every_write() {
    for_some_servers(jobs::options_of_files_travel);
}

#[test]
fn where_no_statement_commits_by_itself_a_job_replaces_its_table_too() {
    let extras = Extras { settings: &[("autocommit", "0")], ..Extras::default() };
    for_each_private_server(
        |name| name.starts_with("mariadb-10"),
        extras,
        |_, server| {
            // The test's own connection is to hold no table.
            server.sql("SET autocommit = 1");
            server.sql(
                "CREATE TABLE t (a int PRIMARY KEY, c int); INSERT INTO t VALUES (1, 2), (2, 3)",
            );
            server.write("t.csv", "a,c\n5,6\n");
            let url = server.url();
            let replace = ["--if-exists", "replace", "--like", "t.csv"];
            let begin = [&["job", "begin", &url, "--table", "t"], &replace[..]].concat();
            server.write("job.json", server.inrush(&begin).exits(0).stdout);
            let written = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
            server.write("token.json", written.stdout);
            server.inrush(&["job", "publish", "job.json", "token.json"]).exits(0);
            assert_eq!(server.count("t"), 1);
            server.inrush(&["load", "t.csv", &url, "--if-exists", "replace"]).exits(0);
            assert_eq!(server.count("t"), 1);
        },
    );
}

#[test]
fn steps_of_jobs_in_any_order_do_what_each_says() {
    for_some_servers(jobs::in_any_order);
}

#[test]
fn who_publishes_may_be_killed_at_any_moment() {
    for_some_servers(|server| {
        jobs::killed_while_publishing(server, &server.address, |address| server.url_at(address))
    });
}

#[test]
fn who_publishes_may_be_taken_for_dead() {
    for_some_servers(|server| {
        jobs::taken_for_dead(
            server,
            &server.address,
            |address| server.url_at(address),
            |job| {
                let lock = format!("inrush_job_{}_0", job.digits);
                for row in server.query(&format!("SELECT IS_USED_LOCK('{lock}')")) {
                    for id in row.into_iter().flatten() {
                        server.kill("CONNECTION", &id);
                    }
                }
            },
        );
    });
}

#[test]
fn any_answer_may_be_lost_while_a_job_is_published() {
    for_some_servers(|server| {
        jobs::answers_lost(server, &server.address, |address| server.url_at(address))
    });
}

#[test]
fn of_those_who_end_a_job_at_once_one_does() {
    for_some_servers(jobs::ended_at_once);
}

#[test]
fn the_command_leads_a_job_from_step_to_step() {
    for_some_servers(jobs::by_command);
}

#[test]
fn a_partition_comes_in_once_wherever_its_writer_is_killed() {
    for_some_servers(|server| {
        let at = |address: &str| server.url_at(address);
        jobs::killed_while_a_partition_comes_in(server, &server.address, at)
    });
}

#[test]
fn of_attempts_at_one_partition_at_once_one_writes() {
    for_some_servers(jobs::one_partition_at_once);
}

#[test]
fn partitions_in_each_others_way_come_in_all() {
    for_some_servers(jobs::partitions_in_a_deadlock);
}

#[test]
fn the_command_says_what_of_a_job_is_seen_early() {
    for_some_servers(jobs::partitions_by_command);
}

#[test]
fn of_two_jobs_that_want_an_empty_table_one_is_published() {
    for_some_servers(|server| {
        jobs::two_into_one_empty_table(server, &["LOCK TABLES t READ"], "UNLOCK TABLES");
    });
}

#[test]
fn a_table_is_empty_until_a_partition_comes() {
    for_some_servers(jobs::partitions_into_an_empty_table);
}

#[test]
fn many_bad_rows_do_not_stop_a_job() {
    for_some_servers(jobs::many_bad_rows);
}

#[test]
fn tokens_may_be_listed_in_any_order() {
    for_some_servers(jobs::the_last_partition_decides);
}

#[test]
fn a_job_that_is_half_published_says_so() {
    for_some_servers(jobs::other_tokens_than_were_published_with);
}

#[test]
fn types_of_a_job_hold_for_every_attempt() {
    for_some_servers(|server| {
        let types = ["f=boolean", "g=integer"];
        jobs::types_of_begin(server, "f tinyint, g int", &types, ("1,5", "77,5"));
    });
}

#[test]
fn attempts_fill_one_table_at_the_same_time() {
    for_some_servers(jobs::straight_into_one_table);
}

#[test]
fn an_attempt_has_the_columns_of_its_job() {
    for_some_servers(jobs::columns_are_those_of_the_job);
}

#[test]
fn a_job_does_not_go_on_behind_partitions_that_are_gone() {
    for_some_servers(jobs::partitions_that_are_gone);
}

#[test]
fn no_job_says_that_rows_are_in_which_are_gone() {
    for_some_servers(jobs::rows_that_are_gone);
}

#[test]
fn a_step_advises_what_it_can_do() {
    for_some_servers(jobs::advice_that_steps_can_follow);
}

#[test]
fn attempts_at_rows_of_one_key_say_what_decides() {
    for_some_servers(jobs::attempts_with_one_key);
}

#[test]
fn a_share_of_bad_rows_is_one_of_the_job() {
    for_some_servers(jobs::shares_of_bad_rows);
}

#[test]
fn who_writes_too_late_hears_that_the_job_is_over() {
    for_some_servers(jobs::late_writers);
}

#[test]
fn what_keeps_a_job_from_its_end_says_what_to_do() {
    for_some_servers(jobs::refusals_that_say_what_to_do);
}

/// What a later step would be refused is refused when the job begins, and nothing is left of it.
#[test]
fn who_lacks_a_right_that_jobs_need_begins_none() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n").sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB");
        for (grants, denied) in [
            ("SELECT, INSERT, CREATE, DROP", "UPDATE"),
            ("SELECT, INSERT, UPDATE, CREATE, DROP", "DELETE"),
            ("SELECT, UPDATE, DELETE, CREATE, DROP", "INSERT"),
            ("SELECT, INSERT, UPDATE, DELETE, CREATE", "DROP"),
            ("CREATE", "INSERT"),
        ] {
            let user = User::new(server, grants);
            for host in ["localhost", "127.0.0.1"] {
                let on = format!("{}.t TO '{}'@'{host}'", server.database, user.name());
                server.sql(&format!("GRANT SELECT, INSERT ON {on}"));
            }
            let begin = ["job", "begin", &user.url(), "--table", "t", "--like", "t.csv"];
            let refused = run(server, &begin, &[("MYSQL_PWD", SECRET)]).exits(1);
            refused.says(&[denied, "denied", "ask for SELECT, INSERT, UPDATE and DELETE"]);
            assert_eq!(server.tables(), ["t"], "{grants}");
        }
    });
}

/// Who interrupts a publish that waits for the table has lost no answer.
#[test]
fn an_interrupt_is_no_lost_answer() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n").sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB");
        let url = server.url();
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
        let begun = server.inrush(&[&begin[..], &["--if-exists", "replace"]].concat()).exits(0);
        server.write("job.json", begun.stdout);
        server
            .write("token", server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0).stdout);
        server.sql("LOCK TABLES t READ");
        let child = start(&mut server.command(&["job", "publish", "job.json", "token"]));
        wait_until_it_waits(&child);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let run = Outcome::of("publish".to_owned(), finish(child, b"")).exits(130);
        let run = run.says(&["nothing changed"]);
        assert!(!run.stderr.contains("lost"), "{}", run.stderr);
        server.sql("UNLOCK TABLES");
        assert_eq!(server.count("t"), 0);
        server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
        assert_eq!(server.count("t"), 1);
    });
}

/// A view takes rows that go straight into it.
#[test]
fn a_view_takes_rows_without_a_guarantee() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        server.sql("CREATE TABLE base (id INT PRIMARY KEY) ENGINE=InnoDB");
        server.sql("CREATE VIEW t AS SELECT id FROM base");
        let url = server.url();
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv", "--guarantee"];
        let begin = |guarantee| server.inrush(&[&begin[..], &[guarantee]].concat());
        begin("atomic").exits(1).says(&["t is a view", "behind it", "--guarantee none"]);
        server.write("job.json", begin("none").exits(0).stdout);
        server
            .write("token", server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0).stdout);
        server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
        assert_eq!(server.count("base"), 2);
    });
}

#[test]
fn a_job_where_no_table_is_made_without_a_primary_key() {
    alone_on_each_server(|server| {
        let name = match server.is_mariadb {
            true => "innodb_force_primary_key",
            false => "sql_require_primary_key",
        };
        if server.query(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'")).is_empty() {
            return;
        }
        server.write("t.csv", "id\n1\n2\n").sql("CREATE TABLE u (id INT) ENGINE=InnoDB");
        let url = server.url();
        let begin = |table: &str, more: &[&str]| {
            let begin = ["job", "begin", &url, "--table", table, "--like", "t.csv"];
            server.inrush(&[&begin[..], more].concat())
        };
        server.with_global(name, "1", || {
            let refused = begin("t", &[]).exits(1).says(&["--primary-key COLUMN"]);
            assert!(!refused.stderr.contains("ask for the right"), "{}", refused.stderr);
            begin("u", &[]).exits(1).says(&["--guarantee none", "inrush load"]);
            for (table, more) in [("t", ["--primary-key", "id"]), ("u", ["--guarantee", "none"])] {
                server.write("job.json", begin(table, &more).exits(0).stdout);
                let token = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
                server.write("token", token.stdout);
                server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
                assert_eq!(server.count(table), 2);
            }
        });
    });
}

#[test]
fn rows_of_a_job_survive_what_the_server_s_settings_promise() {
    alone_on_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let url = server.url();
        // What no job writes into is not advised to be asked for less.
        server.sql("CREATE TABLE u (id INT) ENGINE=MyISAM");
        let refused = server.inrush(&["job", "begin", &url, "--table", "u", "--like", "t.csv"]);
        let refused = refused.exits(1).says(&["have no transactions", "use inrush load"]);
        assert!(!refused.stderr.contains("--durability"), "{}", refused.stderr);
        server.with_global("innodb_flush_log_at_trx_commit", "2", || {
            for guarantee in ["atomic", "per_partition", "none"] {
                let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
                let begin = [&begin[..], &["--guarantee", guarantee]].concat();
                server.inrush(&begin).exits(2).says(&["'process' at best", "--durability process"]);
                let begin = [&begin[..], &["--durability", "process"]].concat();
                server.write("job.json", server.inrush(&begin).exits(0).stdout);
                let write = ["job", "write", "job.json", "t.csv", "--partition", "0"];
                server.write("token", server.inrush(&write).exits(0).stdout);
                server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
                assert_eq!(server.count("t"), 2);
                server.drop_table("t");
            }
        });
    });
}

#[test]
fn a_counter_that_the_job_lacks_is_the_tables() {
    for_some_servers(|server| {
        jobs::counters_are_the_tables(server, "int AUTO_INCREMENT PRIMARY KEY")
    });
}

/// What would be found out when the job is published is found out when it begins.
#[test]
fn who_may_not_rename_tables_makes_none() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let user = User::new(server, "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP");
        let begin = |table: &str, if_exists: &str| {
            let begin = ["job", "begin", &user.url(), "--table", table, "--like", "t.csv"];
            let begin = [&begin[..], &["--if-exists", if_exists]].concat();
            run(server, &begin, &[("MYSQL_PWD", SECRET)])
        };
        begin("t", "append").exits(1).says(&["may not rename", "ALTER and DROP"]);
        server.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB");
        begin("t", "replace").exits(1).says(&["may not rename", "ALTER and DROP"]);
        assert_eq!(server.tables(), ["inrush_jobs", "t"]);
        begin("t", "append").exits(0);
        let url = server.url();
        server.inrush(&["job", "gc", &url, "--older-than", "0"]).exits(0);
        assert_eq!(server.tables(), ["inrush_jobs", "t"]);
    });
}

#[test]
fn who_is_late_commits_no_rows_of_a_job_that_is_over() {
    for_some_servers(jobs::late_rows);
}

#[test]
fn a_job_is_not_recovered_while_a_process_writes_for_it() {
    for_some_servers(jobs::recovered_while_written);
}

#[test]
fn a_sweep_says_how_each_job_has_ended() {
    for_some_servers(jobs::ends_of_a_sweep);
}

#[test]
fn who_ends_a_job_waits_for_those_about_to_commit() {
    for_some_servers(|server| jobs::ends_wait_for_commits(server, "LOCK IN SHARE MODE"));
}

/// Who may not read the jobs does not hear that there are none; neither the catalogue nor an error says to all whether there are.
#[test]
fn jobs_that_the_login_may_not_read_are_an_error() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let user = User::new(server, "INSERT");
        let job = |args: &[&str]| run(server, &[&["job"], args].concat(), &[("MYSQL_PWD", SECRET)]);
        let url = user.url();
        let gc = ["gc", &url, "--older-than", "0"];
        let own = server.url();
        server.inrush(&["job", "list", &own]).exits(0).prints(&["no jobs"]);
        for begins in [false, true] {
            if begins {
                let begin = ["job", "begin", &own, "--table", "t", "--like", "t.csv"];
                server.inrush(&[&begin[..], &["--job-id", "own"]].concat()).exits(0);
            }
            for step in [&["list", &url][..], &gc, &["recover", &url, "own"]] {
                job(step).exits(1).says(&["denied", "takes SELECT on inrush_jobs"]);
            }
        }
        server.inrush(&["job", "gc", &own, "--older-than", "0"]).exits(0);
    });
}
