use super::server::{Answer, Form, Served, Web, silent_port};
use super::{ROWS, large, same_by_url};
use crate::fixture::Fixture;

/// A server that cuts answers which are longer than a part: every one, or so many.
fn cutting(served: Served, times: usize) -> Web {
    let left = std::sync::Mutex::new(times);
    Web::of(move |asked| {
        let answer = served.answer(asked);
        let mut left = left.lock().unwrap();
        if *left == 0 || answer.body.len() <= 1 << 20 {
            return answer;
        }
        *left -= 1;
        let half = answer.body.len() / 2;
        answer.cut(half)
    })
}

#[test]
fn a_lost_connection_is_taken_up_behind_what_has_come() {
    let fixture = Fixture::new();
    let text = large(ROWS * 2);
    fixture.write("in.csv", &text);
    let web = cutting(Served::new(text.as_str()), 2);
    same_by_url(&fixture, "in.csv", &web.url("in.csv"));
    let open_ends: Vec<usize> = web
        .asked()
        .iter()
        .filter_map(|asked| asked.range().filter(|range| range.1.is_none()))
        .map(|range| range.0)
        .collect();
    assert_eq!(open_ends.len(), 3, "{open_ends:?}");
    assert!(open_ends[0] < open_ends[1] && open_ends[1] < open_ends[2], "{open_ends:?}");
}

#[test]
fn a_first_answer_that_is_cut_is_taken_up_as_well() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    fixture.write("in.csv", &text).write("in.csv.gz", super::gzip(text.as_bytes()));
    for file in ["in.csv", "in.csv.gz"] {
        let served = Served::new(fixture.read(file));
        let web = Web::of(move |asked| served.answer(asked).cut(300_000));
        same_by_url(&fixture, file, &web.url(file));
        let starts = web
            .asked()
            .iter()
            .filter(|asked| asked.range() == Some((0, Some((1 << 20) - 1))))
            .count();
        assert_eq!(starts, 1, "what has come is not asked for again");
    }
}

#[test]
fn a_lost_connection_is_an_error_where_no_etag_tells_what_the_rest_is_of() {
    let fixture = Fixture::new();
    for (etag, ranges) in [(None, true), (Some("W/\"weak\""), true), (Some("\"one\""), false)] {
        let web = cutting(Served { etag, ranges, ..Served::new(large(ROWS)) }, usize::MAX);
        let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
        run.says(&["connection was lost", "gives no ETag or no parts", "behind byte "]);
    }
}

#[test]
#[ignore = "waits for half a minute"]
fn a_connection_that_is_lost_again_and_again_ends_the_load() {
    let fixture = Fixture::new();
    let served = Served::new(large(ROWS));
    // Nothing comes any more once the head was there.
    let web = Web::of(move |asked| {
        let answer = served.answer(asked);
        if asked.range().is_some_and(|range| range.1.is_none()) { answer.cut(0) } else { answer }
    });
    let began = std::time::Instant::now();
    let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
    run.says(&["connection was lost", "requests)"]);
    assert!(began.elapsed().as_secs() >= 15, "it was asked again for a while");
}

#[test]
fn another_etag_in_the_middle_ends_the_load() {
    let fixture = Fixture::new();
    let served = Served::new(large(ROWS));
    // Before the rest is asked for, while it comes, and at its end; with a server that heeds If-Match, and with one that doesn't.
    for heeds in [true, false] {
        for last_of_first in [1, 3, 4] {
            let served = served.clone();
            let web = Web::of(move |asked| {
                let second = Served { etag: Some("\"two\""), ..served.clone() };
                match asked.before < last_of_first {
                    true => served.answer(asked),
                    false if heeds => second.answer(asked),
                    false => {
                        let mut answer = served.answer(asked);
                        answer.headers[0].1 = "\"two\"".to_owned();
                        answer
                    }
                }
            });
            let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
            run.says(&["was changed while it was read", "load it again"]);
        }
    }
}

#[test]
fn a_file_of_another_size_in_the_middle_ends_the_load() {
    let fixture = Fixture::new();
    let first = Served { etag: None, ranges: false, ..Served::new(large(ROWS)) };
    let second = Served { etag: None, ranges: false, ..Served::new(large(ROWS + 1)) };
    let web = Web::of(
        move |asked| {
            if asked.before == 0 { first.answer(asked) } else { second.answer(asked) }
        },
    );
    let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
    run.says(&["was changed while it was read: it had ", " bytes, and has "]);
}

#[test]
fn fewer_bytes_than_were_promised_end_the_load() {
    let fixture = Fixture::new();
    let text = "id,name\n1,a\n2,b\n";
    // Within what is looked at first, by a server that always stops short.
    let web = Web::of(move |asked| {
        let untagged = Served { etag: None, ..Served::new(text) };
        untagged.answer(asked).cut(10)
    });
    fixture.refuses(&[&web.url("in.csv"), "t.db"]).says(&[
        "in.csv",
        "connection was lost",
        "4 requests",
    ]);
    // More is said to follow than comes, and the connection stays.
    let web = Web::of(move |_| {
        let range = format!("bytes 0-{}/{}", text.len() - 1, text.len() + 5);
        Answer::of(206, text).with("Content-Range", &range).with("ETag", "\"one\"")
    });
    fixture.refuses(&[&web.url("in.csv"), "t.db"]).says(&["in.csv"]);
}

/// Each of its parts is whole: that is no trouble of which it may have only so much.
#[test]
fn a_server_may_give_shorter_parts_than_it_is_asked_for() {
    let fixture = Fixture::new();
    let text = large(100);
    fixture.write("in.csv", &text);
    let web = Web::of(move |asked| {
        let (from, last) = asked.range().unwrap_or_default();
        let end = last.map_or(text.len(), |last| last + 1).min(from + 1_000).min(text.len());
        let range = format!("bytes {from}-{}/{}", end - 1, text.len());
        let part = Answer::of(206, &text[from..end]);
        part.with("Content-Range", &range).with("ETag", "\"one\"")
    });
    same_by_url(&fixture, "in.csv", &web.url("in.csv"));
}

#[test]
fn a_part_of_a_file_of_unknown_length_is_not_taken_for_all_of_it() {
    let fixture = Fixture::new();
    let text = large(120);
    fixture.write("in.csv", &text);
    // Shorter parts than it is asked for, and the file where no part is wanted.
    let part = |text: &str| {
        let end = text.len().min(20_000);
        let range = format!("bytes 0-{}/*", end - 1);
        Answer::of(206, &text[..end]).with("Content-Range", &range)
    };
    for etag in ["\"one\"", "W/\"weak\""] {
        let text = text.clone();
        let web = Web::of(move |asked| {
            let answer = match asked.range() {
                Some(_) => part(&text),
                None => Answer::of(200, text.as_str()),
            };
            answer.with("ETag", etag)
        });
        same_by_url(&fixture, "in.csv", &web.url("in.csv"));
    }
    let web = Web::of(move |_| part(&text));
    let run = fixture.refuses(&[&web.url("in.csv"), "new.db"]);
    run.says(&["gives a part of the file where all of it was asked for", "curl"]);
}

#[test]
fn a_file_that_begins_otherwise_at_another_request_ends_the_load() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    // Of the same length, so that its first bytes alone tell.
    let other = text.replacen("id,name,x", "x,name,id", 1);
    for (etag, form) in [(None, Form::Length), (Some("W/\"weak\""), Form::Chunked)] {
        let texts = [text.clone(), other.clone()];
        let web = Web::of(move |asked| {
            let answer = Answer::of(200, texts[asked.before.min(1)].as_str());
            let answer = Answer { form, ..answer };
            etag.map_or(answer.clone(), |etag| answer.with("ETag", etag))
        });
        let run = fixture.refuses(&[&web.url("in.csv"), "new.db"]);
        run.says(&["its first bytes are others than before", "fetch it with curl"]);
    }
}

#[test]
fn a_server_that_refuses_any_part_is_asked_for_the_file() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    fixture.write("in.csv", &text);
    let refusing = |text: String| {
        Web::of(move |asked| match asked.range() {
            Some(_) => Answer::of(416, ""),
            None => Answer::of(200, text.as_str()),
        })
    };
    same_by_url(&fixture, "in.csv", &refusing(text).url("in.csv"));
    let empty = ["is empty: no header, no rows"];
    fixture.refuses(&[&refusing(String::new()).url("in.csv"), "new.db"]).says(&empty);
    fixture.refuses(&[&Web::file(Served::new("")).url("in.csv"), "new.db"]).says(&empty);
    let web = Web::of(|_| Answer::of(416, ""));
    let run = fixture.refuses(&[&web.url("in.csv"), "new.db"]);
    run.says(&["does not give the file (416 "]);
}

#[test]
fn what_a_server_answers_instead_of_the_file_is_said() {
    let fixture = Fixture::new();
    for (status, words) in [
        (401, "wants a user name and a password"),
        (403, "refuses the file (403 Forbidden)"),
        (404, "has no such file (404 Not Found)"),
        (418, "does not give the file"),
        (501, "does not do what giving the file takes"),
    ] {
        let web = Web::of(move |_| Answer::of(status, "<html>no</html>"));
        let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
        run.says(&[&web.url("in.csv"), words, "try: "]);
        assert_eq!(web.asked().len(), 1, "{status} is asked for once");
    }
    let web = Web::of(|_| Answer::of(500, "oops"));
    let run = fixture.refuses(&[&web.url("in.csv"), "t.db"]);
    run.says(&[
        "cannot give the file now (500 Internal Server Error) (4 requests)",
        "try again later",
    ]);
    let port = silent_port();
    let run = fixture.refuses(&[&format!("http://127.0.0.1:{port}/in.csv"), "t.db"]);
    run.says(&["refuses the connection"]);
    let run = fixture.refuses(&["http://no-such-host.invalid/in.csv", "t.db"]);
    run.says(&["the name no-such-host.invalid is not known"]);
}

#[test]
fn a_server_that_recovers_is_asked_again() {
    let fixture = Fixture::new();
    let text = large(ROWS);
    fixture.write("in.csv", &text);
    // At the first request, and where the rest is asked for.
    for fails_at in [0, 3] {
        let served = Served::new(text.as_str());
        let web = Web::of(move |asked| match asked.before {
            at if at == fails_at => Answer::of(503, "busy").with("Retry-After", "1"),
            at if at == fails_at + 1 => Answer::of(500, "busy"),
            _ => served.answer(asked),
        });
        same_by_url(&fixture, "in.csv", &web.url("in.csv"));
    }
}

#[test]
fn a_web_page_instead_of_the_file_is_refused() {
    let fixture = Fixture::new();
    let page = "<!DOCTYPE html>\n<html><body>Log in, please</body></html>\n";
    let web =
        Web::of(move |_| Answer::of(200, page).with("Content-Type", "text/html; charset=utf-8"));
    for options in [&[][..], &["--format", "csv"]] {
        let run = fixture.refuses(&[&[web.url("in.csv").as_str(), "t.db"], options].concat());
        run.says(&["gives a web page, and not a file", "login"]);
    }
    // Where the server says nothing of it, the content does.
    let web = Web::of(move |_| Answer::of(200, page));
    fixture.refuses(&[&web.url("in.csv"), "t.db"]).says(&["looks like an HTML page"]);
    // A server may say it of any file.
    let web = Web::of(move |_| Answer::of(200, "id\n1\n").with("Content-Type", "text/html"));
    fixture.load(&[&web.url("in.csv"), "t.db"]).exits(0);
}

#[test]
#[cfg(feature = "parquet")]
fn a_parquet_file_that_changes_or_ends_is_refused() {
    let fixture = Fixture::new();
    fixture.write("in.csv", large(ROWS));
    fixture.load(&["in.csv", "parquet:in.parquet"]).exits(0);
    let served = Served::new(fixture.read("in.parquet"));
    for after in [1, 2, 3] {
        let served = served.clone();
        let web = Web::of(move |asked| match asked.before < after {
            true => served.answer(asked),
            false => Served { etag: Some("\"two\""), ..served.clone() }.answer(asked),
        });
        if fixture
            .load(&[&web.url("in.parquet"), "t.db", "--if-exists", "replace"])
            .status
            .success()
        {
            assert!(web.asked().len() <= after, "other parts were taken for those of the file");
        }
    }
    let half = Served::new(&served.bytes[..served.bytes.len() / 2]);
    fixture.load(&[&Web::file(half).url("in.parquet"), "new.db"]).exits(1).says(&["in.parquet"]);
}
