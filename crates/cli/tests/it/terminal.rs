//! What a terminal shows while a load is under way, by a pseudo-terminal that keeps every byte.

use std::process::Stdio;

use crate::fixture::Fixture;

/// Runs `inrush` with standard error on a terminal of 100 columns and prints what came there, and the exit code. Standard input is
/// fed so many rows, with a pause before the last ones, in which the terminal may be sent a Ctrl-C.
const SCRIPT: &str = r#"
import os, pty, select, signal, subprocess, sys, termios, fcntl, struct, threading, time
rows, pause, interrupt = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "interrupt"
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
env = dict(os.environ, TERM="xterm")
child = subprocess.Popen(sys.argv[4:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=theirs, env=env)
os.close(theirs)
def feed():
    try:
        child.stdin.write(b"id,name\n")
        for n in range(rows):
            child.stdin.write(b"%d,name %d\n" % (n, n))
        child.stdin.flush()
        time.sleep(pause)
        if interrupt:
            child.send_signal(signal.SIGINT)
            return
        child.stdin.close()
    except BrokenPipeError:
        pass
feeder = threading.Thread(target=feed)
feeder.start()
seen = b""
while True:
    try:
        got = os.read(ours, 65536)
    except OSError:
        break
    if not got:
        break
    seen += got
feeder.join()
code = child.wait()
print(code)
sys.stdout.flush()
sys.stdout.buffer.write(seen)
"#;

/// The exit code, and what the terminal was sent.
fn watched(
    fixture: &Fixture,
    rows: u32,
    pause: f64,
    interrupt: bool,
    args: &[&str],
) -> Option<(i32, String)> {
    let here =
        std::process::Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if here.is_err() {
        eprintln!("SKIPPED: no python3 here to make a terminal");
        return None;
    }
    let (rows, pause) = (rows.to_string(), pause.to_string());
    let how = if interrupt { "interrupt" } else { "" };
    let first = ["-c", SCRIPT, &rows, &pause, how, crate::fixture::INRUSH];
    let output = fixture.tool("python3", &[&first, args].concat(), b"");
    let output = String::from_utf8(output).unwrap();
    let (code, seen) = output.split_once('\n').unwrap();
    Some((code.parse().unwrap(), seen.to_owned()))
}

/// The lines as they were drawn one over the other, without what moves the cursor.
fn drawn(seen: &str) -> Vec<String> {
    let mut text = String::new();
    let mut chars = seen.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // CSI, parameters, one letter.
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            text.push(c);
        }
    }
    let lines = text.split(['\r', '\n']).map(|line| line.trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_load_that_ends_at_once_draws_nothing() {
    let fixture = Fixture::new();
    let args = ["load", "-", "t.db", "--table", "t", "--durability", "none"];
    let Some((code, seen)) = watched(&fixture, 10, 0.0, false, &args) else { return };
    assert_eq!((code, seen.as_str()), (0, ""));
}

#[test]
fn a_longer_load_draws_a_line_in_our_units_and_takes_it_away() {
    let fixture = Fixture::new();
    let args = ["load", "-", "t.db", "--table", "t"];
    let Some((code, seen)) = watched(&fixture, 100_000, 1.2, false, &args) else { return };
    assert_eq!(code, 0, "{seen}");
    let lines = drawn(&seen);
    assert!(lines.iter().any(|line| line.starts_with("loading")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("B, ") && line.contains(" rows, ")), "{lines:?}");
    for line in &lines {
        for wrong in ["MiB", "KiB", ", ,", "0/0", "\u{2588}"] {
            assert!(!line.contains(wrong), "{line}");
        }
    }
    // The last thing that happens to the line is that it goes.
    assert!(
        seen.ends_with("\u{1b}[2K") || seen.ends_with("\u{1b}[K") || seen.ends_with('\r'),
        "{seen:?}"
    );
}

#[test]
fn a_file_fills_a_bar() {
    let fixture = Fixture::new();
    let rows: String = (0..120_000).map(|n| format!("{n},name {n}{:40}\n", ".")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    // Row by row, so that it takes its time.
    let args = ["load", "in.csv", "t.db", "--strategy", "row-sql", "--durability", "none"];
    let Some((code, seen)) = watched(&fixture, 0, 0.0, false, &args) else { return };
    assert_eq!(code, 0, "{seen}");
    let lines = drawn(&seen);
    let bar = |line: &&String| line.starts_with("loading [") && line.contains("% ");
    let bar = lines.iter().find(bar).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(bar.contains("MB, ") && bar.contains("MB/s, ") && bar.ends_with("left"), "{bar}");
}

#[test]
fn nothing_is_left_of_the_line_after_ctrl_c() {
    let fixture = Fixture::new();
    let args = ["load", "-", "t.db", "--table", "t"];
    let Some((code, seen)) = watched(&fixture, 100_000, 1.0, true, &args) else { return };
    assert_eq!(code, 130, "{seen}");
    let (before, after) =
        seen.split_once("error: interrupted").unwrap_or_else(|| panic!("{seen:?}"));
    assert!(drawn(before).iter().any(|line| line.starts_with("loading")), "{seen:?}");
    assert!(
        before.ends_with("\u{1b}[2K") || before.ends_with("\u{1b}[K") || before.ends_with('\r'),
        "{seen:?}"
    );
    assert!(!after.contains("loading"), "{seen:?}");
    assert!(after.contains("nothing changed"), "{seen:?}");
}
