use super::server::for_each_server;
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
