//! The order and the number of samples, with a laboratory whose figures are known.

use std::sync::atomic::AtomicU32;

use super::*;
use crate::matrix::cells;
use inrush_findings::sample::PhaseSample;

const SUITE: &str = r#"
format = 1
id = "fake"
title = "A suite of nothing"
about = "For tests."

[profile.quick]
blocks_min = 3
blocks_max = 8
precision = 0.05
warmups = 1
budget_s = 3600

[target.here]
family = "none"
about = "no database"

[target.there]
family = "mysql"
about = "a server that nobody asked for"
server = {}

[[experiment]]
id = "one"
title = "One"
targets = ["here", "there"]
axes.size = [1, 10]
metric = "write.seconds"
[[experiment.phase]]
id = "write"
command = { run = ["true"] }
"#;

/// Takes no time; what it says is decided by the cell and the block.
struct Fake<F> {
    taken: Vec<String>,
    says: F,
}

impl<F: FnMut(&PlannedCell, &str) -> (Status, f64)> Laboratory for Fake<F> {
    fn take(&mut self, cell: &PlannedCell, id: &str) -> Taken {
        self.taken.push(id.to_owned());
        let (status, seconds) = (self.says)(cell, id);
        let mut taken = absent(id, cell, "");
        taken.sample.status = status;
        taken.sample.phases = vec![PhaseSample {
            id: "write".to_owned(),
            timed: true,
            ack_ns: (seconds * 1e9) as u64,
            ..PhaseSample::default()
        }];
        taken
    }
}

struct Ran {
    taken: Vec<String>,
    samples: Vec<Sample>,
    stopped: Stopped,
}

fn ran(
    change: impl FnOnce(&mut Profile),
    mut samples: Vec<Sample>,
    watcher: &dyn Watcher,
    says: impl FnMut(&PlannedCell, &str) -> (Status, f64),
) -> Ran {
    let mut suite: Suite = toml::from_str(SUITE).unwrap();
    let profile = suite.profile.get_mut("quick").unwrap();
    change(profile);
    let profile = profile.clone();
    let cells = cells(&suite, &profile, &[], &Default::default(), &|_| true).unwrap();
    let mut fake = Fake { taken: Vec::new(), says };
    let keep = |_: &Taken| Ok(());
    let task = Task { suite: &suite, profile: &profile, cells: &cells, seed: 7 };
    let stopped = run(task, &mut samples, &mut fake, watcher, keep).unwrap();
    Ran { taken: fake.taken, samples, stopped }
}

fn noisy(id: &str) -> f64 {
    1.0 + (xxhash_rust::xxh3::xxh3_64(id.as_bytes()) % 1000) as f64 / 1000.0
}

#[test]
fn every_block_holds_every_cell_once_in_an_order_of_its_own() {
    let ran = ran(|_| (), Vec::new(), &Unwatched, |_, id| (Status::Ok, noisy(id)));
    assert_eq!(ran.stopped, Stopped::Blocks);
    // Two cells and one of them again, in a warm-up and eight blocks; and those that aren't there are told of once.
    assert_eq!(ran.taken.len(), 3 * 9);
    assert_eq!(ran.samples.len(), 3 * 9 + 2);
    let mut orders = BTreeSet::new();
    for block in 0..9 {
        let mut ids: Vec<&str> =
            ran.taken.iter().filter_map(|id| id.strip_prefix(&format!("b{block:02}."))).collect();
        orders.insert(ids.join(" "));
        ids.sort_unstable();
        assert_eq!(ids, ["c000", "c001", "c004"]);
    }
    assert!(orders.len() > 2, "{orders:?}");
    let warm: Vec<bool> = ran.samples.iter().map(|sample| sample.warmup).collect();
    assert_eq!(warm.iter().filter(|warm| **warm).count(), 5);
    for (order, sample) in ran.samples.iter().enumerate() {
        assert_eq!(sample.order as usize, order);
        assert_eq!(sample.warmup, sample.block == 0);
    }
    let absent: Vec<&Sample> =
        ran.samples.iter().filter(|sample| sample.status == Status::Unavailable).collect();
    assert_eq!(absent.len(), 2);
    assert!(absent[0].error.as_deref().unwrap().contains("--server mysql"), "{absent:?}");
}

#[test]
fn it_stops_when_intervals_are_narrow() {
    let ran = ran(|_| (), Vec::new(), &Unwatched, |_, _| (Status::Ok, 1.0));
    assert_eq!(ran.stopped, Stopped::Precise);
    // An interval of fewer than six values is none.
    assert_eq!(ran.taken.len(), 3 * (1 + 6));
}

#[test]
fn a_cell_that_is_precise_goes_on_only_with_its_twin() {
    let says = |cell: &PlannedCell, id: &str| match cell.get("size") {
        Some("1") => (Status::Ok, noisy(id)),
        _ => (Status::Ok, 1.0),
    };
    let ran = ran(|_| (), Vec::new(), &Unwatched, says);
    assert_eq!(ran.stopped, Stopped::Blocks);
    let of = |cell: &str| ran.taken.iter().filter(|id| id.ends_with(cell)).count();
    assert_eq!((of("c000"), of("c004"), of("c001")), (9, 9, 7));
}

#[test]
fn what_can_not_be_done_is_not_tried_again_and_what_failed_is() {
    let says = |cell: &PlannedCell, id: &str| match cell.get("size") {
        Some("1") if cell.twice.is_none() => (Status::Incorrect, 1.0),
        Some("1") => (Status::Error, 1.0),
        _ => (Status::Ok, noisy(id)),
    };
    let ran = ran(|_| (), Vec::new(), &Unwatched, says);
    let of = |cell: &str| ran.taken.iter().filter(|id| id.ends_with(cell)).count();
    assert_eq!((of("c000"), of("c004"), of("c001")), (1, 9, 9));
}

#[test]
fn a_contended_sample_is_taken_again_at_the_end_of_its_block() {
    let says = |_: &PlannedCell, id: &str| match id {
        "b02.c000" => (Status::Contended, 9.0),
        "b03.c001" | "b03.c001r" => (Status::Contended, 9.0),
        _ => (Status::Ok, 1.0),
    };
    let ran = ran(|_| (), Vec::new(), &Unwatched, says);
    let block = |block: &str| -> Vec<&String> {
        ran.taken.iter().filter(|id| id.starts_with(block)).collect()
    };
    assert_eq!((block("b02").len(), block("b02")[3].as_str()), (4, "b02.c000r"));
    // Once is enough.
    assert_eq!((block("b03").len(), block("b03")[3].as_str()), (4, "b03.c001r"));
}

#[test]
fn no_block_begins_after_the_budget() {
    let ran = ran(
        |profile| profile.budget_s = 0,
        Vec::new(),
        &Unwatched,
        |_, id| (Status::Ok, noisy(id)),
    );
    // The warm-up, and one block that counts.
    assert_eq!((ran.stopped, ran.taken.len()), (Stopped::Budget, 6));
}

/// Wants to stop after so many samples.
struct Impatient {
    stop: AtomicBool,
    left: AtomicU32,
}

impl Watcher for Impatient {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn taken(&self, _cell: &PlannedCell, _sample: &Sample, _state: &State) {
        if self.left.fetch_sub(1, Relaxed) == 1 {
            self.stop.store(true, Relaxed);
        }
    }
}

#[test]
fn a_run_that_is_interrupted_anywhere_goes_on_to_the_same_samples() {
    let says = |_: &PlannedCell, id: &str| match id {
        "b01.c001" => (Status::Contended, 9.0),
        _ => (Status::Ok, noisy(id)),
    };
    let whole = ran(|_| (), Vec::new(), &Unwatched, says);
    let ids = |samples: &[Sample]| -> Vec<String> {
        samples.iter().map(|sample| sample.sample.clone()).collect()
    };
    for after in 1..=whole.samples.len() as u32 {
        let impatient = Impatient { stop: AtomicBool::new(false), left: AtomicU32::new(after) };
        let first = ran(|_| (), Vec::new(), &impatient, says);
        assert_eq!(first.samples.len() as u32, after);
        let second = ran(|_| (), first.samples, &Unwatched, says);
        assert_eq!(ids(&second.samples), ids(&whole.samples), "after {after}");
        assert_eq!(second.stopped, whole.stopped);
    }
}
