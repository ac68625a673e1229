//! Rows that a try before has found to be bad, by what a key is in them: the writer leaves them out.

use crate::blame::{not_present, repeated};
use inrush_core::flow::Code;
use inrush_core::{Job, KeyValues, Orphans, Parentless, Repeats};
use inrush_net::statement::{Batch, Blame, Named};

/// Leaves out bad rows.
pub(super) struct Filter<'p> {
    repeats: Option<Repeated<'p>>,
    orphans: Vec<(Key<'p>, &'p Parentless)>,
    /// The batch's good rows, and where in the batch each is.
    pub(super) bytes: Vec<u8>,
    pub(super) rows: Vec<usize>,
    form: Vec<u8>,
}

/// A key, and where in a row its columns are.
struct Key<'p> {
    names: &'p [String],
    columns: Vec<usize>,
}

/// What is known of rows that repeat a key.
struct Repeated<'p> {
    key: Key<'p>,
    values: &'p KeyValues,
    /// Which values the table has now.
    taken: Vec<bool>,
    /// Those that came with the batch which is being written.
    coming: Vec<u32>,
}

impl<'p> Key<'p> {
    /// `None` where the load does not bring all of its columns.
    fn of(names: &'p [String], job: &Job) -> Option<Self> {
        let place =
            |name: &String| job.choice.columns.iter().position(|column| column.name == *name);
        let columns = names.iter().map(place).collect::<Option<_>>()?;
        Some(Self { names, columns })
    }

    /// Puts its value in the row into `form`; `None` where a part of it is NULL.
    fn read(&self, row: &[u8], form: &mut Vec<u8>) -> Option<()> {
        form.clear();
        for column in &self.columns {
            form.extend_from_slice(field(row, *column)?);
        }
        Some(())
    }

    /// Its only column, as messages name it.
    fn named(&self) -> Named {
        match self.names {
            [column] => Named::Column(column.clone()),
            _ => Named::Nothing,
        }
    }
}

impl<'p> Filter<'p> {
    /// `None` where nothing is known of such rows.
    pub(super) fn of(job: &'p Job) -> Option<Self> {
        let source = &job.facts.source;
        let repeats = match &*source.repeats {
            Repeats::Values { key, values } => Key::of(key, job).map(|key| {
                let taken = values.taken.clone();
                Repeated { key, values, taken, coming: Vec::new() }
            }),
            _ => None,
        };
        let orphans: Vec<_> = match &*source.orphans {
            Orphans::Known(all) => {
                all.iter().filter_map(|known| Some((Key::of(&known.key, job)?, known))).collect()
            }
            _ => Vec::new(),
        };
        if repeats.is_none() && orphans.is_empty() {
            return None;
        }
        let (bytes, rows, form) = (Vec::new(), Vec::new(), Vec::new());
        Some(Self { repeats, orphans, bytes, rows, form })
    }

    /// Puts the batch's good rows into `bytes`, and gives the others.
    pub(super) fn sift(&mut self, batch: &Batch<'_>) -> Vec<(usize, Blame)> {
        self.forget();
        self.bytes.clear();
        self.rows.clear();
        let mut bad = Vec::new();
        for (index, row) in batch.rows_of_bytes().enumerate() {
            // An orphan makes nobody else's key a repeated one.
            if let Some(blame) = self.orphan(row).or_else(|| self.repeated(row)) {
                bad.push((index, blame));
                continue;
            }
            self.bytes.extend_from_slice(row);
            self.rows.push(index);
        }
        bad
    }

    /// The batch is there.
    pub(super) fn keep(&mut self) {
        if let Some(repeats) = &mut self.repeats {
            repeats.coming.clear();
        }
    }

    /// The batch isn't there.
    pub(super) fn forget(&mut self) {
        if let Some(Repeated { taken, coming, .. }) = &mut self.repeats {
            for value in coming.drain(..) {
                taken[value as usize] = false;
            }
        }
    }

    /// What is wrong with the row, if it refers to none.
    fn orphan(&mut self, row: &[u8]) -> Option<Blame> {
        let Self { orphans, form, .. } = self;
        orphans.iter().find_map(|(key, known)| {
            key.read(row, form)?;
            let shown = known.forms.get(form.as_slice())?;
            let message = not_present(&known.words, key.names, shown, &known.parent);
            Some(Blame { row: None, named: key.named(), code: Code::ForeignKey, message })
        })
    }

    /// What is wrong with the row, if it repeats a key.
    fn repeated(&mut self, row: &[u8]) -> Option<Blame> {
        let Self { repeats, form, .. } = self;
        let Repeated { key, values, taken, coming } = repeats.as_mut()?;
        key.read(row, form)?;
        let value = *values.forms.get(form.as_slice())?;
        if !std::mem::replace(&mut taken[value as usize], true) {
            coming.push(value);
            return None;
        }
        let shown = &values.shown[value as usize];
        let message = repeated(&values.words, key.names, shown);
        Some(Blame { row: None, named: key.named(), code: Code::DuplicateKey, message })
    }
}

/// A field of a row in binary, with its length in front; `None` for NULL.
fn field(row: &[u8], column: usize) -> Option<&[u8]> {
    // Behind the number of fields.
    let mut rest = row.get(2..)?;
    for place in 0.. {
        let length = i32::from_be_bytes(*rest.first_chunk::<4>()?);
        let bytes = 4 + usize::try_from(length).unwrap_or(0);
        if place == column {
            return if length < 0 { None } else { rest.get(..bytes) };
        }
        rest = rest.get(bytes..)?;
    }
    None
}
