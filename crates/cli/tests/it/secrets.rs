//! Passwords in URLs: they are needed to connect, and nobody else needs to see them.

use crate::fixture::{Fixture, Outcome};

const SECRET: &str = "tiger-7-teeth";

#[track_caller]
fn assert_secret_kept(run: &Outcome) {
    for output in [&run.stdout, &run.stderr] {
        assert!(
            !output.contains("tiger") && !output.contains("teeth"),
            "{}\n{output}",
            run.command
        );
    }
}

#[test]
fn a_password_in_a_target_that_nobody_knows_is_not_repeated() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for url in [
        "oracle://scott:SECRET@db.example/x",
        "oracle://scott:SECRET@db.example:1521/x?y=z",
        "oracle://:SECRET@db.example/x",
        "oracle://scott:SECRET/and@more@db.example/x",
        "oracle://db.example/x?user=scott&password=SECRET",
        "oracle://db.example/x?PASSWORD=SECRET&user=scott",
        "oracle://db.example/x?user=scott&pwd=SECRET",
        "oracle:scott:SECRET@db.example/x",
    ] {
        let url = url.replace("SECRET", SECRET);
        for command in ["load", "plan"] {
            for options in [&[][..], &["--json"], &["-v"], &["--progress", "plain"]] {
                let args = [&[command, "in.csv", &url], options].concat();
                let run = fixture.misused(&args);
                assert_secret_kept(&run);
                // What is shown says at least which one is meant.
                run.says(&["oracle:", "is not a supported target"]);
            }
        }
        assert_secret_kept(&fixture.misused(&["strategies", &url]));
    }
}

#[test]
fn a_password_in_the_wrong_place_is_not_repeated() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let url = format!("oracle://scott:{SECRET}@db.example/x");
    // Source and target in the wrong order, a target forgotten, two targets.
    for args in [
        &["load", &url, "t.db"][..],
        &["load", &url, "in.csv"],
        &["load", "in.csv", &url, "t.db"],
        &["load", "in.csv", &url, &url],
        &["load", &url],
        &["plan", &url, "t.db"],
    ] {
        let run = fixture.leaves_all(|| fixture.inrush(args));
        assert!(!run.status.success());
        assert_secret_kept(&run);
    }
}
