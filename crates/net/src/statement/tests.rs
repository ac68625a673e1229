//! The lane against a server that refuses rows as it is told.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use inrush_core::flow::RowMark;
use inrush_core::target::KnobKind;

/// A row of the test's tables: bytes of the key, and whether its value is bad.
type Row = (u16, bool);

const ROW_BYTES: usize = 3;

/// What the server does with a statement that has a bad row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    /// Undoes it, as InnoDB does with INSERT.
    Undoes,
    /// Undoes it, and takes nothing more in the transaction but its end and the way back to a savepoint, as PostgreSQL does.
    Ends,
    /// Leaves the row out and warns, as MySQL does in LOAD DATA.
    Warns,
}

/// Which bad row of a statement the server names.
#[derive(Clone, Copy, Debug)]
enum Naming {
    None,
    First,
    /// Not the one that it should.
    Last,
    /// A row that the statement doesn't have.
    Beyond,
}

struct Server {
    manner: Manner,
    naming: Naming,
    table: Vec<u16>,
    keys: HashSet<u16>,
    /// The table's rows when the transaction began.
    transaction: Option<usize>,
    savepoint: Option<usize>,
    ended: bool,
    warning: Option<Blame>,
    statements: usize,
}

#[derive(Debug)]
enum Refusal {
    Row(Blame),
    /// The transaction has ended, and a statement came all the same.
    Ended,
}

impl Server {
    fn new(manner: Manner, naming: Naming) -> Self {
        Self {
            manner,
            naming,
            table: Vec::new(),
            keys: HashSet::new(),
            transaction: None,
            savepoint: None,
            ended: false,
            warning: None,
            statements: 0,
        }
    }

    fn cut(&mut self, rows: usize) {
        self.table.drain(rows..).for_each(|key| assert!(self.keys.remove(&key)));
    }

    fn run(&mut self, rows: impl Iterator<Item = Row>) -> Result<Done, Refusal> {
        self.statements += 1;
        self.warning = None;
        if self.ended {
            return Err(Refusal::Ended);
        }
        let (before, mut sent) = (self.table.len(), 0);
        let mut bad = Vec::new();
        for (index, (key, is_bad)) in rows.enumerate() {
            sent += 1;
            match is_bad {
                true => bad.push((index, Code::Type)),
                false if !self.keys.insert(key) => bad.push((index, Code::DuplicateKey)),
                false => self.table.push(key),
            }
        }
        let (Some(first), Some(last)) = (bad.first(), bad.last()) else {
            return Ok(Done { affected: sent as u64, warnings: 0 });
        };
        let (row, code) = match self.naming {
            Naming::None => (None, first.1),
            Naming::First => (Some(first.0), first.1),
            Naming::Last => (Some(last.0), last.1),
            Naming::Beyond => (Some(sent), first.1),
        };
        let blame = Blame { row, named: Named::Nothing, code, message: "bad".to_owned() };
        if self.manner == Manner::Warns {
            self.warning = Some(blame);
            let affected = (self.table.len() - before) as u64;
            return Ok(Done { affected, warnings: bad.len() as u16 });
        }
        self.cut(before);
        self.ended = self.manner == Manner::Ends && self.transaction.is_some();
        Err(Refusal::Row(blame))
    }
}

impl Connection for Server {
    type Failure = Refusal;

    fn begin(&mut self) -> Result<(), Refusal> {
        assert_eq!(self.transaction.replace(self.table.len()), None);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Refusal> {
        assert!(!self.ended);
        assert!(self.transaction.take().is_some());
        self.savepoint = None;
        Ok(())
    }

    fn undo(&mut self) -> Result<(), Refusal> {
        self.cut(self.savepoint.unwrap());
        self.ended = false;
        Ok(())
    }

    fn judge(
        &mut self,
        _done: Done,
        _rows: usize,
        _on_conflict: OnConflict,
    ) -> Result<Option<Blame>, Refusal> {
        Ok(self.warning.take())
    }

    fn blame(&self, failure: &Refusal) -> Option<Blame> {
        match failure {
            Refusal::Row(blame) => Some(blame.clone()),
            Refusal::Ended => None,
        }
    }

    fn retry(&self, _failure: &Refusal, _many: bool) -> Option<Retry> {
        None
    }

    fn explain(&self, failure: Refusal) -> Error {
        Error::target(format!("{failure:?}"))
    }
}

struct Writer {
    needs_savepoint: bool,
}

impl Write<Server> for Writer {
    fn write(
        &mut self,
        server: &mut Server,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Refusal> {
        if guarded {
            assert!(server.transaction.is_some());
            server.savepoint = Some(server.table.len());
        }
        server.run(
            batch.rows_of_bytes().map(|row| (u16::from_le_bytes([row[0], row[1]]), row[2] == 1)),
        )
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        self.needs_savepoint
    }
}

fn wire(rows: &[Row]) -> Wire {
    let mut wire = Wire::default();
    for (key, bad) in rows {
        wire.bytes.extend(key.to_le_bytes());
        wire.bytes.push(u8::from(*bad));
        wire.rows.push(RowMark { start: 0, end: wire.bytes.len() as u32 });
    }
    wire
}

const BOUNDS: Bounds = Bounds {
    undo: Undo::Yes,
    lasting: false,
    rows_per_statement: 0,
    commits: Commits::Never,
    bytes_max: usize::MAX,
    bytes_max_of: "the test",
};

/// Sends each of the wires, and gives what was refused of each.
fn send(
    server: &mut Server,
    wires: &[Vec<Row>],
    bounds: Bounds,
    lanes: usize,
    shared: &Shared,
) -> Result<Vec<Ack>> {
    let errand = Errand {
        table: "t".to_owned(),
        primary_key: Vec::new(),
        columns: 1,
        on_conflict: OnConflict::Fail,
        sums: false,
        lanes,
    };
    if bounds.commits == Commits::Never {
        server.begin().unwrap();
    }
    let writer = Box::new(Writer { needs_savepoint: server.manner != Manner::Undoes });
    let mut lane = StatementLane::on(errand, Held::Lent(server), writer, bounds, shared);
    let chunk = Chunk::default();
    let acks = wires.iter().map(|rows| lane.send(&chunk, &wire(rows))).collect();
    lane.finish()?;
    acks
}

/// What comes of sending row by row: the rows that are refused of each wire, and the keys that the table has in the end.
fn one_by_one(wires: &[Vec<Row>]) -> (Vec<Vec<(u32, Code)>>, Vec<u16>) {
    let mut table = Vec::new();
    let mut keys = HashSet::new();
    let mut judge = |(row, (key, bad)): (usize, &Row)| match bad {
        true => Some((row as u32, Code::Type)),
        false if !keys.insert(*key) => Some((row as u32, Code::DuplicateKey)),
        false => {
            table.push(*key);
            None
        }
    };
    let refused =
        wires.iter().map(|rows| rows.iter().enumerate().filter_map(&mut judge).collect()).collect();
    (refused, table)
}

fn commits() -> impl Strategy<Value = Commits> {
    prop_oneof![
        Just(Commits::Never),
        Just(Commits::Always),
        (1..20usize).prop_map(Commits::Rows),
        (1..60usize).prop_map(Commits::Bytes),
    ]
}

fn wires() -> impl Strategy<Value = Vec<Vec<Row>>> {
    // Few keys or many, few bad values or many.
    (1..200u16, 0.0..0.5f64).prop_flat_map(|(keys, bad)| {
        let row = (0..keys, prop::bool::weighted(bad));
        prop::collection::vec(prop::collection::vec(row, 0..80), 1..4)
    })
}

proptest! {
    #[test]
    fn what_is_refused_is_what_would_be_row_by_row(
        wires in wires(),
        commits in commits(),
        manner in prop::sample::select(vec![Manner::Undoes, Manner::Ends, Manner::Warns]),
        naming in prop::sample::select(vec![Naming::None, Naming::First, Naming::Last, Naming::Beyond]),
        rows_per_statement in prop_oneof![Just(0), 1..30usize],
        rows_fitting in prop_oneof![Just(1 << 20), 1..20usize],
    ) {
        // Without a transaction nothing takes back what a statement stored.
        prop_assume!(manner != Manner::Warns || commits != Commits::Always);
        let bytes_max = rows_fitting * ROW_BYTES;
        let bounds = Bounds { commits, rows_per_statement, bytes_max, ..BOUNDS };
        let mut server = Server::new(manner, naming);
        let acks = send(&mut server, &wires, bounds, 1, &Shared::default()).unwrap();
        let (refused, table) = one_by_one(&wires);
        for ((ack, refused), rows) in acks.iter().zip(&refused).zip(&wires) {
            let faults: Vec<_> = ack.faults.iter().map(|fault| (fault.row, fault.code)).collect();
            prop_assert_eq!(&faults, refused);
            prop_assert_eq!(ack.loaded, (rows.len() - refused.len()) as u64);
        }
        prop_assert_eq!(&server.table, &table);
        prop_assert_eq!(server.transaction.is_some(), commits == Commits::Never);
    }
}

/// `count` rows, of which about `percent` in a hundred are bad, at places that look random.
fn rows(count: u16, percent: u32) -> Vec<Row> {
    let mut state = 1u32;
    (0..count)
        .map(|key| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (key, (state >> 16) % 100 < percent)
        })
        .collect()
}

#[test]
fn a_named_row_costs_few_statements() {
    for (percent, statements_per_row) in [(1, 4), (3, 4), (10, 4), (50, 3)] {
        let rows = vec![rows(10_000, percent)];
        let mut server = Server::new(Manner::Ends, Naming::First);
        let acks = send(&mut server, &rows, BOUNDS, 1, &Shared::default()).unwrap();
        let bad = acks[0].faults.len();
        assert!(bad.abs_diff(percent as usize * 100) < percent as usize * 30, "{bad}");
        let most = bad * statements_per_row + 20;
        assert!(server.statements <= most, "{} statements for {bad} rows", server.statements);
    }
}

/// Where one in n rows is bad, no way to find them takes fewer questions than about log2(n) + 1.4 for each.
#[test]
fn a_row_that_is_not_named_costs_little_more_statements_than_it_has_to() {
    for (percent, statements_per_row) in [(1, 10), (3, 8), (10, 6), (50, 3)] {
        let rows = vec![rows(10_000, percent)];
        let mut server = Server::new(Manner::Ends, Naming::None);
        let acks = send(&mut server, &rows, BOUNDS, 1, &Shared::default()).unwrap();
        let bad = acks[0].faults.len();
        let most = bad * statements_per_row + 20;
        assert!(server.statements <= most, "{} statements for {bad} rows", server.statements);
    }
}

#[test]
fn rows_go_in_large_statements_again_after_a_bad_one() {
    let mut rows = vec![rows(10_000, 0); 3];
    for (index, rows) in rows.iter_mut().enumerate() {
        rows.iter_mut().for_each(|row| row.0 += 10_000 * index as u16);
    }
    rows[0][2].1 = true;
    let mut server = Server::new(Manner::Ends, Naming::First);
    let acks = send(&mut server, &rows, BOUNDS, 1, &Shared::default()).unwrap();
    assert_eq!(acks.iter().map(|ack| ack.loaded).sum::<u64>(), 29_999);
    // 10,000 in vain, 2, then 8, 16, ... 4096 and the rest, 8192 and the rest, 10,000.
    assert!(server.statements <= 17, "{}", server.statements);
}

#[test]
fn a_repeated_key_among_several_connections_ends_the_load() {
    let shared = Shared::default();
    let mut server = Server::new(Manner::Ends, Naming::First);
    let error = send(&mut server, &[vec![(7, false), (7, false)]], BOUNDS, 2, &shared).unwrap_err();
    assert!(error.what().contains("which one came first is not known (bad)"), "{error}");
    assert!(matches!(*shared.retry.lock().unwrap(), Some(Retry::InOrder(None))));
}

#[test]
fn what_cannot_be_undone_teaches_how_to_go_on() {
    static KNOB: Knob = Knob {
        name: "name",
        kind: KnobKind::Choice(&["value"]),
        default: "value",
        about: "",
        tries: &[],
    };
    let (why, knob, advice) = ("so it is", (&KNOB, "value"), "do otherwise");
    let undo = Undo::No { alone: true, why, knob, advice };
    let bounds = Bounds { undo, commits: Commits::Always, ..BOUNDS };
    let shared = Shared::default();
    let mut server = Server::new(Manner::Warns, Naming::None);
    let error = send(&mut server, &[vec![(1, false), (2, true)]], bounds, 1, &shared).unwrap_err();
    assert_eq!(error.what(), "a row was refused, and so it is: bad");
    assert!(
        matches!(*shared.retry.lock().unwrap(), Some(Retry::Knob(knob, "value")) if *knob == KNOB)
    );
    // By itself a row that wasn't stored leaves nothing behind.
    let bounds = Bounds { rows_per_statement: 1, ..bounds };
    let mut server = Server::new(Manner::Warns, Naming::None);
    let acks = send(&mut server, &[vec![(1, false), (2, true)]], bounds, 1, &shared).unwrap();
    assert_eq!((acks[0].loaded, acks[0].faults.len()), (1, 1));
    // Where it ends the transaction there is no going on.
    let undo = Undo::No { alone: false, why, knob, advice };
    let bounds = Bounds { undo, commits: Commits::Never, ..bounds };
    let mut server = Server::new(Manner::Ends, Naming::First);
    let error = send(&mut server, &[vec![(1, false), (2, true)]], bounds, 1, &shared).unwrap_err();
    assert_eq!(error.what(), "a row was refused, and so it is: bad");
}
