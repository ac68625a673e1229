use super::server::for_each_server;
use super::settings::with_settings;
use crate::jobs;

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
