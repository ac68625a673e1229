use super::server::{for_each_server, rows};
use super::settings::with_settings;
use crate::jobs;

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
fn a_job_where_transactions_only_read_by_default() {
    for_each_server(|server| {
        let settings = ["default_transaction_read_only = on"];
        with_settings(server, &settings, || jobs::by_command(server));
    });
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
fn rows_that_a_trigger_drops_are_not_counted() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,10\n2,-1\n3,30\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (3, 3);
             CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS
                 $$BEGIN IF NEW.n < 0 THEN RETURN NULL; END IF; RETURN NEW; END$$;
             CREATE TRIGGER drops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drops()",
        );
        let url = server.url();
        for answer in ["skip", "update", "replace"] {
            let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
            let more = ["--if-exists", "append", "--key", "id", "--on-conflict", answer];
            let begun = server.inrush(&[&begin[..], &more].concat()).exits(0);
            server.write("job.json", &begun.stdout);
            let token = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
            server.write("token", &token.stdout);
            server
                .inrush(&["job", "publish", "job.json", "token"])
                .exits(1)
                .says(&["wrote 3 rows, and 2 of them came into the table", "triggers"]);
            assert_eq!(server.query("SELECT * FROM t"), rows![[3, 3]], "{answer}");
            server.inrush(&["job", "abort", "job.json"]).exits(0);
        }
    });
}
