use super::server::{Answer, Form, Served, Web};
use super::{SECRET, large, secret_kept};
use crate::archives::{gzip, saying, tar, zip};
use crate::fixture::{Fixture, finish, rows, start, wait_until};
use crate::sheets::{Cell, Sheet, xlsx};

fn small() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("2024/jan.csv", b"id,n\n1,1\nx,2\n".to_vec()),
        ("2024/feb.csv", b"id,n\n2,1\n".to_vec()),
        ("read.me", b"nothing\n".to_vec()),
    ]
}

fn whole_requests(web: &Web) -> usize {
    web.asked().iter().filter(|asked| asked.range().is_none_or(|range| range.1.is_none())).count()
}

#[test]
fn members_of_an_archive_over_the_network_are_loaded_as_files_are() {
    let fixture = Fixture::new();
    let tgz = gzip(&tar(&small()));
    for (name, bytes) in [("data.zip", zip(&small())), ("data.tar.gz", tgz), ("get", zip(&small()))]
    {
        for (ranges, chunked) in [(true, false), (false, false), (false, true)] {
            let served = Served { ranges, ..Served::new(bytes.clone()) };
            let web = Web::of(move |asked| match chunked {
                true => Answer { form: Form::Chunked, ..Answer::of(200, served.bytes.to_vec()) },
                false => served.answer(asked),
            });
            let url = web.url(name);
            let options = ["t.db", "--type", "id=integer", "--max-rejects", "1", "--if-exists"];
            let run = fixture.load(&[&[url.as_str()], &options[..], &["replace"]].concat());
            run.exits(3);
            let table = if name == "get" { "get" } else { "data" };
            assert_eq!(fixture.table("t.db", table), rows![[1, 1], [2, 1]], "{name} {ranges}");
            let rejects = format!("{table}.2024.jan.rejects.csv");
            assert_eq!(fixture.read(&rejects), b"id,n\nx,2\n", "{name}");
        }
    }
    // One member, by a URL with a secret; in words there is none of it.
    let web = Web::file(Served::new(zip(&small())));
    let one = format!("{}?sig={SECRET}!2024/f*.csv", web.url("data.zip"));
    let run = secret_kept(fixture.inrush(&["load", &one, "one.db", "--json"]).exits(0));
    assert_eq!(run.json()["plan"]["table"], "feb");
    assert!(run.json()["inputs"][0]["file"].as_str().unwrap().ends_with("data.zip!2024/feb.csv"));
    assert_eq!(fixture.table("one.db", "feb"), rows![[2, 1]]);
    let none = format!("{}!2023/*", web.url("data.zip"));
    fixture.refuses(&[&none, "t.db"]).says(&["data.zip is named '2023/*'", "2024/jan.csv"]);
}

#[test]
fn sheets_over_the_network_are_loaded_as_those_on_disk() {
    let fixture = Fixture::new();
    let sheet = |name, value| {
        let rows =
            vec![vec![Cell::Text("id")], vec![Cell::Number(value)], vec![Cell::Error("#N/A")]];
        Sheet { name, rows, merged: &[] }
    };
    let bytes = xlsx(&[sheet("One", 1.0), sheet("Sheet 2", 2.0)], false);
    let in_zip = zip(&[("d/book.xlsx", bytes.clone())]);
    for ranges in [true, false] {
        let web = Web::file(Served { ranges, ..Served::new(bytes.clone()) });
        for (source, table, id) in [
            (web.url("book.xlsx"), "book", 1),
            (format!("{}?a=b!Sheet 2", web.url("book.xlsx")), "Sheet 2", 2),
            // What is there is looked at, for the name does not tell.
            (format!("{}?format=xlsx!Sheet 2", web.url("export")), "Sheet 2", 2),
        ] {
            let run =
                fixture.load(&[&source, "t.db", "--max-rejects", "1", "--if-exists", "replace"]);
            run.exits(3);
            assert_eq!(fixture.table("t.db", table), rows![[id]], "{source}");
        }
    }
    let web = Web::file(Served::new(bytes));
    let run =
        fixture.load(&[&format!("{}?key=S", web.url("export")), "t.db", "--max-rejects", "1"]);
    run.exits(3)
        .prints(&["export has other sheets", "write '!Sheet 2' behind its address, and its query"]);
    let web = Web::file(Served::new(b"id\n1\n".to_vec()));
    let run = fixture.refuses(&[&format!("{}?key=tiger!7", web.url("export")), "t.db"]);
    run.says(&["is no archive and no workbook", "%21"]);
    assert_eq!(fixture.read("book.rejects.csv"), b"id\n#N/A\n");
    assert_eq!(fixture.read("book.Sheet 2.rejects.csv"), b"id\n#N/A\n");
    let web = Web::file(Served::new(in_zip));
    let source = format!("{}!d/book.xlsx!Sheet 2", web.url("in.zip"));
    fixture.load(&[&source, "deep.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.table("deep.db", "Sheet 2"), rows![[2]]);
}

#[test]
fn an_archive_over_the_network_is_fetched_once_whole_and_of_one_version() {
    let fixture = Fixture::new();
    let (a, b) = (large(2_400).into_bytes(), large(2_000).into_bytes());
    let served = Served::new(zip(&[("a.csv", a), ("b.csv", b)]));
    let web = Web::file(served.clone());
    fixture.load(&[&web.url("in.zip"), "t.db"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM \"in\""), 4_400);
    assert_eq!(whole_requests(&web), 1, "{:?}", web.asked());
    // A lost connection is taken up, as that of any file.
    let cut = std::sync::Mutex::new(true);
    let of = served.clone();
    let web = Web::of(move |asked| {
        let answer = of.answer(asked);
        let is_rest = asked.range().is_some_and(|range| range.1.is_none());
        match is_rest && std::mem::take(&mut *cut.lock().unwrap()) {
            true => answer.cut(500_000),
            false => answer,
        }
    });
    fixture.load(&[&web.url("in.zip"), "t.db", "--if-exists", "replace"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM \"in\""), 4_400);
    assert_eq!(whole_requests(&web), 2);
    // Another version, or an end that comes early, is no archive.
    let of = served.clone();
    let web = Web::of(move |asked| match asked.before {
        0 => of.answer(asked),
        _ => Served { etag: Some("\"two\""), ..of.clone() }.answer(asked),
    });
    fixture.refuses(&[&web.url("in.zip"), "new.db"]).says(&["was changed while it was read"]);
    let untagged = Served { etag: None, ..served };
    let web = Web::of(move |asked| {
        Answer { form: Form::Chunked, ..untagged.answer(asked) }.cut(1_500_000)
    });
    fixture.refuses(&[&web.url("in.zip"), "new.db"]).says(&["in.zip", "connection was lost"]);
}

#[test]
fn what_is_wrong_in_an_archive_over_the_network_is_refused_as_on_disk() {
    let fixture = Fixture::new();
    let whole = zip(&small());
    for (bytes, says) in [
        (zip(&[("../a.csv", b"id\n1\n".to_vec())]), "leads out of the archive"),
        (saying(&whole, 4_000_000_000), "--max-expand SIZE"),
        (whole[..whole.len() - 30].to_vec(), "cannot be read as a zip archive"),
    ] {
        let web = Web::file(Served::new(bytes));
        fixture.refuses(&[&web.url("in.zip"), "t.db"]).says(&["in.zip", says]);
    }
}

/// A load in steps goes on in an archive that the server says is the same.
#[test]
fn a_load_in_steps_goes_on_within_an_archive() {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT CHECK (id <> 1000), x REAL)",
    );
    let served = Served::new(zip(&[("a.csv", large(1_200).into_bytes())]));
    let web = Web::file(served.clone());
    let url = web.url("in.zip");
    let steps = ["t.db", "--table", "t", "--guarantee", "chunks", "--commit-rows", "400"];
    let load = |more: &[&str]| fixture.load(&[&[url.as_str()], &steps[..], more].concat());
    load(&[]).exits(1);
    let kept = fixture.number("t.db", "SELECT count(*) FROM t");
    assert!((400..1_000).contains(&kept), "{kept}");
    load(&["--resume", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 1_199);
}

/// The copy has no name from its first byte on: whoever ends the load, nothing has to be swept.
#[test]
fn nothing_is_left_of_an_archive_however_its_load_ends() {
    let fixture = Fixture::new();
    let served = Served::new(zip(&[("a.csv", large(2_400).into_bytes())]));
    for (signal, code) in [("INT", Some(130)), ("KILL", None)] {
        let served = served.clone();
        let web = Web::of(move |asked| match asked.before {
            0 => served.answer(asked),
            _ => Answer { cut: Some(600_000), stall: true, ..served.answer(asked) },
        });
        std::fs::create_dir_all(fixture.path("tmp")).unwrap();
        let mut command = fixture.command(&["load", &web.url("in.zip"), "t.db"]);
        let load = start(command.env("TMPDIR", fixture.path("tmp")));
        wait_until("it fetches the rest", || web.asked().len() > 1);
        crate::crash::signal(&load, signal);
        let (status, _, stderr) = finish(load, b"");
        assert_eq!(status.code(), code, "{}", String::from_utf8_lossy(&stderr));
        assert_eq!(std::fs::read_dir(fixture.path("tmp")).unwrap().count(), 0);
        assert_eq!(fixture.names(), ["tmp"]);
    }
}

#[test]
fn an_archive_that_can_not_be_copied_says_where_room_is_wanted() {
    let fixture = Fixture::new();
    let load = |web: &Web, folder: &str| {
        let mut command = fixture.command(&["load", &web.url("in.zip"), "t.db"]);
        let run = finish(start(command.env("TMPDIR", fixture.path(folder))), b"");
        crate::fixture::Outcome::of("load".to_owned(), run).exits(1)
    };
    let web = Web::file(Served::new(zip(&small())));
    load(&web, "none").says(&["has to be copied to be read", "TMPDIR=FOLDER"]);
    // One that would take more than there is isn't begun.
    let served = Served::new(zip(&[("a.csv", large(2_400).into_bytes())]));
    let web = Web::of(move |asked| {
        let mut answer = served.answer(asked);
        let range = &mut answer.headers[1].1;
        *range = format!("{}/{}", range.split('/').next().unwrap(), 1u64 << 60);
        answer
    });
    std::fs::create_dir_all(fixture.path("tmp")).unwrap();
    load(&web, "tmp").says(&["in.zip has to be copied", "it takes ", " are free"]);
    assert_eq!(web.asked().len(), 1);
}
