//! Rows that a program has, and no file: they get what files get.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use inrush::plan::{IfExists, RejectLimit};
use inrush::{
    Aftermath, Kind, LoadOptions, Observer, Reject, RejectsTo, Steps, Unobserved, Writer,
};

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
        writer.write(&batch(0..1_000)).unwrap();
        let left = std::thread::spawn(move || {
            let _writer = writer;
            // Without a word: that is the hook's.
            std::panic::resume_unwind(Box::new("the program's own"));
        });
        left.join().unwrap_err();
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

/// Of steps that fail nothing stays in it.
pub(super) fn bad_rows_of_steps_are_in_one_file<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1000,row 1000\n");
        load(place, &["in.csv", "--type", "id=integer"]).exits(0);
        if P::TRAITS.takes_any || P::TRAITS.is_text {
            return;
        }
        let file = place.files().path("bad.jsonl");
        std::fs::write(&file, "half fixed\n").unwrap();
        let mut tolerant = options(place);
        tolerant.if_exists = IfExists::Append;
        tolerant.max_rejects = RejectLimit::Rows(3);
        tolerant.rejects = RejectsTo::File(file.clone());
        let begin = || {
            let steps = Steps { rows: Some(10), time: None };
            let (schema, url) = (batch(0..0).schema(), target(place));
            Writer::in_steps(schema, &url, &tolerant, steps, Arc::new(Unobserved)).unwrap()
        };
        // Ten rows, of which some are bad.
        let step = |step: i64, bad: i64| {
            let id = |at: i64| {
                if at < bad { format!("bad {step}") } else { (step * 10 + at).to_string() }
            };
            let ids: ArrayRef = Arc::new((0..10).map(id).map(Some).collect::<StringArray>());
            batch_of(ids, (0..10).map(|at| Some(name(step * 10 + at))).collect())
        };
        let mut writer = begin();
        for (at, bad) in [(0, 1), (1, 0), (2, 1), (3, 1)] {
            writer.write(&step(at, bad)).unwrap();
        }
        let report = writer.finish().unwrap();
        assert_eq!((report.rows_loaded, report.rows_rejected), (37, 3));
        assert_eq!(report.rejects, std::slice::from_ref(&file));
        let earlier = format!("an earlier {} is now", file.display());
        let of_files = report.warnings.iter().filter(|warning| warning.starts_with(&earlier));
        assert_eq!(of_files.count(), 1, "{:?}", report.warnings);
        let kept = std::fs::read_to_string(&file).unwrap();
        let ids: Vec<_> = kept.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
        assert_eq!(ids, ["bad 0", "bad 2", "bad 3"]);

        let mut writer = begin();
        let mut written = Ok(());
        for (at, bad) in [(4, 2), (5, 1), (6, 2), (7, 0)] {
            written = written.and_then(|()| writer.write(&step(at, bad)));
        }
        let error = written.and_then(|()| writer.finish().map(drop)).unwrap_err();
        assert!(error.what().contains("bad row 4; --max-rejects 3"), "{error}");
        if P::TRAITS.undoes_appends {
            assert_eq!(error.aftermath(), Some(Aftermath::Committed { rows: 17 }));
            let kept = std::fs::read_to_string(&file).unwrap();
            assert_eq!(kept.lines().count(), 3, "{kept}");
            let notes = std::fs::read_to_string(place.files().path("bad.jsonl.jsonl")).unwrap();
            assert_eq!(notes.lines().count(), 3, "{notes}");
        }
    });
}

pub(super) fn columns_of_a_batch_go_by_name<P: Place>() {
    P::for_each(|place| {
        let turned = batch(10..20).project(&[1, 0]).unwrap();
        let report =
            inrush::load(vec![batch(0..10), turned], &target(place), &options(place), &Unobserved);
        assert_eq!(report.unwrap().rows_loaded, 20);
        assert_eq!(all_of(place, &COLUMNS), wanted(0..20));

        let mut adds = options(place);
        adds.if_exists = IfExists::Append;
        let columns = batch(20..30).columns().to_vec();
        let others = RecordBatch::try_from_iter(["x", "y"].into_iter().zip(columns)).unwrap();
        let rows = vec![batch(30..40), others];
        let error = inrush::load(rows, &target(place), &adds, &Unobserved).err().unwrap();
        assert_eq!(
            error.what(),
            "the rows can't be read: a batch has the columns x, y, and the schema has id, name"
        );
        place.settle();
        if P::TRAITS.undoes_appends {
            assert_eq!(all_of(place, &COLUMNS), wanted(0..20));
        }
    });
}

pub(super) fn a_number_is_no_boolean_of_a_new_table<P: Place>() {
    P::for_each(|place| {
        let truths: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        let of = |truths: ArrayRef| {
            let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
            RecordBatch::try_from_iter([("id", ids), ("truth", truths)]).unwrap()
        };
        let rows = |numbers: Vec<i64>| {
            vec![of(Arc::clone(&truths)), of(Arc::new(Int64Array::from(numbers)))]
        };
        let (url, options) = (target(place), options(place));
        let error = inrush::load(rows(vec![1, 2]), &url, &options, &Unobserved).err().unwrap();
        assert!(error.what().contains("row 4, column truth: '2' is not a boolean"), "{error}");
        assert_eq!(error.kind(), Kind::Rejects);
        place.settle();
        let report = inrush::load(rows(vec![1, 0]), &url, &options, &Unobserved).unwrap();
        assert_eq!(report.rows_loaded, 4);
    });
}
