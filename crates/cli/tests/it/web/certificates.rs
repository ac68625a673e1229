use super::server::{Answer, Served, Web, certify};
use super::{ROWS, large};
use crate::fixture::{Fixture, Outcome, finish, start};

fn load(fixture: &Fixture, url: &str, authority: Option<&str>) -> Outcome {
    let mut command = fixture.command(&["load", url, "t.db", "--if-exists", "replace"]);
    match authority {
        Some(file) => command.env("SSL_CERT_FILE", fixture.path(file)),
        None => command.env_remove("SSL_CERT_FILE"),
    };
    Outcome::of(format!("inrush load {url}"), finish(start(&mut command), b""))
}

#[test]
fn a_server_is_believed_that_an_authority_of_ssl_cert_file_vouches_for() {
    let fixture = Fixture::new();
    certify(&fixture, "IP:127.0.0.1");
    let served = Served::new(large(ROWS));
    let web = Web::secure(fixture.dir(), move |asked| served.answer(asked));
    let url = web.url("in.csv");
    load(&fixture, &url, Some("authority.pem")).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM \"in\""), ROWS as i64);
    for (authority, advice) in [
        (None, "SSL_CERT_FILE=FILE names the authorities"),
        (Some("server.key"), "server.key, which has no certificate in it"),
        (Some("none.pem"), "none.pem, which can't be read"),
    ] {
        let run = load(&fixture, &url, authority).exits(1);
        run.says(&["the certificate of 127.0.0.1 is by no authority that is trusted here", advice]);
    }
    // What speaks no TLS, and what speaks nothing else.
    let plain = Web::file(Served::new("id\n1\n"));
    let as_tls = plain.url("in.csv").replace("http:", "https:");
    load(&fixture, &as_tls, Some("authority.pem")).exits(1).says(&["does not speak TLS there"]);
    load(&fixture, &url.replace("https:", "http:"), Some("authority.pem"))
        .exits(1)
        .says(&["in.csv"]);
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let fixture = Fixture::new();
    certify(&fixture, "DNS:example.org");
    let web = Web::secure(fixture.dir(), |asked| Served::new("id\n1\n").answer(asked));
    let run = load(&fixture, &web.url("in.csv"), Some("authority.pem")).exits(1);
    run.says(&["the certificate of 127.0.0.1 is for example.org, and not for 127.0.0.1"]);
}

#[test]
fn a_certificate_that_has_expired_or_is_signed_by_itself_is_refused_in_words() {
    let fixture = Fixture::new();
    certify(&fixture, "IP:127.0.0.1");
    let authority = "[ca]\ndefault_ca=own\n[own]\ndatabase=index\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\nrand_serial=yes\n[any]\ncommonName=supplied\n";
    fixture.write("authority.cnf", authority).write("index", "");
    let past = "ca -batch -config authority.cnf -cert authority.pem -keyfile authority.key -in server.csr -extfile names -startdate 20200101000000Z -enddate 20200102000000Z -notext -out server.pem";
    fixture.tool("openssl", &past.split(' ').collect::<Vec<_>>(), b"");
    let web = Web::secure(fixture.dir(), |asked| Served::new("id\n1\n").answer(asked));
    let run = load(&fixture, &web.url("in.csv"), Some("authority.pem")).exits(1);
    run.says(&["the certificate of 127.0.0.1 expired on 2020-01-02 00:00:00 UTC", "clock"]);
    for (from, to) in [("authority.pem", "server.pem"), ("authority.key", "server.key")] {
        fixture.write(to, fixture.read(from));
    }
    let web = Web::secure(fixture.dir(), |asked| Served::new("id\n1\n").answer(asked));
    let run = load(&fixture, &web.url("in.csv"), Some("authority.pem")).exits(1);
    run.says(&["the certificate of 127.0.0.1 is signed by itself", "basicConstraints=CA:FALSE"]);
    // As the advice has it.
    let own = "req -x509 -newkey rsa:2048 -nodes -keyout server.key -out server.pem -days 2 -subj /CN=own -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE";
    fixture.tool("openssl", &own.split(' ').collect::<Vec<_>>(), b"");
    let web = Web::secure(fixture.dir(), |asked| Served::new("id\n1\n").answer(asked));
    load(&fixture, &web.url("in.csv"), Some("server.pem")).exits(0);
}

#[test]
fn a_redirect_from_http_to_https_is_followed_and_none_back() {
    let fixture = Fixture::new();
    certify(&fixture, "IP:127.0.0.1");
    let web = Web::secure(fixture.dir(), |asked| Served::new("id\n1\n").answer(asked));
    let to = web.url("in.csv");
    let plain = Web::of(move |_| Answer::redirect(&to));
    load(&fixture, &plain.url("in.csv"), Some("authority.pem")).exits(0);
    let to = plain.url("in.csv");
    let back = Web::secure(fixture.dir(), move |_| Answer::redirect(&to));
    let run = load(&fixture, &back.url("in.csv"), Some("authority.pem")).exits(1);
    run.says(&["redirects from https to http, which is not followed"]);
}
