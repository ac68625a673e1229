//! Jobs of several processes, whose rows are documents.

use super::server::for_each_server;
use crate::jobs;
use crate::servers::{Database as _, Server};

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
        jobs::killed_while_publishing(server, server.address(), |address| server.url_at(address));
    });
}

#[test]
fn who_publishes_may_be_taken_for_dead() {
    for_each_server(|server| {
        jobs::taken_for_dead(
            server,
            server.address(),
            |address| server.url_at(address),
            |_| {
                jobs::end_locks(server);
            },
        );
    });
}

#[test]
fn any_answer_may_be_lost_while_a_job_is_published() {
    for_each_server(|server| {
        jobs::answers_lost(server, server.address(), |address| server.url_at(address));
    });
}

#[test]
fn a_shell_script_drives_a_job() {
    for_each_server(jobs::by_command);
}

#[test]
fn attempts_fill_one_table_at_the_same_time() {
    for_each_server(jobs::straight_into_one_table);
}

#[test]
fn of_attempts_at_one_partition_at_once_one_writes() {
    for_each_server(jobs::one_partition_at_once);
}

#[test]
fn a_collection_is_empty_until_a_partition_comes() {
    for_each_server(jobs::partitions_into_an_empty_table);
}

#[test]
fn many_bad_rows_do_not_stop_a_job() {
    for_each_server(jobs::many_bad_rows);
}

#[test]
fn a_job_that_is_half_published_says_so() {
    for_each_server(jobs::other_tokens_than_were_published_with);
}

/// An attempt may write all of its rows, or some, and be killed before it can say so: who writes them again finds them.
#[test]
fn a_partition_that_is_written_again_is_found_by_its_ids() {
    for_each_server(|server| {
        let url = server.url();
        let lines =
            |from: u32, to: u32| (from..to).map(|id| format!("{id},n{id}\n")).collect::<String>();
        server.write("a.csv", format!("id,name\n{}", lines(0, 500)));
        server.write("b.csv", format!("id,name\n{}", lines(500, 600)));
        let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
        let begin = ["begin", &url, "--table", "t", "--like", "a.csv", "--job-id", "ids"];
        let begin =
            [&begin[..], &["--guarantee", "per_partition", "--if-exists", "append"]].concat();
        server.write("job.json", &job(&begin).exits(0).stdout);
        let write = ["write", "job.json", "a.csv", "--partition", "0"];
        job(&write).exits(0).prints(&["\"rows_loaded\":500"]);
        forget_partitions(server);
        // Some of its rows are missing.
        server.query(
            "{\"delete\": \"t\", \"deletes\": [{\"q\": {\"id\": {\"$gte\": 300}}, \"limit\": 0}]}",
        );
        let token =
            job(&write).exits(0).prints(&["\"rows_loaded\":500", "\"already_written\":false"]);
        server.write("a.token", &token.stdout);
        assert_eq!(count(server), 500);

        // Other rows are no second try of the same.
        forget_partitions(server);
        server.write("a.csv", format!("id,name\n{}", lines(1, 501)));
        job(&write).exits(1).says(&["its rows are not the same now", "another name"]);
        assert_eq!(count(server), 500);
        server.write("a.csv", format!("id,name\n{}", lines(0, 500)));
        let token = job(&write).exits(0);
        server.write("a.token", &token.stdout);

        // Behind an abort too, although nothing knows of the partition.
        forget_partitions(server);
        job(&["abort", "job.json"]).exits(0);
        server.write("job.json", &job(&begin).exits(0).stdout);
        for (file, partition) in [("a.csv", "0"), ("b.csv", "1")] {
            let token = job(&["write", "job.json", file, "--partition", partition]).exits(0);
            server.write(&format!("{file}.token"), &token.stdout);
        }
        let published = job(&["publish", "job.json", "a.csv.token", "b.csv.token"]).exits(0);
        published.prints(&["\"rows_loaded\":600", "\"publish\":\"load\""]);
        assert_eq!(count(server), 600);
        job(&begin).exits(0).prints(&["\"committed\""]);
        assert_eq!(server.tables(), ["inrush_jobs", "t"]);
    });
}

/// What takes a transaction is refused before anything is written, with the way to go.
#[test]
fn what_takes_a_transaction_is_refused() {
    for_each_server(|server| {
        let url = server.url();
        server.write("a.csv", "id,name\n1,a\n2,b\n");
        server.query("{\"insert\": \"t\", \"documents\": [{\"_id\": 7}]}");
        let begin = ["job", "begin", &url, "--table", "t", "--like", "a.csv"];
        let begin = |more: &[&str]| server.inrush(&[&begin[..], more].concat());
        begin(&["--if-exists", "append"]).exits(2).says(&[
            "no transaction",
            "--guarantee per_partition",
            "--if-exists replace",
        ]);
        let early =
            ["--if-exists", "append", "--guarantee", "per_partition", "--primary-key", "id"];
        begin(&early).exits(2).says(&["--on-conflict skip, update or replace"]);
        let skips = [&early[..], &["--on-conflict", "skip"]].concat();
        server.write("job.json", &begin(&skips).exits(0).stdout);
        // Its own ids tell rows apart.
        for _ in 0..2 {
            server.inrush(&["job", "write", "job.json", "a.csv", "--partition", "0"]).exits(0);
            forget_partitions(server);
        }
        assert_eq!(count(server), 3);
        server.inrush(&["job", "abort", "job.json"]).exits(0);
        server.inrush(&["job", "gc", &url, "--older-than", "0"]).exits(0);
        assert_eq!(server.tables(), ["inrush_jobs", "t"]);
    });
}

/// Rows of two attempts that share a key meet when the job is published.
#[test]
fn rows_with_one_key_say_what_compares_them() {
    for_each_server(|server| {
        let url = server.url();
        server.write("a.csv", "id,name\n1,a\n");
        let job = |args: &[&str]| server.inrush(&[&["job"], args].concat());
        let begin = ["begin", &url, "--table", "t", "--like", "a.csv", "--primary-key", "id"];
        server.write("job.json", &job(&begin).exits(0).stdout);
        for (partition, token) in [("0", "a.token"), ("1", "b.token")] {
            let written = job(&["write", "job.json", "a.csv", "--partition", partition]).exits(0);
            server.write(token, &written.stdout);
        }
        let run = job(&["publish", "job.json", "a.token", "b.token"]).exits(1);
        run.says(&["duplicate", "--guarantee per_partition compares them"]);
        job(&["abort", "job.json"]).exits(0);
        assert_eq!(server.tables(), ["inrush_jobs"]);
    });
}

/// A process that is killed keeps its lock until its time is over.
#[test]
fn a_lock_that_is_not_renewed_is_free_in_time() {
    for_each_server(|server| {
        let url = server.url();
        server.write("a.csv", "id,name\n1,a\n2,b\n");
        let begin = ["job", "begin", &url, "--table", "t", "--like", "a.csv", "--job-id", "locks"];
        let begun = server.inrush(&[&begin[..], &["--connections", "1"]].concat()).exits(0);
        server.write("job.json", &begun.stdout);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let until = now.as_secs() + 3;
        let locks = format!(
            "{{\"n1\": {{\"owner\": \"x\", \"until\": {{\"$numberLong\": \"{until}\"}}}}}}"
        );
        server.query(&format!(
            "{{\"update\": \"inrush_jobs\", \"updates\": [{{\"q\": {{}}, \"u\": {{\"$set\": {{\"locks\": {locks}}}}}}}]}}"
        ));
        server.inrush(&["job", "list", &url, "--json"]).exits(0).prints(&["\"working\":true"]);
        let began = std::time::Instant::now();
        let token = server.inrush(&["job", "write", "job.json", "a.csv"]).exits(0);
        assert!(began.elapsed().as_secs() >= 1, "{:?}", began.elapsed());
        server.write("token", &token.stdout);
        server.inrush(&["job", "list", &url, "--json"]).exits(0).prints(&["\"working\":false"]);
        server.inrush(&["job", "publish", "job.json", "token"]).exits(0);
        assert_eq!(count(server), 2);
    });
}

/// As if who wrote partitions had been killed before noting it.
fn forget_partitions(server: &Server<super::server::Mongodb>) {
    for table in server.tables().iter().filter(|table| table.ends_with("_partitions")) {
        server.query(&format!(
            "{{\"delete\": \"{table}\", \"deletes\": [{{\"q\": {{}}, \"limit\": 0}}]}}"
        ));
    }
}

fn count(server: &Server<super::server::Mongodb>) -> usize {
    server.rows("t", &["name"]).len()
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
