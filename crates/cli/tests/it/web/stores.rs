use super::SECRET;
use super::server::{Answer, Asked, Served, Web, silent_port};
use crate::fixture::{Fixture, Outcome};

/// S3 with these objects, each of two rows.
fn s3(keys: &'static [&'static str]) -> Web {
    Web::of(move |asked: &Asked| {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        let Some(key) = path.strip_prefix("/bucket").map(|key| key.trim_start_matches('/')) else {
            let page =
                "<Error><Code>NoSuchBucket</Code><Message>The bucket is none</Message></Error>";
            return Answer::of(404, page);
        };
        if query.contains("list-type=2") {
            return Answer::of(200, listing(keys, query));
        }
        match keys.contains(&key) {
            true => Served::new("id\n1\n2\n").answer(asked).with("Last-Modified", MOMENT),
            false => Answer::of(404, "<Error><Code>NoSuchKey</Code></Error>"),
        }
    })
}

const MOMENT: &str = "Wed, 01 Jan 2025 00:00:00 GMT";

fn listing(keys: &[&str], query: &str) -> String {
    let of = |name: &str| {
        let value = query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap_or("");
        value.replace("%2F", "/")
    };
    let (prefix, is_flat) = (of("prefix="), of("delimiter=") == "/");
    let (mut objects, mut folders) = (String::new(), Vec::new());
    for key in keys {
        let Some(own) = key.strip_prefix(prefix.as_str()) else { continue };
        match own.split_once('/').filter(|_| is_flat) {
            Some((folder, _)) => folders.push(format!(
                "<CommonPrefixes><Prefix>{prefix}{folder}/</Prefix></CommonPrefixes>"
            )),
            None => {
                objects += &format!(
                    "<Contents><Key>{key}</Key><LastModified>2025-01-01T00:00:00.000Z</LastModified>\
                 <ETag>\"one\"</ETag><Size>7</Size></Contents>"
                )
            }
        }
    }
    folders.dedup();
    format!("<ListBucketResult>{objects}{}</ListBucketResult>", folders.concat())
}

fn with(fixture: &Fixture, args: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let mut command = fixture.command(args);
    command.envs(environment.iter().copied());
    let done = command.output().unwrap();
    Outcome::of(format!("inrush {}", args.join(" ")), (done.status, done.stdout, done.stderr))
}

fn environment(url: &str) -> Vec<(&str, &str)> {
    vec![
        ("AWS_ACCESS_KEY_ID", "ann"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", url),
        ("AWS_ALLOW_HTTP", "true"),
    ]
}

#[track_caller]
fn loads(fixture: &Fixture, web: &Web, source: &str) -> Outcome {
    let url = web.url("");
    let url = url.trim_end_matches('/');
    with(fixture, &["load", source, "t.db", "--if-exists", "replace"], &environment(url)).exits(0)
}

#[test]
fn an_object_whose_name_cannot_be_asked_for_is_left_out_of_listings() {
    let fixture = Fixture::new();
    let web = s3(&["odd//dbl.csv", "odd/a.csv", "odd/b/c.csv", "odd/b/", "/odd.csv", "top.csv"]);
    let note = "left out, for the name has an empty part between slashes";
    for (source, rows, is_noted) in [
        // Where it would match it is named, and elsewhere it is no matter.
        ("s3://bucket/odd/**", 4, true),
        ("s3://bucket/odd/**/*.csv", 4, true),
        ("s3://bucket/odd", 2, false),
        ("s3://bucket/odd/*.csv", 2, false),
        ("s3://bucket/*.csv", 2, false),
        ("s3://bucket/odd/b/*", 2, false),
        ("S3://bucket/odd/a.csv", 2, false),
    ] {
        let run = loads(&fixture, &web, source);
        assert!(run.stdout.contains(&format!("{rows} rows loaded")), "{run:?}");
        assert_eq!(run.stdout.contains(note), is_noted, "{run:?}");
        assert_eq!(run.stdout.contains("s3://bucket/odd//dbl.csv"), is_noted, "{run:?}");
    }
    // The folder names the table, in whatever case its scheme is.
    loads(&fixture, &web, "S3://bucket/odd").prints(&[" odd in t.db"]);
    let web = s3(&["odd//dbl.csv"]);
    let url = web.url("");
    let variables = environment(url.trim_end_matches('/'));
    for (source, words) in [
        (
            "s3://bucket/odd/**",
            "there is nothing in s3://bucket/odd/ but s3://bucket/odd//dbl.csv, whose name",
        ),
        ("s3://bucket/odd//dbl.csv", "the name of s3://bucket/odd//dbl.csv has"),
        ("s3://bucket//odd.csv", "the name of s3://bucket//odd.csv has"),
    ] {
        let run = with(&fixture, &["load", source, "new.db"], &variables);
        let run = run.says(&[words, "an empty part between slashes"]);
        assert!(!run.stderr.contains("AWS_ACCESS_KEY_ID"), "{run:?}");
    }
}

#[test]
fn what_to_try_is_of_what_went_wrong() {
    let fixture = Fixture::new();
    let web = s3(&["a.csv"]);
    let url = web.url("");
    let variables = environment(url.trim_end_matches('/'));
    for source in ["s3://none/*.csv", "s3://none/x/", "s3://none/a.csv"] {
        let run = with(&fixture, &["load", source, "t.db"], &variables).exits(1);
        let run = run.says(&["404", "The bucket is none", "check the spelling of the bucket"]);
        assert!(!run.stderr.contains("AWS_ACCESS_KEY_ID"), "{run:?}");
    }
    // A store that gives no parts.
    let web = Web::of(|asked| {
        let whole = Served { ranges: false, ..Served::new("id\n1\n") };
        whole.answer(asked).with("Last-Modified", MOMENT)
    });
    let url = web.url("");
    let variables = environment(url.trim_end_matches('/'));
    let run = with(&fixture, &["load", "s3://bucket/a.csv", "t.db"], &variables).exits(1);
    let run = run.says(&["gives no parts of an object", "fetch it"]);
    assert!(!run.stderr.contains("AWS_ACCESS_KEY_ID"), "{run:?}");
}

#[test]
fn a_variable_that_makes_no_sense_is_named_before_anything_is_asked() {
    let fixture = Fixture::new();
    let web = s3(&["a.csv"]);
    let url = web.url("");
    let url = url.trim_end_matches('/');
    let (bare, ended) = (url.replace("http://", ""), format!("{SECRET}\n"));
    for (name, value) in [
        ("AWS_ENDPOINT_URL", bare.as_str()),
        ("AWS_ENDPOINT_URL", ""),
        ("AWS_ENDPOINT_URL_S3", "127.0.0.1:1"),
        ("AWS_SESSION_TOKEN", &ended),
        ("AWS_ACCESS_KEY_ID", &ended),
        ("AWS_SECRET_ACCESS_KEY", &ended),
        ("AWS_REGION", "us-east-1\n"),
        ("AWS_REGION", "us east 1"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "no-such-file"),
    ] {
        let variables = [environment(url), vec![(name, value)]].concat();
        for source in ["s3://bucket/a.csv", "s3://bucket/*.csv"] {
            let run =
                with(&fixture, &["load", source, "t.db"], &variables).says(&["error: ", name]);
            assert!(matches!(run.status.code(), Some(1 | 2)), "{run:?}");
            for word in ["panicked", "interrupted", SECRET] {
                assert!(!run.stderr.contains(word), "{run:?}");
            }
        }
    }
    for (source, name, value) in [
        ("az://c/a.csv", "AZURE_ENDPOINT", "acc.blob.core.windows.net"),
        ("az://c/a.csv", "AZURE_STORAGE_ACCOUNT_NAME", "acc\n"),
        ("gs://c/a.csv", "GOOGLE_APPLICATION_CREDENTIALS", "no-such-file"),
        ("gs://c/a.csv", "GOOGLE_BASE_URL", "localhost:1"),
    ] {
        let variables = [("AZURE_STORAGE_ACCOUNT_NAME", "acc"), (name, value)];
        with(&fixture, &["load", source, "t.db"], &variables).says(&["error: ", name]);
    }
    for source in ["s3://bk t/a.csv", "s3://b%20t/a.csv", "s3://bé/a.csv", "s3://b\n/a.csv"] {
        let run = with(&fixture, &["load", source, "t.db"], &environment(url)).exits(2);
        run.says(&["is no name of a bucket"]);
    }
    assert_eq!(web.asked().len(), 0, "nothing was asked");
    // One that is empty is one that is not set.
    let variables = [environment(url), vec![("AWS_SESSION_TOKEN", "")]].concat();
    with(&fixture, &["load", "s3://bucket/a.csv", "t.db"], &variables).exits(0);
}

#[test]
fn http_is_allowed_in_the_words_that_other_settings_take() {
    let fixture = Fixture::new();
    let web = s3(&["a.csv"]);
    let url = web.url("");
    let url = url.trim_end_matches('/');
    for (value, code) in [("1", 0), ("yes", 0), ("TRUE", 0), ("0", 1), ("no", 1), ("", 1)] {
        let variables = [environment(url), vec![("AWS_ALLOW_HTTP", value)]].concat();
        let args = ["load", "s3://bucket/a.csv", "t.db", "--if-exists", "replace"];
        with(&fixture, &args, &variables).exits(code);
    }
    let silent = format!("http://127.0.0.1:{}", silent_port());
    let run = with(&fixture, &["load", "s3://bucket/a.csv", "t.db"], &environment(&silent));
    run.exits(1).says(&["refuses the connection"]);
}
