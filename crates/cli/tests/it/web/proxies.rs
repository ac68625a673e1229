use super::server::{Served, Web, silent_port};
use crate::fixture::{Fixture, Outcome};

/// The load with these variables, and without those by which tests reach their own servers.
fn by(fixture: &Fixture, url: &str, environment: &[(&str, &str)]) -> Outcome {
    let mut command = fixture.command(&["load", url, "t.db"]);
    command.env_remove("NO_PROXY").envs(environment.iter().copied());
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"] {
        let lower = name.to_ascii_lowercase();
        if !environment.iter().any(|(own, _)| *own == name) {
            command.env_remove(name);
        }
        command.env_remove(lower);
    }
    let done = command.output().unwrap();
    Outcome::of(format!("inrush load {url}"), (done.status, done.stdout, done.stderr))
}

#[test]
fn what_a_proxy_does_is_said_of_the_proxy_and_of_its_variable() {
    let fixture = Fixture::new();
    let port = silent_port();
    let silent = format!("http://ann:tiger-7-teeth@127.0.0.1:{port}");
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        let run = by(&fixture, "http://example.org/in.csv", &[(variable, &silent)]).exits(1);
        let run = run.says(&[
            &format!("the proxy 127.0.0.1:{port} refuses the connection"),
            &format!("check {variable}, which names the proxy; NO_PROXY=example.org goes without"),
        ]);
        assert!(!run.stderr.contains("tiger"), "{run:?}");
    }
    let garbage = [("HTTP_PROXY", "no-such-proxy.invalid")];
    by(&fixture, "http://127.0.0.1:1/in.csv", &garbage)
        .exits(1)
        .says(&["the proxy's name, no-such-proxy.invalid, is not known", "check HTTP_PROXY"]);
    // A proxy that has no way to the server.
    let web = Web::file(Served::new("id\n1\n"));
    let proxy = web.url("");
    let refusing = Web::of(|_| super::Answer::of(403, "no"));
    let run = by(&fixture, &proxy, &[("HTTPS_PROXY", refusing.url("").as_str())]).exits(1);
    run.says(&[&format!("the proxy 127.0.0.1:{} does not connect to", refusing.port())]);
}

#[test]
fn a_proxy_that_is_not_spoken_to_is_not_passed_by() {
    let fixture = Fixture::new();
    let web = Web::file(Served::new("id\n1\n"));
    let url = web.url("in.csv");
    for (variable, proxy) in [
        ("ALL_PROXY", "socks5://ann:tiger-7-teeth@127.0.0.1:1"),
        ("HTTP_PROXY", "socks4://127.0.0.1:1"),
    ] {
        let run = by(&fixture, &url, &[(variable, proxy)]).exits(1);
        let named = format!("{variable} names the SOCKS proxy 127.0.0.1:1");
        let run = run.says(&[&named, "NO_PROXY=127.0.0.1 goes without one"]);
        assert!(!run.stderr.contains("tiger"), "{run:?}");
        by(&fixture, &url, &[(variable, proxy), ("NO_PROXY", "127.0.0.1")]).exits(0);
        std::fs::remove_file(fixture.path("t.db")).unwrap();
    }
}

#[test]
fn a_variable_that_names_no_proxy_is_not_passed_by() {
    let fixture = Fixture::new();
    let web = Web::file(Served::new("id\n1\n"));
    let url = web.url("in.csv");
    for proxy in ["socks9://ann:tiger-7-teeth@127.0.0.1:1", "http://", "http://a b"] {
        let variables = [("HTTPS_PROXY", proxy), ("HTTP_PROXY", "http://127.0.0.1:1")];
        let run = by(&fixture, &url, &variables).exits(1);
        let run = run.says(&["HTTPS_PROXY names no proxy", "NO_PROXY=127.0.0.1 goes without one"]);
        assert!(!run.stderr.contains("tiger"), "{run:?}");
        for hosts in ["127.0.0.1", "example.org,127.0.0.1", "*"] {
            by(&fixture, &url, &[("HTTPS_PROXY", proxy), ("NO_PROXY", hosts)]).exits(0);
            std::fs::remove_file(fixture.path("t.db")).unwrap();
        }
    }
    // Empty is not set.
    by(&fixture, &url, &[("ALL_PROXY", "")]).exits(0);
}

#[test]
fn a_host_that_goes_without_the_proxy_is_named_itself() {
    let fixture = Fixture::new();
    let (port, proxy) = (silent_port(), format!("http://127.0.0.1:{}", silent_port()));
    let around = [("HTTP_PROXY", proxy.as_str()), ("NO_PROXY", "127.0.0.1")];
    let run = by(&fixture, &format!("http://127.0.0.1:{port}/in.csv"), &around).exits(1);
    run.says(&[&format!(": 127.0.0.1:{port} refuses the connection"), "check the address"]);
}
