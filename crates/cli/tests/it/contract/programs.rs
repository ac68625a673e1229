//! Rows that a program has, and no file: they get what files get.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use inrush::plan::{IfExists, RejectLimit};
use inrush::{Aftermath, LoadOptions, Observer, Reject, RejectsTo, Steps, Unobserved, Writer};

use super::{COLUMNS, Place, all_of, load, sorted};
use crate::servers::Rows;

/// The target as a program writes it, which has a directory of its own.
fn target<P: Place>(place: &P) -> String {
    let url = place.url();
    let absolute = |path: &str| place.files().path(path).display().to_string();
    match url.split_once(':') {
        Some((_, rest)) if rest.starts_with("//") => url,
        Some((scheme, path)) => format!("{scheme}:{}", absolute(path)),
        None => absolute(&url),
    }
}

fn options<P: Place>(place: &P) -> LoadOptions {
    LoadOptions { table: Some(place.table().to_owned()), ..LoadOptions::default() }
}

fn batch(ids: Range<i64>) -> RecordBatch {
    let names: StringArray = ids.clone().map(|id| Some(name(id))).collect();
    batch_of(Arc::new(ids.collect::<Int64Array>()), names)
}

fn batch_of(ids: ArrayRef, names: StringArray) -> RecordBatch {
    RecordBatch::try_from_iter([("id", ids), ("name", Arc::new(names))]).unwrap()
}

fn name(id: i64) -> String {
    format!("row {id}")
}

fn wanted(ids: impl Iterator<Item = i64>) -> Rows {
    sorted(ids.map(|id| vec![Some(id.to_string()), Some(name(id))]).collect())
}

/// Keeps the bad rows that it is told.
#[derive(Default)]
struct Kept(Mutex<Vec<Reject>>);

impl Observer for Kept {
    fn rejected(&self, row: &Reject) {
        self.0.lock().unwrap().push(row.clone());
    }
}

pub(super) fn rows_are_loaded_as_those_of_files<P: Place>() {
    P::for_each(|place| {
        let batches = vec![batch(0..10), batch(10..1_000)];
        let report = inrush::load(batches, &target(place), &options(place), &Unobserved).unwrap();
        assert_eq!((report.rows_read, report.rows_loaded), (1_000, 1_000));
        assert_eq!(all_of(place, &COLUMNS), wanted(0..1_000));
    });
}

/// Into an existing table: its columns say what a value is, whatever the batch calls it.
pub(super) fn bad_rows_are_told_by_their_position<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1000,row 1000\n");
        let declared = ["in.csv", "--type", "id=integer"];
        load(place, &declared).exits(0);
        if P::TRAITS.takes_any || P::TRAITS.is_text {
            return;
        }
        let odd: ArrayRef = Arc::new(StringArray::from(vec!["3", "four", "5"]));
        let names = [3, 4, 5].map(|id| Some(name(id))).into_iter().collect();
        let rows = vec![batch(0..3), batch_of(odd, names)];
        let mut tolerant = options(place);
        tolerant.if_exists = IfExists::Append;
        tolerant.max_rejects = RejectLimit::Rows(1);
        tolerant.rejects = RejectsTo::Observer;
        let kept = Kept::default();
        let report = inrush::load(rows, &target(place), &tolerant, &kept).unwrap();
        assert_eq!((report.rows_loaded, report.rows_rejected), (5, 1));
        let kept = kept.0.into_inner().unwrap();
        let told: Vec<_> = kept.iter().map(|row| (row.record, row.column.as_deref())).collect();
        assert_eq!(told, [(5, Some("id"))]);
        assert_eq!(all_of(place, &COLUMNS), wanted([0, 1, 2, 3, 5, 1_000].into_iter()));
    });
}

pub(super) fn a_writer_loads_all_or_nothing<P: Place>() {
    P::for_each(|place| {
        let begin =
            || Writer::begin(batch(0..0).schema(), &target(place), &options(place)).unwrap();
        let mut writer = begin();
        writer.write(&batch(0..1_000)).unwrap();
        drop(writer);
        place.settle();
        assert_eq!(place.rows(&COLUMNS), None);

        let mut writer = begin();
        for start in [0, 100, 200] {
            writer.write(&batch(start..start + 100)).unwrap();
        }
        assert_eq!(writer.finish().unwrap().rows_loaded, 300);
        assert_eq!(all_of(place, &COLUMNS), wanted(0..300));
    });
}

pub(super) fn a_writer_in_steps_leaves_whole_steps<P: Place>() {
    P::for_each(|place| {
        let steps = Steps { rows: Some(100), time: None };
        let (schema, url) = (batch(0..0).schema(), target(place));
        let mut writer =
            Writer::in_steps(schema, &url, &options(place), steps, Arc::new(Unobserved)).unwrap();
        writer.write(&batch(0..150)).unwrap();
        writer.commit().unwrap();
        assert_eq!(all_of(place, &COLUMNS), wanted(0..150));
        // A step ends where it would have.
        writer.write(&batch(150..275)).unwrap();
        writer.write(&batch(275..276)).unwrap();
        drop(writer);
        place.settle();
        assert_eq!(all_of(place, &COLUMNS), wanted(0..250));
    });
}

/// A step that fails is undone, and those before it stay.
pub(super) fn a_step_that_fails_is_undone<P: Place>() {
    P::for_each(|place| {
        if !P::TRAITS.has_keys {
            return;
        }
        let steps = Steps { rows: Some(100), time: None };
        let (schema, url) = (batch(0..0).schema(), target(place));
        let mut keyed = options(place);
        keyed.primary_key = vec!["id".to_owned()];
        let mut writer =
            Writer::in_steps(schema, &url, &keyed, steps, Arc::new(Unobserved)).unwrap();
        let _ = writer.write(&batch(0..100));
        let written = writer.write(&batch(99..199));
        let error = written.and_then(|()| writer.finish().map(drop)).unwrap_err();
        let left = all_of(place, &COLUMNS);
        let rows = left.len() as u64;
        assert_eq!(error.aftermath(), Some(Aftermath::Committed { rows }), "{error}");
        place.settle();
        if P::TRAITS.undoes_appends {
            assert_eq!(left, wanted(0..100));
        }
    });
}
