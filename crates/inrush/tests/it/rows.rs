//! Rows that a program has, and no file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
    RunArray, StringArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use inrush::pipe::Progress;
use inrush::plan::{Durability, IfExists, RejectLimit, Type, Verify};
use inrush::{
    Aftermath, BatchSource, Kind, LoadOptions, Observer, Reject, RejectsTo, Steps, Stream,
    Unobserved, Writer, load,
};
use rusqlite::Connection;

fn options(change: impl FnOnce(&mut LoadOptions)) -> LoadOptions {
    let mut options = LoadOptions {
        table: Some("t".to_owned()),
        durability: Durability::None,
        verify: Verify::Checksum,
        ..LoadOptions::default()
    };
    change(&mut options);
    options
}

fn schema() -> SchemaRef {
    let field = |name: &str, ty| Field::new(name, ty, true);
    Arc::new(Schema::new(vec![field("id", DataType::Int64), field("name", DataType::Utf8)]))
}

fn batch(ids: std::ops::Range<i64>) -> RecordBatch {
    let names: StringArray = ids.clone().map(|id| Some(format!("n{id}"))).collect();
    let ids: Int64Array = ids.collect();
    RecordBatch::try_new(schema(), vec![Arc::new(ids), Arc::new(names)]).unwrap()
}

fn count(database: &Path) -> i64 {
    let connection = Connection::open(database).unwrap();
    connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
}

/// Keeps the bad rows that it is told.
#[derive(Default)]
struct Kept(Mutex<Vec<Reject>>);

impl Observer for Kept {
    fn rejected(&self, row: &Reject) {
        self.0.lock().unwrap().push(row.clone());
    }
}

#[test]
fn batches_and_streams_are_loaded_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let target = path.display().to_string();
    let batches = vec![batch(0..10), batch(10..100_000)];
    let report = load(batches.clone(), &target, &options(|_| ()), &Unobserved).unwrap();
    assert_eq!((report.rows_loaded, count(&path)), (100_000, 100_000));

    let reader = arrow_array::RecordBatchIterator::new(batches.into_iter().map(Ok), schema());
    let adds = options(|options| options.if_exists = IfExists::Append);
    let report = load(Stream::new(reader), &target, &adds, &Unobserved).unwrap();
    assert_eq!((report.rows_loaded, count(&path)), (100_000, 200_000));
}

#[test]
fn runs_are_the_values_that_they_stand_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let runs = RunArray::try_new(
        &Int32Array::from(vec![2, 3, 6]),
        &StringArray::from(vec![Some("a"), None, Some("b")]),
    );
    let runs: ArrayRef = Arc::new(runs.unwrap());
    let batch = RecordBatch::try_from_iter_with_nullable([("v", runs.slice(1, 4), true)]).unwrap();
    load(vec![batch], &path.display().to_string(), &options(|_| ()), &Unobserved).unwrap();
    let connection = Connection::open(&path).unwrap();
    let mut select = connection.prepare("SELECT v FROM t ORDER BY rowid").unwrap();
    let values = select.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
    let values: Vec<_> = values.map(Result::unwrap_or_default).collect();
    let word = |word: &str| Some(word.to_owned());
    assert_eq!(values, [word("a"), None, word("b"), word("b")]);
}

/// A batch may have a column in another type than the schema: its values are judged as they are.
#[test]
fn a_column_of_another_type_is_judged_by_its_values() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["7", "seven"]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let odd = RecordBatch::try_from_iter([("id", texts), ("name", names)]).unwrap();
    let rows = vec![batch(0..3), odd];
    let kept = Kept::default();
    let tolerant = options(|options| {
        options.max_rejects = RejectLimit::Rows(1);
        options.rejects = RejectsTo::Observer;
    });
    let report = load(rows, &path.display().to_string(), &tolerant, &kept).unwrap();
    assert_eq!((report.rows_read, report.rows_loaded, report.rows_rejected), (5, 4, 1));
    let kept = kept.0.into_inner().unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].record, kept[0].column.as_deref()), (5, Some("id")));
    assert_eq!(kept[0].at.to_string(), "row 5");
}

#[test]
fn bad_rows_need_a_place_and_a_table_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.db").display().to_string();
    let nameless = LoadOptions { table: None, ..options(|_| ()) };
    let error = load(vec![batch(0..1)], &target, &nameless, &Unobserved).err().unwrap();
    assert_eq!(error.kind(), Kind::Usage);
    let tolerant = options(|options| options.max_rejects = RejectLimit::All);
    let error = load(vec![batch(0..1)], &target, &tolerant, &Unobserved).err().unwrap();
    assert!(error.what().contains("no place of their own"), "{error}");
    // A file is a table.
    let file = format!("csv:{}", directory.path().join("out.csv").display());
    let nameless = LoadOptions { verify: Verify::Count, ..nameless };
    load(vec![batch(0..1)], &file, &nameless, &Unobserved).unwrap();
}

#[test]
fn a_writer_that_is_not_finished_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let target = path.display().to_string();
    let mut writer = Writer::begin(schema(), &target, &options(|_| ())).unwrap();
    writer.write(&batch(0..50_000)).unwrap();
    drop(writer);
    assert!(!path.exists());

    let mut writer = Writer::begin(schema(), &target, &options(|_| ())).unwrap();
    for start in 0..100 {
        writer.write(&batch(start * 1_000..(start + 1) * 1_000)).unwrap();
    }
    assert_eq!(writer.finish().unwrap().rows_loaded, 100_000);
    assert_eq!(count(&path), 100_000);
}

#[test]
fn a_batch_has_the_writers_columns_in_whatever_order() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let mut writer =
        Writer::begin(schema(), &path.display().to_string(), &options(|_| ())).unwrap();
    writer.write(&batch(0..10)).unwrap();
    writer.write(&batch(10..20).project(&[1, 0]).unwrap()).unwrap();
    let strange = batch(0..1).project(&[0]).unwrap();
    let error = writer.write(&strange).err().unwrap();
    assert_eq!(error.what(), "a batch has the columns id, and the schema has id, name");
    assert_eq!(error.kind(), Kind::Usage);
    writer.finish().unwrap();
    let connection = Connection::open(&path).unwrap();
    let sum: i64 = connection
        .query_row("SELECT sum(id) FROM t WHERE name = 'n' || id", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sum, 190);
}

/// Batches that may be none of the schema.
struct Given(SchemaRef, Vec<RecordBatch>);

impl BatchSource for Given {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0)
    }

    fn open(&mut self) -> inrush::Result<Box<dyn RecordBatchReader + Send>> {
        let schema = self.1[0].schema();
        Ok(Box::new(RecordBatchIterator::new(self.1.clone().into_iter().map(Ok), schema)))
    }
}

#[test]
fn columns_of_batches_are_those_of_the_schema() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let target = path.display().to_string();
    let turned = |ids| batch(ids).project(&[1, 0]).unwrap();
    let replaces = options(|options| options.if_exists = IfExists::Replace);
    for rows in [vec![batch(0..10), turned(10..20)], vec![turned(0..10), batch(10..20)]] {
        load(Given(schema(), rows), &target, &replaces, &Unobserved).unwrap();
        let connection = Connection::open(&path).unwrap();
        let sum = "SELECT sum(id) FROM t WHERE name = 'n' || id";
        assert_eq!(connection.query_row(sum, [], |row| row.get(0)), Ok(190));
    }
    let narrow: SchemaRef = Arc::new(schema().project(&[0]).unwrap());
    let mut fields = schema().fields().to_vec();
    fields.push(Arc::new(Field::new("z", DataType::Utf8, true)));
    let wide: SchemaRef = Arc::new(Schema::new(fields));
    for (said, shown) in [(narrow, "id"), (wide, "id, name, z")] {
        let rows = Given(said, vec![batch(0..10)]);
        let error = load(rows, &target, &replaces, &Unobserved).err().unwrap();
        assert_eq!(
            error.what(),
            format!(
                "the rows can't be read: a batch has the columns id, name, and the schema has {shown}"
            )
        );
    }
    assert_eq!(count(&path), 20);
}

#[test]
fn no_batch_says_nothing_of_columns() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.db").display().to_string();
    let error = load(Vec::new(), &target, &options(|_| ()), &Unobserved).err().unwrap();
    assert_eq!(error.what(), "the rows have no columns");
    assert!(error.advice()[0].contains("give one without rows"), "{error}");
    load(vec![batch(0..0)], &target, &options(|_| ()), &Unobserved).unwrap();
}

#[test]
fn a_load_that_was_stopped_stops_no_other() {
    struct Stopped(AtomicBool);
    impl Observer for Stopped {
        fn stop(&self) -> Option<&AtomicBool> {
            Some(&self.0)
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.db").display().to_string();
    assert!(Kept::default().stop().is_none() && Unobserved.stop().is_none());
    let stopped = Stopped(AtomicBool::new(true));
    let error = load(vec![batch(0..1)], &target, &options(|_| ()), &stopped).err().unwrap();
    assert_eq!(error.kind(), Kind::Interrupted);
    load(vec![batch(0..1)], &target, &options(|_| ()), &Unobserved).unwrap();
}

/// Panics as soon as it is told how far the load is.
#[derive(Default)]
struct Panics(AtomicU64);

impl Observer for Panics {
    fn progress(&self, _progress: &Progress) {
        self.0.fetch_add(1, Relaxed);
        std::panic::resume_unwind(Box::new("the observer's own"));
    }
}

#[test]
fn a_panic_of_the_observer_is_for_who_asks_how_it_went() {
    let directory = tempfile::tempdir().unwrap();
    let begin = || {
        let observer = Arc::new(Panics::default());
        let target = directory.path().join("a.db").display().to_string();
        let mut writer =
            Writer::observed(schema(), &target, &options(|_| ()), observer.clone()).unwrap();
        writer.write(&batch(0..10)).unwrap();
        let began = Instant::now();
        while observer.0.load(Relaxed) == 0 {
            assert!(began.elapsed() < Duration::from_secs(30), "the observer hears of nothing");
            std::thread::sleep(Duration::from_millis(10));
        }
        writer
    };
    drop(begin());
    let writers = vec![begin(), begin()];
    let left = catch_unwind(AssertUnwindSafe(move || {
        let _writers = writers;
        std::panic::resume_unwind(Box::new("the program's own"));
    }));
    assert_eq!(left.unwrap_err().downcast_ref(), Some(&"the program's own"));
    let writer = begin();
    let left = catch_unwind(AssertUnwindSafe(move || writer.finish().map(drop)));
    assert_eq!(left.unwrap_err().downcast_ref(), Some(&"the observer's own"));
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_no_text_could_say_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let typed = |precision, scale| [("id".to_owned(), Type::Decimal { precision, scale })].into();
    let percent = |percent| {
        options(|options| {
            options.max_rejects = RejectLimit::Percent(percent);
            options.rejects = RejectsTo::Observer;
        })
    };
    for (wrong, shown) in [
        (percent(f64::NAN), "--max-rejects: 'NaN%' is neither"),
        (percent(-5.0), "--max-rejects: '-5%' is neither"),
        (percent(250.0), "--max-rejects: '250%' is neither"),
        (
            options(|o| o.types = typed(2, 5)),
            "--type 'id=decimal(2,5)': 'decimal(2,5)' is not a decimal type",
        ),
        (options(|o| o.indexes = vec![vec![]]), "--index: an index has at least one column"),
        (
            options(|o| o.indexes = vec![names(&["id", "name", "ID"])]),
            "--index id,name,ID: names column ID twice",
        ),
        (
            options(|o| o.primary_key = names(&["id", "id"])),
            "--primary-key id,id: names column id twice",
        ),
        (
            options(|o| o.libraries = [("nope".to_owned(), "/x".into())].into()),
            "a library is named for target 'nope', which there is not",
        ),
    ] {
        let target = path.display().to_string();
        let error = load(vec![batch(0..3)], &target, &wrong, &Unobserved).err().unwrap();
        assert!(error.what().starts_with(shown), "{error}");
        assert_eq!(error.kind(), Kind::Usage);
    }
    assert!(!path.exists());
    let fine = options(|o| o.libraries = [("duckdb".to_owned(), "/x".into())].into());
    load(vec![batch(0..3)], &path.display().to_string(), &fine, &Unobserved).unwrap();
}

/// What the schema says is no guess from values.
#[test]
fn a_value_that_is_none_of_a_declared_column_is_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.db").display().to_string();
    let mut writer = Writer::begin(schema(), &target, &options(|_| ())).unwrap();
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["seven"]));
    let odd = RecordBatch::try_from_iter([("id", texts.clone()), ("name", texts)]).unwrap();
    let error = writer.write(&odd).and_then(|()| writer.finish().map(drop)).unwrap_err();
    let advice = error.advice().join("; ");
    let wanted =
        "--type id=TYPE says what the column is: its type is the one that the load began with";
    assert!(advice.contains(wanted), "{advice}");
}

#[test]
fn a_writer_tells_why_its_load_failed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        .unwrap();
    let mut writer =
        Writer::begin(schema(), &path.display().to_string(), &options(|_| ())).unwrap();
    let error = loop {
        // The same keys again.
        if let Err(error) = writer.write(&batch(0..10_000)) {
            break error;
        }
    };
    assert_eq!(error.kind(), Kind::Rejects, "{error}");
    assert_eq!(error.aftermath(), Some(Aftermath::NothingChanged));
    assert_eq!(writer.write(&batch(0..1)).err().unwrap().kind(), Kind::Usage);
    assert_eq!(count(&path), 0);
}

#[test]
fn steps_are_exact_and_what_is_left_lands_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let target = path.display().to_string();
    let steps = Steps { rows: Some(1_000), time: None };
    let keyed = options(|options| options.primary_key = vec!["id".to_owned()]);
    let begin =
        || Writer::in_steps(schema(), &target, &keyed, steps, Arc::new(Unobserved)).unwrap();
    let mut writer = begin();
    writer.write(&batch(0..2_500)).unwrap();
    // Blocks until the first steps have been taken.
    writer.write(&batch(2_500..2_600)).unwrap();
    writer.write(&batch(2_600..2_700)).unwrap();
    assert_eq!(count(&path), 2_000);
    let report = writer.finish().unwrap();
    assert_eq!((report.rows_loaded, report.steps.unwrap().committed), (2_700, 3));
    assert_eq!(count(&path), 2_700);

    let adds = options(|options| options.if_exists = IfExists::Append);
    let kept = Arc::new(Kept::default());
    let mut writer =
        Writer::in_steps(schema(), &target, &adds, steps, kept.clone() as Arc<_>).unwrap();
    writer.write(&batch(3_000..5_500)).unwrap();
    writer.write(&batch(0..1)).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(error.aftermath(), Some(Aftermath::Committed { rows: 2_000 }));
    assert_eq!(kept.0.lock().unwrap()[0].record, 2_501);
    assert_eq!(count(&path), 4_700);
}

/// What asks for the commit is behind the batch whose step fails, and nobody reads it any more.
#[test]
fn a_commit_behind_a_step_that_fails_ends() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let steps = Steps { rows: Some(10), time: None };
    let declared = options(|options| {
        options.types = [("id".to_owned(), inrush::plan::Type::Integer)].into();
    });
    let target = path.display().to_string();
    let mut writer =
        Writer::in_steps(schema(), &target, &declared, steps, Arc::new(Unobserved)).unwrap();
    let odd: ArrayRef = Arc::new(StringArray::from(vec!["x"; 5]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["y"; 5]));
    let odd = RecordBatch::try_from_iter([("id", odd), ("name", names)]).unwrap();
    writer.write(&batch(0..25)).unwrap();
    let written = writer.write(&odd).and_then(|()| writer.write(&batch(30..35)));
    let error = written.and_then(|()| writer.commit()).err().unwrap();
    assert_eq!(error.kind(), Kind::Rejects, "{error}");
    assert_eq!(error.aftermath(), Some(Aftermath::Committed { rows: 20 }));
    assert_eq!(count(&path), 20);
}

#[test]
fn a_step_is_due_after_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let steps = Steps { rows: None, time: Some(Duration::from_millis(100)) };
    let target = path.display().to_string();
    let mut writer =
        Writer::in_steps(schema(), &target, &options(|_| ()), steps, Arc::new(Unobserved)).unwrap();
    writer.write(&batch(0..10)).unwrap();
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "nothing is committed");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(writer);
    assert_eq!(count(&path), 10);
}
