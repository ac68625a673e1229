use super::server::{Answer, Served, Web};
use super::{ROWS, large, same_by_url};
use crate::fixture::Fixture;

#[test]
fn redirects_within_the_origin_are_followed() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    fixture.write("in.csv", &text);
    let served = Served::new(text);
    let web = Web::of(move |asked| match asked.path.as_str() {
        "/in.csv" => Answer::redirect("/v2/in.csv"),
        "/v2/in.csv" => Answer::redirect("there"),
        _ => served.answer(asked),
    });
    same_by_url(&fixture, "in.csv", &web.url("in.csv"));
}

#[test]
fn redirects_to_another_server_are_refused_and_say_what_to_name() {
    let fixture = Fixture::new();
    let inside = Web::file(Served::new("id\n1\n"));
    let port = inside.port();
    for to in [
        inside.url("in.csv"),
        format!("http://localhost:{port}/in.csv?tiger-7-teeth"),
        format!("http://[::1]:{port}/in.csv"),
        format!("http://0.0.0.0:{port}/in.csv"),
        format!("http://2130706433:{port}/in.csv"),
        "http://10.0.0.1/in.csv".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "https://192.168.0.1/in.csv".to_owned(),
        "http://[fe80::1]/in.csv".to_owned(),
        "https://example.org/in.csv?tiger-7-teeth".to_owned(),
    ] {
        let target = to.clone();
        let web = Web::of(move |_| Answer::redirect(&target));
        let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
        let run =
            run.says(&["redirects to http", "another server: not followed", "name http", "itself"]);
        if to.contains('?') {
            // The address without its query would lead nowhere.
            run.says(&["its query, which is left out here", "curl -sI"]);
        }
    }
    assert_eq!(inside.asked().len(), 0, "nothing was asked there");
}

#[test]
fn redirects_to_other_schemes_and_without_end_are_refused() {
    let fixture = Fixture::new();
    fixture.write("secret.csv", "id\n1\n");
    for to in ["file:///etc/passwd", "ftp://127.0.0.1/in.csv", "s3://bucket/in.csv", "gopher://x/"]
    {
        let web = Web::of(move |_| Answer::redirect(to));
        let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
        run.says(&["redirects to ", "which is not followed"]);
    }
    let web = Web::of(|_| Answer::redirect("/again"));
    fixture.refuses(&[&web.url("in.csv"), "t.db"]).says(&["redirects on and on"]);
    assert!(web.asked().len() < 20);
}
