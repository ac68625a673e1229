use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use crate::contract::Place as _;
use crate::fixture::{Outcome, Random, finish, size, start, thorough, wait_until};

use super::proxy::{Proxy, Trick};
use super::server::{Extras, Server, for_each_private_server};
use super::tablespace::{
    WAY, below, files_of_ours, for_each_known, for_one_known, for_some_known, is_known,
};
use crate::disk::{Disk, has_mounts_of_its_own};

/// Rows of the files here.
const ROWS: i64 = 10_000;

/// What a load asks the server for, and how often it was asked the same before.
const STEPS: [(&str, u64); 12] = [
    ("CREATE TABLE", 0),
    ("FOR EXPORT", 0),
    ("UNLOCK TABLES", 0),
    ("DISCARD TABLESPACE", 0),
    ("innodb_log_checkpoint_now", 0),
    ("IMPORT TABLESPACE", 0),
    ("innodb_log_checkpoint_now", 1),
    ("CHECK TABLE", 0),
    ("ADD KEY", 0),
    ("SELECT COUNT(*) FROM `inrush", 0),
    ("RENAME TABLE", 0),
    ("DROP TABLE", 0),
];

fn steps(server: &Server) -> impl Iterator<Item = (&'static str, u64)> {
    // MySQL needs no checkpoint.
    STEPS.into_iter().filter(|(words, _)| server.is_mariadb || !words.starts_with("innodb"))
}

fn write_rows(server: &Server) {
    let text: String = (0..ROWS).map(|id| format!("{id},name of {id}\n")).collect();
    server.write("t.csv", format!("id,name\n{text}"));
}

fn assert_sound(server: &Server, what: &str) {
    assert_eq!(server.count("t"), ROWS, "{what}");
    let check = server.query("CHECK TABLE t EXTENDED");
    assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{what}: {check:?}");
    assert_eq!(server.tables(), ["t"], "{what}");
    assert_eq!(files_of_ours(server), Vec::<String>::new(), "{what}");
}

#[test]
fn a_load_that_is_killed_leaves_nothing_that_the_next_does_not_sweep() {
    for_some_known(|server| {
        let mut random = Random(0x29);
        write_rows(server);
        let url = server.url();
        let args =
            [&["load", "t.csv", &url, "--primary-key", "id", "--chunk-size", "16k"], &WAY[..]];
        let args = args.concat();
        for _ in 0..size(6, 100) {
            let mut child = start(&mut server.command(&args));
            sleep(Duration::from_millis(below(&mut random, 200)));
            let _ = child.kill();
            let (status, _, _) = finish(child, b"");
            // A statement under way may end when its client is gone.
            server.end_connections();
            wait_until("the server has ended the connection", || server.connections().is_empty());
            let whole = server.tables().contains(&"t".to_owned());
            assert!(whole || !status.success(), "a load that ended well has left no table");
            if whole {
                assert_eq!(server.count("t"), ROWS);
                server.drop_table("t");
            }
        }
        server.load(&[&["t.csv", "--primary-key", "id"], &WAY[..]].concat()).exits(0);
        assert_sound(server, "at the end");
    });
}

/// Kills the process (SIGKILL) as soon as it is known.
fn kill(process: &AtomicU32) -> bool {
    while process.load(Relaxed) == 0 {
        sleep(Duration::from_millis(1));
    }
    let process = process.load(Relaxed).to_string();
    assert!(Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
    true
}

/// Loads into a table that holds rows while a process is killed at a step; then the table is as before or whole, and the next load succeeds.
fn kill_at(
    server: &Server,
    (words, nth): (&'static str, u64),
    is_answered: bool,
    victim: Option<u32>,
    revive: impl FnOnce(),
) {
    let what = format!("{words} {nth}, answered: {is_answered}, server: {victim:?}");
    server.drop_table("t").sql(
        "CREATE TABLE t (id bigint NOT NULL, name varchar(30), PRIMARY KEY (id), KEY k (name)) ENGINE=InnoDB;;\
         INSERT INTO t VALUES (-1, 'old'), (-2, 'old')",
    );
    let process = Arc::new(AtomicU32::new(victim.unwrap_or(0)));
    let act = {
        let process = Arc::clone(&process);
        move || kill(&process)
    };
    let trick = Trick::At { words, nth, is_answered, act: Arc::new(act) };
    let proxy = Proxy::start(&server.address, trick);
    let args = |url: String| {
        [&["load", "t.csv", &url, "--if-exists", "truncate"], &WAY[..]]
            .concat()
            .iter()
            .map(|arg| (*arg).to_owned())
            .collect::<Vec<_>>()
    };
    let url = format!("{}?ssl-mode=disabled", server.url_at(&proxy.address));
    let args_there = args(url);
    let words: Vec<&str> = args_there.iter().map(String::as_str).collect();
    let child = start(&mut server.command(&words));
    if victim.is_none() {
        process.store(child.id(), Relaxed);
    }
    let run = Outcome::of(what.clone(), finish(child, b""));
    let is_reached = proxy.is_met();
    drop(proxy);
    revive();
    server.end_connections();
    wait_until("the server has ended the connections", || server.connections().is_empty());
    assert!(is_reached, "{what}: {run:?}");
    assert!(victim.is_some() || run.status.code().is_none(), "{what}: {run:?}");
    let count = server.count("t");
    let is_whole = count == ROWS;
    assert!(is_whole || count == 2, "{what}: {count} rows\n{run:?}");
    assert!(is_whole || !run.status.success(), "{what}: {run:?}");
    let check = server.query("CHECK TABLE t EXTENDED");
    assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{what}: {check:?}");
    let args_here = args(server.url());
    let words: Vec<&str> = args_here.iter().map(String::as_str).collect();
    server.inrush(&words).exits(0);
    assert_sound(server, &what);
}

#[test]
fn a_load_that_is_killed_at_any_step_leaves_the_table_as_before_or_whole() {
    for_one_known(|server| {
        write_rows(server);
        let moments = steps(server).flat_map(|step| [(step, false), (step, true)]);
        for (step, is_answered) in moments.step_by(size(5, 1)) {
            kill_at(server, step, is_answered, None, || {});
        }
    });
}

#[test]
fn a_server_that_is_killed_at_any_step_has_the_table_as_before_or_whole() {
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        Extras::default(),
        |private, server| {
            if !is_known(server) {
                return;
            }
            write_rows(server);
            for step in steps(server) {
                for is_answered in [false, true] {
                    let is_worst = ["IMPORT TABLESPACE", "RENAME TABLE"].contains(&step.0);
                    if thorough() || is_answered && is_worst {
                        let victim = private.pid();
                        kill_at(server, step, is_answered, victim, || {
                            private.kill().unwrap();
                            private.restart().unwrap();
                            server.connect_again();
                        });
                    }
                }
            }
        },
    );
}

#[test]
fn changes_of_a_table_whose_file_was_written_survive_crashes() {
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        Extras::default(),
        |private, server| {
            if !is_known(server) {
                return;
            }
            write_rows(server);
            let table = ["t.csv", "--primary-key", "id", "--index", "name"];
            server.load(&[&table[..], &["--table", "sent"]].concat()).exits(0);
            server.load(&[&table[..], &WAY].concat()).exits(0);
            let mut random = Random(0x41);
            for round in 0..size(2, 5) {
                if round > 0 {
                    let salt = below(&mut random, 1000);
                    for table in ["t", "sent"] {
                        server.sql(&format!(
                            "INSERT INTO {table} SELECT id + {ROWS} * {round}, CONCAT(name, {salt}) FROM {table} WHERE id % 3 = {round} % 3;;\
                             UPDATE {table} SET name = REPEAT(name, 1 + id % 9) WHERE id % 5 = {round} % 5;;\
                             DELETE FROM {table} WHERE id % 7 = {round} % 7;;\
                             DELETE FROM {table} WHERE id BETWEEN 1000 AND 4000"
                        ));
                    }
                }
                let before = server.query("CHECKSUM TABLE sent");
                private.kill().unwrap();
                private.restart().unwrap();
                server.connect_again();
                let sums = server.query("CHECKSUM TABLE sent, t");
                assert_eq!(sums[0], before[0], "round {round}");
                assert_eq!(sums[0][1], sums[1][1], "round {round}");
                let check = server.query("CHECK TABLE t EXTENDED");
                assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{check:?}");
            }
            // In good order, too.
            private.restart().unwrap();
            server.connect_again();
            let sums = server.query("CHECKSUM TABLE sent, t");
            assert_eq!(sums[0][1], sums[1][1]);
            server.drop_table("sent");
            assert_eq!(server.tables(), ["t"]);
        },
    );
}

#[test]
fn a_file_that_was_changed_meanwhile_is_not_taken() {
    for_some_known(|server| {
        write_rows(server);
        server.sql(
            "CREATE TABLE t (id bigint NOT NULL, name varchar(30), PRIMARY KEY (id)) ENGINE=InnoDB",
        );
        let datadir = server.query("SELECT @@datadir")[0][0].clone().unwrap();
        let folder = std::path::Path::new(&datadir).join(&server.database);
        let flip = move || {
            for file in std::fs::read_dir(&folder).unwrap() {
                let path = file.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if name.starts_with("inrush") && name.ends_with(".ibd") {
                    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
                    let mut byte = [0];
                    // In the middle of a leaf.
                    file.read_exact_at(&mut byte, 12 * 16384 + 5000).unwrap();
                    file.write_all_at(&[byte[0] ^ 0x10], 12 * 16384 + 5000).unwrap();
                }
            }
            false
        };
        let words = "IMPORT TABLESPACE";
        let trick = Trick::At { words, nth: 0, is_answered: false, act: Arc::new(flip) };
        let proxy = Proxy::start(&server.address, trick);
        let url = format!("{}?ssl-mode=disabled", server.url_at(&proxy.address));
        let args = [&["load", "t.csv", &url, "--if-exists", "append"], &WAY[..]].concat();
        server.inrush(&args).exits(1).ends_with_nothing_changed();
        assert!(proxy.is_met());
        drop(proxy);
        assert_eq!(server.count("t"), 0);
        assert_eq!(server.tables(), ["t"]);
        server.load(&[&["t.csv", "--if-exists", "append"], &WAY[..]].concat()).exits(0);
        assert_sound(server, "afterwards");
    });
}

/// The table that takes the rows of [`meddle`], whose load is to replace those in it.
const TABLE: &str = "CREATE TABLE t (id bigint NOT NULL, kind enum('a','b') NOT NULL, part decimal(10,2), PRIMARY KEY (id)) ENGINE=InnoDB";

/// Loads while something is done before the server hears certain words. If that says that it has changed anything, the load has to fail, and
/// leave the table as before; whether it has.
fn meddle(
    server: &Server,
    words: &'static str,
    act: impl Fn() -> bool + Send + Sync + 'static,
) -> bool {
    server
        .drop_table("t")
        .sql(&format!("{TABLE};;INSERT INTO t VALUES (-1, 'a', 0.5), (-2, 'b', 1)"));
    let before = server.query("CHECKSUM TABLE t");
    let has_changed = Arc::new(AtomicBool::new(false));
    let act = {
        let has_changed = Arc::clone(&has_changed);
        move || {
            has_changed.store(act(), Relaxed);
            false
        }
    };
    let trick = Trick::At { words, nth: 0, is_answered: false, act: Arc::new(act) };
    let proxy = Proxy::start(&server.address, trick);
    let url = format!("{}?ssl-mode=disabled", server.url_at(&proxy.address));
    let args = [&["load", "t.csv", &url, "--if-exists", "truncate"], &WAY[..]].concat();
    let run = server.inrush(&args);
    assert!(proxy.is_met(), "{words}: {run:?}");
    drop(proxy);
    let has_changed = has_changed.load(Relaxed);
    if has_changed {
        run.exits(1).ends_with_nothing_changed();
        assert_eq!(server.query("CHECKSUM TABLE t"), before, "{words}");
    } else {
        run.exits(0);
        assert_eq!(server.number("SELECT COUNT(*) FROM t WHERE kind = 'a' AND part = id / 4"), 500);
    }
    let check = server.query("CHECK TABLE t EXTENDED");
    assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{words}: {check:?}");
    assert_eq!(server.tables(), ["t"], "{words}");
    assert_eq!(files_of_ours(server), Vec::<String>::new(), "{words}");
    has_changed
}

/// The rows of [`meddle`].
fn write_rows_of_kinds(server: &Server) {
    let row = |id: u32| format!("{id},{},{}\n", ["a", "b"][id as usize % 2], f64::from(id) / 4.0);
    server.write("t.csv", format!("id,kind,part\n{}", (0..1000).map(row).collect::<String>()));
}

#[test]
fn a_hidden_table_that_is_altered_meanwhile_does_not_take_the_place_of_the_user_s() {
    for_each_known(|server| {
        write_rows_of_kinds(server);
        // By the first two the file would be taken, and its bytes be other values.
        for (words, statement, has_to_change) in [
            ("DISCARD TABLESPACE", "ALTER TABLE x MODIFY kind enum('b','a') NOT NULL", true),
            ("DISCARD TABLESPACE", "ALTER TABLE x MODIFY part decimal(9,1)", true),
            ("DISCARD TABLESPACE", "ALTER TABLE x ADD COLUMN more int", true),
            ("IMPORT TABLESPACE", "ALTER TABLE x ADD COLUMN more int", false),
            ("IMPORT TABLESPACE", "ALTER TABLE x MODIFY kind enum('b','a') NOT NULL", false),
            ("IMPORT TABLESPACE", "DROP TABLE x", true),
            ("CHECK TABLE", "ALTER TABLE x MODIFY kind enum('b','a') NOT NULL", true),
        ] {
            let client = server.another_client();
            let has_changed = meddle(server, words, move || {
                let tables = client("SHOW TABLES LIKE 'inrush%'");
                let hidden = tables[0][0].clone().unwrap();
                let show = format!("SHOW CREATE TABLE `{hidden}`");
                let before = client(&show);
                client(&statement.replace("TABLE x", &format!("TABLE `{hidden}`")));
                client(&show) != before
            });
            assert!(has_changed || !has_to_change, "{statement} before {words}");
        }
    });
}

#[test]
fn a_file_that_is_replaced_meanwhile_does_not_become_the_user_s_table() {
    for_some_known(|server| {
        write_rows_of_kinds(server);
        let datadir = server.query("SELECT @@datadir")[0][0].clone().unwrap();
        let folder = std::path::Path::new(&datadir).join(&server.database);
        // One with fewer rows, and one of other columns.
        for columns in [TABLE.split_once('(').unwrap().1, "id bigint PRIMARY KEY) ENGINE=InnoDB"] {
            server.sql(&format!(
                "CREATE TABLE other ({columns};;INSERT INTO other (id) SELECT 7 FROM DUAL WHERE 1 = 0;;FLUSH TABLES other FOR EXPORT"
            ));
            let files = ["ibd", "cfg"].map(|ending| {
                (ending, std::fs::read(folder.join(format!("other.{ending}"))).unwrap())
            });
            server.sql("UNLOCK TABLES;;DROP TABLE other");
            for count in 1..=2 {
                let (folder, files) = (folder.clone(), files.clone());
                let has_changed = meddle(server, "IMPORT TABLESPACE", move || {
                    for file in std::fs::read_dir(&folder).unwrap() {
                        let path = file.unwrap().path();
                        let name = path.file_name().unwrap().to_string_lossy().into_owned();
                        for (ending, bytes) in &files[..count] {
                            if name.starts_with("inrush") && name.ends_with(ending) {
                                std::fs::write(&path, bytes).unwrap();
                            }
                        }
                    }
                    true
                });
                assert!(has_changed);
            }
        }
    });
}

#[test]
fn nothing_is_written_where_another_server_has_its_files() {
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        Extras::default(),
        |_, there| {
            if !is_known(there) {
                return;
            }
            // What the load takes for the data directory of the server that it speaks to is that of another, with a database of the same
            // name, a table as a load under way has it, and files as a killed one leaves them.
            for_each_known(|here| {
                if here.name != there.name {
                    return;
                }
                write_rows(there);
                let hidden = format!("inrush_staging_{:016x}", 7);
                here.sql(&format!(
                    "CREATE DATABASE {0};;CREATE TABLE {0}.{hidden} (id int PRIMARY KEY) ENGINE=InnoDB;;\
                     INSERT INTO {0}.{hidden} VALUES (1), (2)",
                    there.database
                ));
                let directory =
                    |server: &Server| server.query("SELECT @@datadir")[0][0].clone().unwrap();
                let (of, put) = (directory(there), directory(here));
                let folder = std::path::Path::new(&put).join(&there.database);
                for ending in ["part", "cfg", "setting"] {
                    std::fs::write(folder.join(format!("{hidden}.{ending}")), "5").unwrap();
                }
                let files = || {
                    let files = std::fs::read_dir(&folder).unwrap().map(|file| {
                        let file = file.unwrap();
                        let kind = file.metadata().unwrap();
                        (file.file_name(), kind.ino(), kind.len())
                    });
                    let mut files: Vec<_> = files.collect();
                    files.sort();
                    files
                };
                // Its own server writes into it when it likes, but keeps its rows.
                let rows = || here.query(&format!("SELECT * FROM {}.{hidden}", there.database));
                let before = (files(), rows());
                let proxy = Proxy::start(&there.address, Trick::Instead { of, put });
                let url = format!("{}?ssl-mode=disabled", there.url_at(&proxy.address));
                let args = [&["load", "t.csv", &url, "--primary-key", "id"], &WAY[..]].concat();
                let run = there.inrush(&args).exits(1).ends_with_nothing_changed();
                run.says(&["can't be read", "needs a server on this machine"]);
                assert!(proxy.changed() > 0);
                assert_eq!((files(), rows()), before);
                assert_eq!(there.tables(), Vec::<String>::new());
                // The server leaves what is none of its own.
                for ending in ["part", "cfg", "setting"] {
                    std::fs::remove_file(folder.join(format!("{hidden}.{ending}"))).unwrap();
                }
                here.sql(&format!("DROP DATABASE {}", there.database));
            });
        },
    );
}

#[test]
fn of_two_loads_at_once_one_has_its_rows_in_the_table() {
    for_some_known(|server| {
        write_rows(server);
        let url = server.url();
        let args = [&["load", "t.csv", &url, "--primary-key", "id"], &WAY[..]].concat();
        let children = [0, 1].map(|_| start(&mut server.command(&args)));
        let runs = children.map(|child| Outcome::of("one of two".to_owned(), finish(child, b"")));
        assert!(runs.iter().any(|run| run.status.success()), "{runs:?}");
        assert_sound(server, "of two");
    });
}

#[test]
#[ignore = "full disks: make test-all"]
fn a_disk_that_is_full_leaves_the_table_as_before() {
    let test = "mysql::tablespace_crashes::a_disk_that_is_full_leaves_the_table_as_before";
    if !has_mounts_of_its_own(test) {
        return;
    }
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            if !is_known(server) {
                return;
            }
            write_rows(server);
            let datadir = server.query("SELECT @@datadir")[0][0].clone().unwrap();
            let folder = std::path::Path::new(&datadir).join(&server.database);
            let owner = std::fs::metadata(&folder).unwrap();
            let disk = Disk::over(&folder, "384k");
            std::os::unix::fs::chown(&folder, Some(owner.uid()), Some(owner.gid())).unwrap();
            for more in [&[][..], &["--set", "row_order=any", "--set", "sort_memory=1m"]] {
                let args = [&["t.csv", "--primary-key", "id"], &WAY[..], more].concat();
                let run = server.refuses(&args);
                run.says(&["No space left"]);
                assert_eq!(server.tables(), Vec::<String>::new());
                assert_eq!(files_of_ours(server), Vec::<String>::new());
            }
            disk.resize("64m");
            server.load(&[&["t.csv", "--primary-key", "id"], &WAY[..]].concat()).exits(0);
            assert_sound(server, "with room");
            server.drop_table("t");
            private.stop().unwrap();
            drop(disk);
            private.restart().unwrap();
            server.connect_again();
        },
    );
}
