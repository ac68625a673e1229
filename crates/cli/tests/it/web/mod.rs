//! Sources over the network: what comes is what the server has, or the load fails and says why.

/// Archives and workbooks: what comes of them is what is on disk.
mod archives;
/// Certificates: who is believed.
mod certificates;
/// Files that change, connections that end, servers that refuse.
mod faults;
/// Who stands between, and what is said of whom.
mod proxies;
/// Where a server may send who asks.
mod redirects;
/// A server that does what a test says.
pub(crate) mod server;
/// Stores of objects: what they list and refuse, and what the environment says of them.
mod stores;

use crate::fixture::{Fixture, Outcome};
use server::{Answer, Asked, Form, Served, Web};

const SECRET: &str = "tiger-7-teeth";

/// With a value that ends a row. Names are long, as loads take the time of rows and not of bytes, and none is like another.
fn large(rows: usize) -> String {
    let mut random = crate::fixture::Random(1);
    let mut row = |id: usize| {
        let name: String = (0..60).map(|_| format!("{:016x}", random.next())).collect();
        format!("{id},name of {id} {name},{}.5\n", id * 3)
    };
    let rows: String = (1..=rows).map(&mut row).collect();
    format!("id,name,x\n{rows}")
}

/// About 3 MB: larger than what is looked at first.
const ROWS: usize = 3_000;

/// Loads the file and the URL, and compares the tables.
#[track_caller]
fn same_by_url(fixture: &Fixture, file: &str, url: &str) {
    fixture.load(&[file, "t.db", "--table", "by_file", "--if-exists", "replace"]).exits(0);
    fixture.load(&[url, "t.db", "--table", "by_url", "--if-exists", "replace"]).exits(0);
    assert!(fixture.table("t.db", "by_file") == fixture.table("t.db", "by_url"), "{url}");
}

#[track_caller]
fn secret_kept(run: Outcome) -> Outcome {
    for output in [&run.stdout, &run.stderr] {
        assert!(!output.contains("tiger") && !output.contains("teeth"), "{run:?}");
    }
    run
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let fixture = Fixture::new();
    fixture.tool("gzip", &["-c"], text)
}

#[test]
fn a_file_of_a_web_server_is_the_one_on_disk() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    fixture.write("in.csv", &text).write("in.csv.gz", gzip(text.as_bytes()));
    fixture.write("small.jsonl", "{\"a\":1}\n{\"a\":2}\n").write("one.csv", "id\n1\n");
    for file in ["in.csv", "in.csv.gz", "small.jsonl", "one.csv"] {
        let table = |source: &str, table| {
            fixture.load(&[source, "t.db", "--table", table, "--if-exists", "replace"]).exits(0);
            fixture.table("t.db", table)
        };
        let by_file = table(file, "by_file");
        for (ranges, etag) in
            [(true, Some("\"one\"")), (true, None), (false, Some("\"one\"")), (false, None)]
        {
            let served = Served { ranges, etag, ..Served::new(fixture.read(file)) };
            let by_url = table(&Web::file(served).url(file), "by_url");
            assert!(by_url == by_file, "{file} {ranges} {etag:?}");
        }
    }
}

#[test]
fn a_file_is_looked_at_by_its_head_and_loaded_by_one_request() {
    let fixture = Fixture::new();
    let served = Served::new(large(ROWS));
    let bytes = served.bytes.len();
    let web = Web::file(served);
    fixture.load(&[&web.url("in.csv"), "t.db"]).exits(0);
    let asked = web.asked();
    // What it is, two samples, all that follows, and whether it is still the same.
    let ranges: Vec<_> = asked.iter().map(|asked| asked.range().expect("a part")).collect();
    assert_eq!(ranges.len(), 5, "{ranges:?}");
    assert_eq!(ranges[0], (0, Some((1 << 20) - 1)));
    assert_eq!(ranges[3], (1 << 20, None));
    assert_eq!(ranges[4], (0, Some(0)));
    assert!(ranges[1..3].iter().all(|range| range.0 < bytes));
    // Parts are of the file that was looked at.
    assert!(asked[1..4].iter().all(|asked| asked.header("if-match") == Some("\"one\"")));
}

#[test]
fn a_small_file_takes_one_request() {
    let fixture = Fixture::new();
    let web = Web::file(Served::new("id\n1\n2\n"));
    let report = fixture.report(&[&web.url("in.csv"), "t.db"]);
    assert_eq!(report["rows_loaded"], 2);
    assert_eq!(web.asked().len(), 1);
}

#[test]
fn a_body_without_length_has_to_end_properly() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    fixture.write("in.csv", &text);
    let served = move |form: Form, cut: Option<usize>| {
        let body = text.clone();
        Web::of(move |_| Answer { form, cut, ..Answer::of(200, body.as_str()) })
    };
    same_by_url(&fixture, "in.csv", &served(Form::Chunked, None).url("in.csv"));
    for cut in [0, 100_000, 2_000_000] {
        let web = served(Form::Chunked, Some(cut));
        fixture.refuses(&[&web.url("in.csv"), "new.db"]).says(&["connection was lost"]);
    }
    let web = served(Form::Bare, None);
    fixture
        .refuses(&[&web.url("in.csv"), "new.db"])
        .says(&["neither how long the file is nor where it ends", "curl"]);
}

#[test]
fn secrets_of_a_url_are_in_no_output() {
    let fixture = Fixture::new();
    let bad = format!("{}x,y,z\n", large(10));
    let web = Web::of(move |asked: &Asked| {
        let pair = "Basic YW5uOnRpZ2VyLTctdGVldGg=";
        match asked.header("authorization") == Some(pair) && asked.path.ends_with(SECRET) {
            true => Served::new(bad.as_str()).answer(asked),
            false => Answer::of(401, "no"),
        }
    });
    let url = web.url(&format!("orders.csv?token={SECRET}"));
    let url = url.replacen("http://", &format!("http://ann:{SECRET}@"), 1);
    for options in [&["--json"][..], &["-v"], &["--progress", "plain"], &["--progress", "json"]] {
        let options = [options, &["--type", "id=integer", "--if-exists", "replace"]].concat();
        for command in ["load", "plan", "check"] {
            let target: &[&str] = if command == "check" { &[] } else { &["t.db"] };
            let args = [&[command, &url], target, &options, &[]].concat();
            let args: Vec<&str> = args
                .into_iter()
                .filter(|arg| command != "check" || *arg != "replace" && *arg != "--if-exists")
                .collect();
            let run = secret_kept(fixture.inrush(&args));
            assert!(!run.stderr.contains("wants a user"), "{run:?}");
        }
    }
    let load = [
        "load",
        &url,
        "t.db",
        "--max-rejects",
        "1",
        "--type",
        "id=integer",
        "--if-exists",
        "replace",
    ];
    secret_kept(fixture.inrush(&load)).exits(3);
    for name in fixture.names() {
        let bytes = fixture.read(&name);
        assert!(!name.contains("tiger"), "{name}");
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{name}");
    }
    // The server has another file, or none.
    let wrong = url.replace("orders", "others");
    let down = format!("http://ann:{SECRET}@127.0.0.1:{}/a.csv?{SECRET}", server::silent_port());
    let odd = format!("http://ann:{SECRET}@exa mple/a.csv?{SECRET}");
    for url in [wrong.replace("token", "x"), format!("{url}x"), down, odd] {
        secret_kept(fixture.load(&[&url, "new.db"]));
    }
}

#[test]
fn bad_rows_go_to_the_current_directory_by_the_last_part_of_the_name() {
    let fixture = Fixture::new();
    let web = Web::file(Served::new("id,name\n1,a\nx,b\n"));
    let url = web.url("2024/orders.csv?x=1");
    let options = ["--type", "id=integer", "--max-rejects", "1", "--json"];
    let report = fixture.load(&[&[url.as_str(), "t.db"], &options[..]].concat()).exits(3).json();
    assert_eq!(report["rows_rejected"], 1);
    assert_eq!(fixture.read("orders.rejects.csv"), b"id,name\nx,b\n");
    assert_eq!(fixture.table("t.db", "orders").len(), 1);
}

#[test]
fn a_url_is_planned_and_checked_as_a_file_is() {
    let fixture = Fixture::new();
    let web = Web::file(Served::new(large(ROWS)));
    let url = web.url("in.csv");
    let plan = fixture.inrush(&["plan", &url, "t.db", "--json"]).exits(0).json();
    assert_eq!(plan["columns"][0]["type"], "integer");
    let report = fixture.inrush(&["check", &url, "--json"]).exits(0).json();
    assert_eq!(report["rows_read"], ROWS);
    assert_eq!(fixture.names(), [""; 0], "nothing is made");
}

#[test]
fn urls_may_stand_in_a_list_beside_files() {
    let fixture = Fixture::new();
    let web = Web::of(|asked| match asked.path.as_str() {
        "/a.csv" => Served::new("id\n1\n").answer(asked),
        "/b.csv" => Served::new("id\n2\n").answer(asked),
        _ => Answer::of(404, ""),
    });
    fixture.write("c.csv", "id\n3\n");
    fixture.write("list.txt", format!("{}\n{}\n{0}\nc.csv\n", web.url("a.csv"), web.url("b.csv")));
    let run = fixture.load(&["@list.txt", "t.db", "--table", "t"]).exits(0);
    run.prints(&["named more than once, and loaded once"]);
    assert_eq!(fixture.number("t.db", "SELECT sum(id) FROM t"), 6);
    let missing = fixture.refuses(&[&web.url("a.csv"), &web.url("d.csv"), "t.db"]);
    missing.says(&["/d.csv: the server has no such file (404 Not Found)"]);
}

#[test]
fn a_load_in_steps_goes_on_where_the_server_says_that_the_file_is_the_same() {
    let fixture = Fixture::new();
    let text = format!("{}x,late,1\n", large(200));
    let served = Served::new(text);
    let web = Web::file(served.clone());
    let steps = [
        "--guarantee",
        "chunks",
        "--commit-rows",
        "50",
        "--chunk-size",
        "8k",
        "--type",
        "id=integer",
    ];
    let url = web.url("in.csv");
    fixture.load(&[&[url.as_str(), "t.db"], &steps[..]].concat()).exits(1).says(&["--resume"]);
    assert!(fixture.number("t.db", "SELECT count(*) FROM \"in\"") >= 50);
    let go_on = [&[url.as_str(), "t.db", "--resume", "--max-rejects", "1"], &steps[..]].concat();
    fixture.load(&go_on).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(DISTINCT id) FROM \"in\""), 200);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM \"in\""), 200);
    // Another version of it, and one of which nothing is known.
    let changes = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let changed = std::sync::Arc::clone(&changes);
    let web = Web::of(move |asked| {
        let etag =
            if changed.load(std::sync::atomic::Ordering::Relaxed) { "\"two\"" } else { "\"one\"" };
        Served { etag: Some(etag), ..served.clone() }.answer(asked)
    });
    let url = web.url("in.csv");
    fixture.load(&[&[url.as_str(), "u.db"], &steps[..]].concat()).exits(1);
    changes.store(true, std::sync::atomic::Ordering::Relaxed);
    let go_on = [&[url.as_str(), "u.db", "--resume", "--max-rejects", "1"], &steps[..]].concat();
    fixture.load(&go_on).exits(1).says(&["has changed since the load was begun", "another ETag"]);
    let web = Web::file(Served { etag: None, ..Served::new("id\n1\n") });
    let run = fixture.load(&[&[web.url("in.csv").as_str(), "v.db"], &steps[..4]].concat());
    run.exits(2).says(&["no ETag"]);
}

#[test]
fn the_size_is_the_one_that_the_server_says() {
    let fixture = Fixture::new();
    let served = Served::new(large(ROWS));
    let bytes = served.bytes.len();
    // What is said to be of so many bytes has so many left as a load goes on.
    let report = fixture.report(&[&Web::file(served.clone()).url("in.csv"), "t.db"]);
    assert_eq!(report["inputs"][0]["bytes"], bytes);
    let chunked =
        Web::of(move |_| Answer { form: Form::Chunked, ..Answer::of(200, served.bytes.to_vec()) });
    let report = fixture.report(&[&chunked.url("in.csv"), "u.db"]);
    assert!(report["inputs"][0]["bytes"].is_null());
}

#[test]
#[cfg(feature = "parquet")]
fn a_parquet_file_is_read_by_ranges_and_one_without_them_by_a_copy() {
    let fixture = Fixture::new();
    fixture.write("in.csv", large(ROWS));
    fixture.load(&["in.csv", "parquet:in.parquet"]).exits(0);
    let served = Served::new(fixture.read("in.parquet"));
    let bytes = served.bytes.len();
    let web = Web::file(served.clone());
    same_by_url(&fixture, "in.parquet", &web.url("in.parquet"));
    let asked: usize = web
        .asked()
        .iter()
        .map(|asked| {
            let (from, to) = asked.range().expect("a part");
            to.expect("an end").min(bytes - 1) + 1 - from
        })
        .sum();
    assert!(asked < 2 * bytes + (1 << 20), "{asked} of {bytes}");
    let web = Web::file(Served { ranges: false, ..served.clone() });
    same_by_url(&fixture, "in.parquet", &web.url("in.parquet"));
    let web = Web::of(move |asked| {
        Answer { form: Form::Chunked, ..Answer::of(200, served.bytes[..].to_vec()) }
            .with("X", &asked.path)
    });
    same_by_url(&fixture, "in.parquet", &web.url("in.parquet"));
}

#[test]
fn a_load_of_a_silent_server_can_be_stopped() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    for silent_from in [0, 3] {
        let served = Served::new(text.as_str());
        let web = Web::of(move |asked| match asked.before >= silent_from {
            true => Answer { cut: Some(10), stall: true, ..served.answer(asked) },
            false => served.answer(asked),
        });
        let load =
            crate::fixture::start(&mut fixture.command(&["load", &web.url("in.csv"), "t.db"]));
        crate::fixture::wait_until("it asks", || web.asked().len() > silent_from);
        let began = std::time::Instant::now();
        crate::crash::signal(&load, "INT");
        let (status, _, stderr) = crate::fixture::finish(load, b"");
        assert_eq!(status.code(), Some(130), "{}", String::from_utf8_lossy(&stderr));
        assert!(began.elapsed().as_secs() < 20, "who waits for a server is not asked");
        assert_eq!(fixture.names(), [""; 0]);
    }
}

#[test]
fn a_query_is_in_no_command_and_in_no_file_of_settings() {
    let fixture = Fixture::new();
    let members =
        [("2024/a.csv", b"n;v\n1;1,5\n2;2,5\n".to_vec()), ("b.csv", b"n;v\n3;3,5\n".to_vec())];
    let web = Web::file(Served::new(crate::archives::zip(&members)));
    let url = web.url(&format!("z.zip?token={SECRET}!2024/?.csv"));
    // The command that reads values otherwise.
    let run = secret_kept(fixture.inrush(&["plan", &url, "t.db", "--table", "t"]).exits(0));
    run.prints(&["z.zip?...!2024/?.csv", "--decimal"]);
    // Settings without a source load nothing but what is named.
    let plan = ["plan", &url, "t.db", "--table", "t", "--as-config"];
    let run = secret_kept(fixture.inrush(&plan).exits(0));
    let run = run.prints(&["# no source: ", "z.zip?...!2024/?.csv"]);
    fixture.write("made.toml", &run.stdout);
    fixture.misused(&["load", "--config", "made.toml"]);
    fixture.inrush(&["load", &url, "--config", "made.toml"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
    // One without a query keeps all of it.
    let url = web.url("z.zip!2024/?.csv");
    let run = fixture.inrush(&["plan", &url, "u.db", "--as-config"]).exits(0);
    assert!(!run.stdout.contains('#'), "{}", run.stdout);
    fixture.write("made.toml", &run.stdout);
    fixture.inrush(&["load", "--config", "made.toml", "--table", "t"]).exits(0);
    assert_eq!(fixture.number("u.db", "SELECT count(*) FROM t"), 2);
}

#[test]
fn a_query_behind_the_member_is_refused_and_not_shown() {
    let fixture = Fixture::new();
    let web = Web::file(Served::new(crate::archives::zip(&[("2024/a.csv", b"id\n1\n".to_vec())])));
    for member in ["2024/*.csv?tok=", "2024/*.csv?", "2024/*?X-Amz-Signature="] {
        for archive in ["z.zip", "z.zip?x=1"] {
            let url = format!("{}!{member}{SECRET}", web.url(archive));
            for command in ["load", "plan"] {
                let run = secret_kept(fixture.misused(&[command, &url, "t.db"]));
                run.says(&["a query stands behind the '!'", "z.zip", "?QUERY!MEMBER"]);
            }
            secret_kept(fixture.inrush(&["plan", &url, "t.db", "--as-config"]));
        }
    }
    assert_eq!(web.asked().len(), 0);
    fixture.load(&[&web.url("z.zip!2024/?.csv"), "t.db"]).exits(0);
}

#[test]
fn the_encoding_that_a_server_names_is_advised() {
    let fixture = Fixture::new();
    let sent = |text: &'static [u8], sort: &'static str| {
        let served = Served::new(text);
        Web::of(move |asked| served.answer(asked).with("Content-Type", sort))
    };
    let text = b"id,name\n1,M\xf6\xdf\xe4\n";
    for (sort, wanted) in [
        (
            "text/csv; charset=iso-8859-1",
            "its server says that it is in iso-8859-1: --encoding iso-8859-1",
        ),
        ("text/csv;charset=\"ISO-8859-15\"", "--encoding iso-8859-15 reads that"),
        // What it isn't, and what nothing is.
        ("text/csv; charset=utf-8", "such as windows-1251"),
        ("text/csv; charset=x-mine", "such as windows-1251"),
        ("text/csv", "such as windows-1251"),
    ] {
        let web = sent(text, sort);
        fixture.refuses(&[&web.url("a.csv"), "t.db"]).says(&[wanted]);
        fixture.inrush(&["plan", &web.url("a.csv"), "t.db"]).exits(0).prints(&[wanted]);
    }
    // Of the names as of values; what is UTF-8 is that, whatever is said.
    let web = sent(b"id,gr\xf6\xdfe\n1,2\n", "text/csv; charset=iso-8859-1");
    let run = fixture.refuses(&[&web.url("a.csv"), "t.db", "--header", "yes"]);
    run.says(&["--encoding iso-8859-1 reads that"]);
    let web = sent("id,name\n1,Mö\n".as_bytes(), "text/csv; charset=iso-8859-1");
    let run = fixture.load(&[&web.url("a.csv"), "t.db"]).exits(0);
    assert!(!run.stderr.contains("iso-8859-1"), "{run:?}");
}

#[test]
fn what_is_sent_packed_and_is_no_text_is_refused_as_that() {
    let fixture = Fixture::new();
    let packed = |bytes: &[u8]| Served::new(gzip(bytes));
    let sent = |served: Served, coding: &'static str| {
        Web::of(move |asked| served.answer(asked).with("Content-Encoding", coding))
    };
    let text = b"id\n1\n2\n";
    fixture.load(&[&sent(packed(text), "gzip").url("a.csv"), "t.db"]).exits(0);
    for (name, bytes) in
        [("a.csv.gz", gzip(text)), ("a.parquet", b"PAR1\0 and so on PAR1".to_vec())]
    {
        let run = fixture.refuses(&[&sent(packed(&bytes), "gzip").url(name), "new.db"]);
        run.says(&[name, "is sent packed (Content-Encoding: gzip)", "curl --compressed"]);
        let run = fixture.refuses(&[&sent(packed(&bytes), "identity").url(name), "new.db"]);
        assert!(!run.stderr.contains("is sent packed"), "{run:?}");
    }
    // In ways that are not known here; and a server may say so of what it has not packed.
    let deflated = b"x\x9c\xcbL\xe12\xe42\xe2\x02\0\n\x8e\x02\x0b";
    for coding in ["deflate", "br"] {
        let run = fixture.refuses(&[&sent(Served::new(deflated), coding).url("a.csv"), "new.db"]);
        run.says(&[&format!("is sent packed (Content-Encoding: {coding})"), "curl --compressed"]);
        let plain = sent(Served::new("id\n1\n"), coding);
        fixture.load(&[&plain.url("a.csv"), "t.db", "--if-exists", "replace"]).exits(0);
    }
}

#[test]
fn an_archive_within_an_archive_is_refused_as_that() {
    let fixture = Fixture::new();
    let inner = crate::archives::zip(&[("2024/a.csv", b"id\n1\n".to_vec())]);
    let outer = crate::archives::zip(&[("nested.zip", inner)]);
    fixture.write("names.zip", &outer);
    let web = Web::file(Served::new(outer));
    for archive in ["names.zip".to_owned(), web.url("names.zip")] {
        let run = fixture.refuses(&[&format!("{archive}!nested.zip!2024/a.csv"), "t.db"]);
        run.says(&["nested.zip is an archive within an archive", "unpack"]);
    }
}

#[test]
fn a_slow_answer_is_waited_for_in_every_pass() {
    let fixture = Fixture::new();
    let served = |text: String| {
        let served = Served::new(text);
        Web::of(move |asked| {
            std::thread::sleep(std::time::Duration::from_millis(200));
            served.answer(asked)
        })
    };
    // All of it is looked at before the first step, and by a check.
    let web = served(large(ROWS));
    let steps = ["t.db", "--table", "steps", "--guarantee", "chunks"];
    fixture.load(&[&[web.url("in.csv").as_str()], &steps[..]].concat()).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM steps"), ROWS as i64);
    fixture.inrush(&["check", &web.url("in.csv")]).exits(0);
    // A value that disproves a type undoes a load, and has all values looked at before the next one.
    let mut text = large(ROWS);
    let at = text.match_indices('\n').nth(ROWS * 2 / 3).unwrap().0;
    text.insert_str(at, "\nlate,late,1.5");
    let web = served(text);
    fixture.load(&[&web.url("in.csv"), "t.db", "--table", "late"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM late"), ROWS as i64 + 1);
}
