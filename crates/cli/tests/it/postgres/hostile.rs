use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use crate::fixture::{Outcome, PATIENCE, size, start, thorough};

use super::proxy::{Act, Proxy, Trick, said};
use super::server::{Server, for_each_server};

/// A load that was lied to.
struct Lied {
    run: Outcome,
    /// What memory the load took at most, in kB.
    most: i64,
    proxy: Proxy,
    /// How long it was to wait for an answer, in seconds.
    patience: u64,
}

/// Loads through a proxy that does the act at the first message with `words` that comes after one with `after`.
#[track_caller]
fn lied_to(
    server: &Server,
    (after, words): (&'static str, &'static str),
    act: impl Fn() -> Act,
    args: &[&str],
) -> Lied {
    // A server that is slow may take longer than the first of these for what comes before.
    for patience in [1, 10, 40] {
        let proxy = Proxy::start(&server.address, Trick::At { after, words, act: act() });
        let (run, most) = load(server, &proxy, patience, args);
        if proxy.has_happened() {
            return Lied { run, most, proxy, patience };
        }
        run.exits(1).says(&[&format!("no answer within {patience} s")]);
        drop(proxy);
        server.wait_until_alone();
    }
    panic!("{words:?} never came")
}

/// Runs the load to its end and checks that it took neither for ever nor much memory.
#[track_caller]
fn load(server: &Server, proxy: &Proxy, patience: u64, args: &[&str]) -> (Outcome, i64) {
    let waits = format!("read_timeout={patience}&connect_timeout={patience}");
    let url = format!("{}?{waits}", server.url_at(&proxy.address));
    let load = [&["load", "t.csv", &url], args].concat();
    let mut child = start(&mut server.command(&load));
    drop(child.stdin.take());
    let before = Instant::now();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak_kb(child.id()).unwrap_or(0));
        if before.elapsed() > PATIENCE {
            child.kill().unwrap();
            let run = child.wait_with_output().unwrap();
            panic!("it hangs: {load:?} {}", String::from_utf8_lossy(&run.stderr));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.signal(), None, "{load:?}");
    let run = Outcome::of(load.join(" "), (run.status, run.stdout, run.stderr));
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    (run, most)
}

/// The most memory that the process has had.
fn peak_kb(process: u32) -> Option<i64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Memory that no answer of a server may make a load take.
const MOST_KB: i64 = 150_000;

/// Statements of a load, in their order: the first of a plan, of the load, of its rows, of its end.
const MOMENTS: [&str; 5] = ["user\0", "current_setting", "CREATE TABLE", "COPY ", "COMMIT"];

fn answers() -> Vec<(&'static str, Vec<u8>)> {
    let huge = |kind: u8| [&[kind][..], &0x7fff_ffff_u32.to_be_bytes(), &[0; 5000]].concat();
    let row_of = |fields: u16, length: u32| {
        said(b'D', &[&fields.to_be_bytes()[..], &length.to_be_bytes()].concat())
    };
    let copy = |kind: u8| said(kind, b"\0\0\x01\0\0");
    vec![
        ("noise", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()),
        ("zeros", vec![0; 100]),
        ("a length of nothing", b"Z\0\0\0\0".to_vec()),
        ("half a message", said(b'T', &[0; 40])[..20].to_vec()),
        ("a row that will have 2 GB", huge(b'D')),
        ("an error that will have 2 GB", huge(b'E')),
        ("a row of 60,000 fields that aren't there", row_of(60_000, 4)),
        ("a field that is longer than its row", row_of(1, 0x7fff_ffff)),
        ("no error at all in an error", [said(b'E', b"\0"), said(b'Z', b"I")].concat()),
        ("an error without an end", said(b'E', b"SERROR\0Mtext without an end")),
        ("rows that nobody asked for", [copy(b'H'), said(b'd', b"1\n"), said(b'c', b"")].concat()),
        ("a wish for rows", copy(b'G')),
        ("both ways", copy(b'W')),
        ("no words for a wish", said(b'G', b"")),
        ("ready without an answer", said(b'Z', b"I")),
        (
            "a tag of no sense",
            [said(b'C', b"INSERT 0 99999999999999999999\0"), said(b'Z', b"I")].concat(),
        ),
        ("a tag without an end", [said(b'C', b"INSERT 0 1"), said(b'Z', b"I")].concat()),
        ("another login", said(b'R', &[0, 0, 0, 10, b'X'])),
        ("a wish for a password", said(b'R', &[0, 0, 0, 3])),
    ]
}

#[test]
fn no_answer_of_a_server_makes_a_load_panic_hang_or_take_much_memory() {
    for_each_server(|server| {
        let rows: String = (1..=500).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        for (moment, words) in MOMENTS.into_iter().enumerate() {
            for (number, (what, answer)) in answers().into_iter().enumerate() {
                // Each answer at one moment, and several at each.
                if !thorough() && number % MOMENTS.len() != moment {
                    continue;
                }
                let after = if words == "COMMIT" { "txid_current" } else { "" };
                // Some answers have an end, and then nothing comes; others are all that there is.
                let act = || match what.len() % 2 {
                    0 => Act::Say(answer.clone()),
                    _ => Act::SayAndCut(answer.clone()),
                };
                let Lied { run, most, proxy, .. } = lied_to(server, (after, words), act, &[]);
                drop(proxy);
                assert!(most < MOST_KB, "{words}, {what}: {most} kB");
                server.wait_until_alone();
                let is_there = server.tables().contains(&"t".to_owned());
                let told = format!("{words}, {what}: {run:?}");
                assert!(!(run.stderr.contains("nothing changed") && is_there), "{told}");
                if run.status.success() {
                    // Such as an answer to a statement that changes nothing here.
                    assert!(is_there && server.count("t") == 500, "{told}");
                } else {
                    assert_eq!(run.status.code(), Some(1), "{told}");
                }
                server.drop_table("t");
            }
        }
    });
}

#[test]
fn a_commit_that_turns_out_to_take_everything_back() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n");
        for lanes in ["1", "2"] {
            let answer = [said(b'C', b"ROLLBACK\0"), said(b'Z', b"I")].concat();
            let act = || Act::SayAndCut(answer.clone());
            let moment = ("txid_current", "COMMIT");
            let Lied { run, proxy, .. } = lied_to(server, moment, act, &["--lanes", lanes]);
            run.exits(1).says(&["taken the transaction back"]).ends_with_nothing_changed();
            drop(proxy);
            server.wait_until_alone();
            assert!(!server.tables().contains(&"t".to_owned()));
        }
        server.load(&["t.csv"]).exits(0);
    });
}

#[test]
fn a_server_that_never_stops_talking() {
    let notice = said(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mhello\0\0");
    let setting = said(b'S', b"name\0value\0");
    let huge = said(b'N', &[b"SNOTICE\0C00000\0M", &[b'x'; 60_000][..], b"\0\0"].concat());
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n");
        for (moment, words) in ["user\0", "current_setting", "COPY "].into_iter().enumerate() {
            let talks = [&notice, &setting, &huge];
            for talk in size(&talks[moment..=moment], &talks[..]) {
                let act = || Act::Repeat(talk.to_vec());
                let Lied { run, most, proxy, patience } = lied_to(server, ("", words), act, &[]);
                assert!(most < MOST_KB, "{words}: {most} kB");
                let said = format!("no answer within {patience} s");
                run.exits(1).says(&[&said]).ends_with_nothing_changed();
                drop(proxy);
                server.wait_until_alone();
                assert!(server.tables().is_empty(), "{words}");
            }
        }
    });
}

#[test]
fn a_server_that_asks_for_rows_where_none_were_offered_gets_none() {
    const SECRET: &str = "name of the row";
    for_each_server(|server| {
        server.write("t.csv", format!("id,name\n1,{SECRET}\n"));
        for words in ["current_setting", "CREATE TABLE", "INSERT INTO"] {
            let act = || Act::Say(said(b'G', b"\0\0\x01\0\0"));
            let values = ["--strategy", "values"];
            let Lied { run, proxy, .. } = lied_to(server, ("", words), act, &values);
            run.exits(1).ends_with_nothing_changed();
            assert!(words == "INSERT INTO" || !proxy.has_seen(SECRET.as_bytes()), "{words}");
            drop(proxy);
            server.wait_until_alone();
            assert!(server.tables().is_empty(), "{words}");
        }
    });
}

#[test]
fn somebody_who_speaks_another_language() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in other.incoming() {
                let words = b"220 mail.example ESMTP\r\n";
                let _ = std::io::Write::write_all(&mut stream.unwrap(), words);
            }
        });
        for mode in ["disable", "prefer", "require"] {
            let url = format!("{}?sslmode={mode}", server.url_at(&address));
            let run = server.load_at(&url, &["t.csv"]);
            run.exits(1).says(&[&address]).ends_with_nothing_changed();
        }
    });
}
