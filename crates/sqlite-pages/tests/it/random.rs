use inrush_sqlite_pages::PageSize;
use inrush_sqlite_pages::page::local_bytes_max;
use proptest::prelude::*;

use crate::assembler::{Cell, Column, Layout, RootPage, Row, Table, assemble};
use crate::bytes::{integers, reals};
use crate::index_assembler::{Index, Indexed, Kind};
use crate::oracle::check;
use crate::random_numbers::Random;

/// How rowids follow each other.
#[derive(Clone, Copy, Debug)]
enum Rowids {
    Dense,
    Gapped,
    Negative,
    /// Up to the largest one.
    AtMax,
    /// From the smallest one on.
    AtMin,
}

/// What values are like, by their likely sizes.
#[derive(Clone, Copy, Debug)]
enum Values {
    Null,
    Short,
    Mixed,
    /// Rows whose payload is near a border of the overflow formulas.
    Borders,
    Long,
}

/// A table as it is drawn. Values come from the seed, so that a failing case shrinks to a small
/// shape.
#[derive(Clone, Debug)]
struct Shape {
    columns: Vec<Column>,
    rows: usize,
    rowids: Rowids,
    values: Values,
    seed: u64,
}

fn columns() -> impl Strategy<Value = Vec<Column>> {
    let column = prop_oneof![
        4 => Just(Column::Any), 2 => Just(Column::Text), 2 => Just(Column::Real)
    ];
    let count = prop_oneof![30 => 1_usize..=60, 1 => Just(2000_usize)];
    let columns =
        count.prop_flat_map(move |count| proptest::collection::vec(column.clone(), count));
    (columns, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(mut columns, at, has_key)| {
        if has_key {
            let at = at.index(columns.len());
            columns[at] = Column::Key;
        }
        columns
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let rows = prop_oneof![1 => Just(0), 1 => Just(1), 6 => 2_usize..40, 4 => 40_usize..2000];
    let rowids = proptest::sample::select(vec![
        Rowids::Dense,
        Rowids::Gapped,
        Rowids::Negative,
        Rowids::AtMax,
        Rowids::AtMin,
    ]);
    let values = proptest::sample::select(vec![
        Values::Null,
        Values::Short,
        Values::Mixed,
        Values::Borders,
        Values::Long,
    ]);
    (columns(), rows, rowids, values, any::<u64>()).prop_map(
        |(columns, rows, rowids, values, seed)| Shape { columns, rows, rowids, values, seed },
    )
}

fn layouts() -> impl Strategy<Value = Layout> {
    let sizes = proptest::sample::select(PageSize::ALL.to_vec());
    let run_rows = prop_oneof![Just(usize::MAX), Just(1), 2_usize..500];
    let roots = proptest::sample::select(vec![RootPage::First, RootPage::Last]);
    (sizes, run_rows, roots).prop_map(|(size, run_rows, root)| Layout { size, run_rows, root })
}

impl Shape {
    /// The table; no more than about 2 MB, so that a case takes milliseconds.
    fn table(&self, size: PageSize) -> Table {
        let mut random = Random(self.seed);
        let mut budget = 2_000_000_usize;
        let mut rows: Vec<Row> = Vec::new();
        let mut rowid = match self.rowids {
            Rowids::Dense => 1,
            Rowids::Gapped => random.bits() as i64 >> random.below(60),
            Rowids::Negative => -(self.rows as i64) * 300,
            Rowids::AtMax => (i64::MAX - self.rows as i64).saturating_add(1),
            Rowids::AtMin => i64::MIN,
        };
        for i in 0..self.rows {
            let cells = self.cells(size, &mut random);
            let bytes: usize = cells.iter().map(cell_bytes).sum();
            rows.push((rowid, cells));
            let gap = match self.rowids {
                Rowids::Gapped => 1 + (random.bits() >> 1 >> random.below(62)),
                Rowids::Negative => 1 + random.below(500),
                _ => 1,
            };
            let next = rowid.checked_add_unsigned(gap);
            match (next, budget.checked_sub(bytes)) {
                (Some(next), Some(left)) if i + 1 < self.rows => (rowid, budget) = (next, left),
                _ => break,
            }
        }
        Table::new(&self.columns, rows)
    }

    /// The table, a few hundred rows of it, with an index for each of `picks`. Where a key has to
    /// be unique a number makes it so.
    fn indexed(&self, size: PageSize, picks: &[Vec<usize>], without_rowid: bool) -> Indexed {
        let mut table = self.table(size);
        table.rows.truncate(300);
        // SQLite has no table of 2,001 columns.
        table.columns.truncate(60);
        let number = table.columns.len();
        table.columns.push(Column::Any);
        let key = table.columns.iter().position(|column| *column == Column::Key);
        for (i, (rowid, cells)) in table.rows.iter_mut().enumerate() {
            cells.truncate(number);
            cells.push(Cell::Integer(i as i64 * 7919 % 1009));
            if let Some(key) = key {
                cells[key] = Cell::Integer(*rowid);
            }
        }
        if let (Some(key), true) = (key, without_rowid) {
            table.columns[key] = Column::Any;
        }
        let mut indexes: Vec<Index> = Vec::new();
        for (i, pick) in picks.iter().enumerate() {
            let mut columns: Vec<usize> = Vec::new();
            for column in pick.iter().map(|pick| pick % number) {
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
            let kind = [Kind::Plain, Kind::Unique, Kind::Automatic][i % 3];
            if kind != Kind::Plain {
                columns.push(number);
            }
            // SQLite makes one index of two constraints that are equal.
            if indexes.iter().all(|index| index.columns != columns) {
                indexes.push(Index::new(kind, &columns));
            }
        }
        match without_rowid {
            true => Indexed::without_rowid(table, &[number], &indexes),
            false => Indexed::new(table, &indexes),
        }
    }

    fn cells(&self, size: PageSize, random: &mut Random) -> Vec<Cell> {
        let mut cells: Vec<Cell> =
            self.columns.iter().map(|column| self.cell(*column, random)).collect();
        if let (Values::Borders, Some(at)) = (self.values, self.columns.iter().position(is_any)) {
            cells[at] = Cell::Null;
            let others: usize = cells.iter().map(cell_bytes).sum();
            let usable = size.usable();
            let border = match random.below(3) {
                0 => local_bytes_max(usable),
                1 => (usable - 12) * 32 / 255 - 23 + random.below(3) as usize * (usable - 4),
                _ => local_bytes_max(usable) + random.below(3) as usize * (usable - 4),
            };
            let length = border.saturating_sub(others + 1 + random.below(8) as usize);
            cells[at] = Cell::Blob(vec![random.bits() as u8; length]);
        }
        cells
    }

    fn cell(&self, column: Column, random: &mut Random) -> Cell {
        if column == Column::Key || random.below(8) == 0 || matches!(self.values, Values::Null) {
            return Cell::Null;
        }
        let length = match self.values {
            Values::Long if random.below(self.columns.len() as u64) < 2 => random.below(20_001),
            Values::Mixed => random.below(20_001) >> random.below(16),
            _ => random.below(70),
        };
        match column {
            Column::Text => Cell::Text(text(random, length as usize)),
            Column::Real => Cell::Real(real(random)),
            _ => match random.below(4) {
                0 => Cell::Integer(integer(random)),
                1 => Cell::Real(real(random)),
                2 => Cell::Text(text(random, length as usize)),
                _ => Cell::Blob(vec![random.bits() as u8; length as usize]),
            },
        }
    }
}

fn is_any(column: &Column) -> bool {
    *column == Column::Any
}

/// About what a cell takes in the record.
fn cell_bytes(cell: &Cell) -> usize {
    match cell {
        Cell::Null => 1,
        Cell::Integer(_) | Cell::Real(_) => 9,
        Cell::Text(text) => 3 + text.len(),
        Cell::Blob(blob) => 3 + blob.len(),
    }
}

fn integer(random: &mut Random) -> i64 {
    match random.below(2) {
        0 => random.pick(&integers()),
        _ => random.bits() as i64 >> random.below(64),
    }
}

fn real(random: &mut Random) -> f64 {
    match random.below(3) {
        0 => random.pick(&reals()),
        1 => f64::from(random.bits() as i32),
        _ => Some(f64::from_bits(random.bits())).filter(|real| !real.is_nan()).unwrap_or(0.25),
    }
}

fn text(random: &mut Random, length: usize) -> String {
    let piece = random.pick(&["a", "xyz ", "\u{e4}\u{1f600}", "\0", "12", "'\""]);
    let mut text = piece.repeat(length.div_ceil(piece.len()));
    while text.len() > length {
        text.pop();
    }
    text
}

/// How many cases, unless PROPTEST_CASES says otherwise.
pub(crate) fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = cases.unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn any_table(shape in shapes(), layout in layouts()) {
        let table = shape.table(layout.size);
        let file = assemble(layout, std::slice::from_ref(&table));
        check(file.path(), &[table], shape.seed);
    }

    #[test]
    fn two_tables(one in shapes(), other in shapes(), layout in layouts()) {
        let mut tables = [one.table(layout.size), other.table(layout.size)];
        tables[1].name = "other".to_owned();
        let file = assemble(layout, &tables);
        // VACUUM renumbers rows without a key, so what the first check did is part of the second.
        let connection = crate::oracle::open(file.path());
        crate::oracle::check_integrity(&connection);
        for table in &tables {
            crate::oracle::check_rows(&connection, table, &table.rows);
        }
    }
}

proptest! {
    // Each case is made by SQLite too, twice.
    #![proptest_config(cases(32))]

    #[test]
    fn any_indexes(
        shape in shapes(),
        layout in layouts(),
        picks in proptest::collection::vec(proptest::collection::vec(0_usize..60, 1..5), 1..4),
        without_rowid in any::<bool>(),
    ) {
        let indexed = shape.indexed(layout.size, &picks, without_rowid);
        crate::indexes::check(layout, &indexed, shape.seed);
    }
}
