//! What every target keeps, whichever it is: the same tests over all of [`inrush::target::ALL`].
//!
//! A target brings a [`Place`], which says how a load reaches it and how a program that has no part in loading reads its rows, and a line
//! in `over_every_target!`. What only it has, its own folder tests.

use crate::fixture::{Fixture, Outcome, one, size, thorough};
use crate::servers::Rows;

/// A file as RFC 4180 has it, and values that several programs spell in several ways.
mod written;

#[cfg(feature = "duckdb")]
pub(crate) use values::with_late_value;
pub(crate) use written::records;
#[cfg(any(feature = "mssql", feature = "parquet"))]
pub(crate) use written::{date, days};

/// Values: what is there afterwards is what the file says.
mod values;

/// Numbers: what a column of them takes, and what is said where it is none.
mod numbers;

/// Which columns are loaded, and what is added to them.
mod columns;
/// Values that are written otherwise, and what the user says of them.
mod readings;

/// Tables that are there, and files without rows.
mod tables;

/// Where rows come from, when that is no file of text.
mod places;

/// What is found without a load.
mod check;

/// Columns of a source and those of an existing table.
mod matching;

/// Rows that are rejected, and loads that one of them ends.
mod bad_rows;

/// Days, moments, and what of a value or a table no type keeps.
mod moments;
/// What a load tells of itself, to people and to programs.
mod reports;

/// Loads that are killed or stopped.
mod endings;

/// Loads in steps, which go on where they ended.
mod resumed;

/// Rows that a program has, and no file.
mod programs;

/// A table of the real world, by way of a Parquet file.
#[cfg(feature = "parquet")]
mod flights;

/// How a target differs from others, in what the contract asks.
#[derive(Clone, Copy)]
pub(crate) struct Traits {
    /// Its name.
    pub(crate) target: &'static str,
    /// Strategies that are for other tables or files than most, with tests of their own.
    pub(crate) special: &'static [&'static str],
    /// Strategies that add no rows to the existing ones, and say so.
    pub(crate) fresh: &'static [&'static str],
    /// What spreads a load over several connections, with chunks so small that each gets some.
    pub(crate) lanes: &'static [&'static str],
    /// Whether its values are texts, whatever their column's type.
    pub(crate) is_text: bool,
    /// Whether a row costs it many times as much as others.
    pub(crate) slow: bool,
    /// Whether rows that a load added to those that were there go when it ends early. Else it has to say that they stay.
    pub(crate) undoes_appends: bool,
    /// Whether a load can be committed in steps.
    pub(crate) has_steps: bool,
    /// Whether such a load can put a new table in the place of an existing one.
    pub(crate) replaces_in_steps: bool,
    /// Whether a table can have a key.
    pub(crate) has_keys: bool,
    /// Whether rows may have other columns than the existing ones.
    pub(crate) takes_any: bool,
    /// What a load has to say, besides, that adds rows to a table whose key is the column `id`.
    pub(crate) with_key: &'static [&'static str],
    /// What goes with a table that was made with `--primary-key id --index name`.
    pub(crate) lost: &'static str,
}

impl Traits {
    /// As most are.
    pub(crate) const fn of(target: &'static str) -> Self {
        Self {
            target,
            special: &[],
            fresh: &[],
            lanes: &[],
            is_text: false,
            slow: false,
            undoes_appends: true,
            has_steps: false,
            replaces_in_steps: true,
            has_keys: true,
            takes_any: false,
            with_key: &[],
            lost: "PRIMARY KEY (id)",
        }
    }
}

/// Where a load of a test goes, and the files that it reads.
pub(crate) trait Place {
    const TRAITS: Traits;

    /// As many rows as a test would have of a target, or a tenth where they cost too much.
    fn few(rows: usize) -> usize {
        if Self::TRAITS.slow { size(rows / 10, rows) } else { rows }
    }

    /// Runs the test in a new place on every server of the kind. Where none is to be had, says so.
    fn for_each(test: impl Fn(&Self));

    /// The directory that the command runs in.
    fn files(&self) -> &Fixture;

    /// The target as a user writes it.
    fn url(&self) -> String;

    /// Whether this one has the strategy.
    fn has(&self, _strategy: &str) -> bool {
        true
    }

    /// Whether a moment of this one may have a fraction of a second.
    fn keeps_fractions(&self) -> bool {
        true
    }

    /// Bytes of the longest row that this one takes.
    fn row_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Waits until the target knows that a killed load is gone.
    fn settle(&self) {}

    /// Ends the connections of loads, where there are any.
    fn end_connections(&self) {}

    /// The table's name.
    fn table(&self) -> &str {
        "t"
    }

    /// Its rows, in whatever order; the columns are all it has. `None` where there is no such table.
    fn rows(&self, columns: &[&str]) -> Option<Rows>;

    /// Runs `work`, which leaves every file and row as it was. Where the table is in a file, its bytes say enough.
    #[track_caller]
    fn leaves_as_it_was<T: std::fmt::Debug>(
        &self,
        columns: &[&str],
        work: impl FnOnce() -> T,
    ) -> T {
        let before = self.rows(columns);
        let answer = self.files().leaves_all(work);
        assert!(self.rows(columns) == before, "rows have changed: {answer:?}");
        answer
    }
}

/// The columns of most tests.
const COLUMNS: [&str; 2] = ["id", "name"];

/// A query for all rows, its names quoted as the target wants it.
pub(crate) fn select(table: &str, columns: &[&str], quoted: impl Fn(&str) -> String) -> String {
    let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    format!("SELECT {} FROM {}", columns.join(", "), quoted(table))
}

/// `inrush load` into the place's table.
fn load<P: Place>(place: &P, args: &[&str]) -> Outcome {
    place.files().load(&[args, &["--table", place.table(), &place.url()]].concat())
}

/// The same, which fails and leaves everything as it was.
#[track_caller]
fn refuses<P: Place>(place: &P, columns: &[&str], args: &[&str]) -> Outcome {
    let run = place.leaves_as_it_was(columns, || load(place, args));
    assert_eq!(run.stdout, "", "a failed load has nothing to report");
    run.exits(1).ends_with_nothing_changed()
}

/// What spreads a load over two connections.
pub(crate) const TWO_LANES: &[&str] = &["--lanes", "2", "--chunk-size", "1k"];

/// Runs the test by every strategy ([`one`] of them, but for `make test-all`), and first without one, as most users load; in a new place
/// each time. Where several connections can share the work they do: over one it goes into existing tables.
fn by_every_strategy<P: Place>(test: impl Fn(&P, &[&str])) {
    P::for_each(|place| test(place, &[]));
    let target = inrush::target::ALL.iter().find(|it| it.name() == P::TRAITS.target).unwrap();
    let ids = target.strategies().iter().map(|it| it.id());
    for id in one(ids.filter(|id| !P::TRAITS.special.contains(id)).collect()) {
        println!("by {id}");
        let alone = ["--strategy", id, "--durability", "none"];
        let way = [&alone[..], P::TRAITS.lanes].concat();
        P::for_each(|place| {
            if place.has(id) {
                test(place, &way)
            }
        });
        if way != alone && thorough() {
            P::for_each(|place| {
                if place.has(id) {
                    test(place, &alone)
                }
            });
        }
    }
}

/// `--if-exists append`, with the strategy if it can.
fn adding<'w, P: Place>(way: &[&'w str]) -> Vec<&'w str> {
    let can = !way.iter().any(|word| P::TRAITS.fresh.contains(word));
    [if can { way } else { &[] }, &["--if-exists", "append"]].concat()
}

#[track_caller]
fn sorted(mut rows: Rows) -> Rows {
    rows.sort();
    rows
}

/// The rows, in order; there has to be a table.
#[track_caller]
fn all_of<P: Place>(place: &P, columns: &[&str]) -> Rows {
    sorted(place.rows(columns).expect("a table"))
}

macro_rules! over_every_target {
    ($cases:tt $($(#[$meta:meta])* $name:ident: $place:ty,)*) => {
        $($(#[$meta])* mod $name { over_one_target! { $place, $cases } })*

        /// Their names.
        const TARGETS: &[&str] = &[$($(#[$meta])* <$place as Place>::TRAITS.target),*];
    };
}

macro_rules! over_one_target {
    ($place:ty, { $($(#[$meta:meta])* $part:ident::$case:ident,)* }) => {
        $($(#[$meta])* #[test] fn $case() { $crate::contract::$part::$case::<$place>(); })*
    };
}

over_every_target! {
    {
        values::come_back_in_their_types,
        values::null_is_not_the_empty_string,
        values::texts_come_back,
        values::lines_may_end_in_two_bytes,
        values::wide_rows_and_long_values_come_back,
        values::a_late_mismatch_widens_the_column_and_loses_nothing,
        values::numbers_that_look_like_text_stay_as_written,
        numbers::go_into_doubles_as_they_are_or_not_at_all,
        numbers::are_not_rounded_by_a_guess,
        numbers::of_a_column_that_is_text_are_told_with_their_line,
        numbers::may_be_a_negative_zero,
        #[cfg(feature = "parquet")]
        numbers::may_be_none,
        #[cfg(feature = "parquet")]
        numbers::are_no_bytes,
        columns::are_chosen_renamed_and_added,
        columns::that_are_added_as_one_are_told,
        columns::that_have_to_have_a_value_are_so_in_the_table,
        columns::differ_in_case_alone_whatever_their_letters,
        columns::that_may_be_either_of_two_are_refused,
        columns::that_case_alone_tells_apart_are_named_as_they_are_called,
        columns::whose_names_are_too_long_are_refused,
        columns::of_json_and_parquet_are_chosen_and_added_as_well,
        columns::of_files_that_differ_are_united_where_the_user_says_so,
        columns::that_the_table_lacks_may_be_left_out,
        columns::that_the_table_lacks_are_added,
        columns::that_are_not_there_are_refused,
        readings::are_those_that_their_options_say,
        readings::of_a_named_column_are_what_it_is_said_to_be,
        readings::that_no_form_fits_are_bad_rows_of_a_named_column,
        readings::of_days_in_digits_are_never_numbers,
        readings::of_moments_in_seconds_are_read_where_it_is_said,
        readings::of_days_are_midnights_in_a_column_of_timestamps,
        readings::that_come_late_and_fit_no_form_make_text_of_the_column,
        readings::of_json_are_read_where_they_are_strings,
        readings::hours_that_clocks_skip_or_repeat_are_bad_rows,
        readings::of_a_zone_go_into_a_column_without_one_as_those_of_utc,
        readings::are_never_taken_as_they_stand_in_silence,
        readings::of_a_column_that_no_option_reads_stay,
        readings::are_looked_at_by_a_check_as_by_a_load,
        readings::are_texts_and_no_cells_of_numbers_and_days,
        readings::of_a_zone_may_have_types_of_their_own,
        readings::that_count_seconds_may_have_fractions,
        readings::of_json_may_be_strings_of_documents,
        readings::that_can_not_be_applied_are_told,
        places::members_of_an_archive_are_loaded_as_files_are,
        places::a_sheet_is_loaded_as_the_same_table_in_csv_is,
        tables::are_added_to_emptied_or_replaced_as_was_asked,
        tables::a_plan_touches_nothing,
        tables::a_header_alone_is_a_table_without_rows,
        tables::an_empty_file_is_an_error,
        tables::a_line_that_is_no_header_replaces_no_table,
        tables::an_empty_array_has_no_rows,
        tables::a_report_adds_up,
        tables::bytes_that_are_asked_for_are_the_files_own,
        tables::rows_are_compared_by_a_key_that_they_have,
        tables::columns_that_the_source_lacks_stay_as_they_are,
        tables::columns_stay_as_they_are_in_rows_with_a_key_of_several,
        tables::rows_with_one_key_go_into_a_new_table_in_order,
        tables::names_that_are_hardly_meant_are_told,
        bad_rows::one_in_a_hundred_thousand,
        bad_rows::go_aside_as_they_are_written,
        bad_rows::what_programs_write_for_null_is_said_to_be_readable,
        bad_rows::among_a_thousand_cost_no_good_one,
        #[cfg(all(feature = "files", feature = "parquet"))]
        bad_rows::of_a_parquet_file_are_loaded_as_they_were_once_fixed,
        #[cfg(all(feature = "files", feature = "parquet"))]
        bad_rows::of_lists_and_structs_are_loaded_as_they_were_once_fixed,
        bad_rows::are_the_later_ones_with_one_key,
        bad_rows::of_a_pipe_may_repeat_a_key,
        bad_rows::a_key_that_is_there_is_one,
        bad_rows::without_a_key_change_no_other,
        bad_rows::that_are_skipped_are_in_no_checksum,
        bad_rows::that_are_allowed_keep_a_columns_type,
        bad_rows::are_values_that_would_not_stay_as_they_are_written,
        bad_rows::are_records_with_a_name_that_no_column_can_have,
        check::finds_the_rows_that_a_load_would_reject,
        matching::names_that_the_table_lacks_are_refused,
        matching::a_source_without_names_goes_by_position_and_says_so,
        matching::names_that_the_user_gives_are_those_of_the_table,
        matching::a_line_that_may_be_a_header_is_never_data,
        matching::adding_to_what_is_missing_is_refused,
        matching::bad_rows_go_back_to_their_table,
        matching::null_may_be_spelt_for_one_column,
        reports::count_each_input,
        reports::a_file_is_loaded_once_however_often_it_is_named,
        reports::tell_new_rows_from_changed_ones,
        reports::a_failure_is_an_object_with_its_place,
        moments::declared_by_hand_are_checked_as_if_guessed,
        moments::nanoseconds_are_kept,
        moments::nanoseconds_that_come_late_cost_one_restart,
        moments::nanoseconds_far_away_are_text,
        moments::a_type_of_nanoseconds_is_had_or_refused,
        moments::kinds_of_text_have_a_type_or_are_refused,
        #[cfg(all(feature = "files", feature = "parquet"))]
        moments::nanoseconds_of_a_parquet_file_are_kept,
        moments::an_escaped_nul_is_a_nul,
        moments::half_a_surrogate_is_no_text,
        moments::a_document_with_half_a_surrogate_is_text,
        moments::a_name_with_a_nul_is_no_column,
        moments::what_a_replaced_table_had_is_told,
        endings::a_killed_load_leaves_the_table_as_it_was,
        endings::a_load_that_is_stopped_leaves_the_table_as_it_was,
        endings::a_load_that_ends_at_any_moment_leaves_the_table_as_it_was,
        resumed::a_load_goes_on_behind_its_last_step_wherever_it_ended,
        resumed::a_load_that_ends_behind_a_step_is_resumable,
        resumed::headers_among_the_rows_of_earlier_steps_are_counted,
        resumed::what_a_load_in_steps_has_left_refuses_no_other_load,
        resumed::a_file_that_has_moved_is_the_one_that_was_begun,
        resumed::two_first_runs_at_once_load_each_row_once,
        resumed::what_is_no_value_of_a_settled_type_stays_a_bad_row,
        resumed::a_type_that_was_asked_for_means_the_same_in_every_run,
        resumed::existing_rows_have_a_say_in_every_step,
        resumed::what_has_changed_since_the_last_step_is_refused,
        resumed::rows_of_steps_that_are_gone_are_noticed,
        resumed::the_ledger_takes_no_rows_of_users,
        resumed::the_first_step_leaves_nothing_when_it_fails,
        resumed::every_form_of_file_goes_on_where_it_ended,
        resumed::what_can_not_be_committed_in_steps_is_refused,
        programs::rows_are_loaded_as_those_of_files,
        programs::bad_rows_are_told_by_their_position,
        programs::a_writer_loads_all_or_nothing,
        programs::a_writer_in_steps_leaves_whole_steps,
        programs::a_step_that_fails_is_undone,
        programs::bad_rows_of_steps_are_in_one_file,
        programs::columns_of_a_batch_go_by_name,
        programs::a_number_is_no_boolean_of_a_new_table,
        #[cfg(all(feature = "cloud", feature = "sqlite"))]
        places::over_the_network_have_the_rows_of_the_file,
        #[cfg(feature = "parquet")]
        flights::come_back_by_way_of_parquet,
    }
    #[cfg(feature = "sqlite")]
    sqlite: crate::sqlite::File,
    #[cfg(feature = "mysql")]
    mysql: crate::servers::Server<crate::mysql::server::MySql>,
    #[cfg(feature = "postgres")]
    postgres: crate::servers::Server<crate::postgres::server::Postgres>,
    #[cfg(feature = "mongodb")]
    mongodb: crate::servers::Server<crate::mongodb::server::Mongodb>,
    #[cfg(feature = "duckdb")]
    duckdb: crate::duckdb::File,
    #[cfg(feature = "mssql")]
    mssql: crate::mssql::Server,
    #[cfg(feature = "files")]
    csv: crate::files::File<crate::files::Csv>,
    #[cfg(feature = "files")]
    jsonl: crate::files::File<crate::files::JsonLines>,
    #[cfg(all(feature = "files", feature = "parquet"))]
    parquet: crate::files::File<crate::files::Parquet>,
}

#[test]
fn no_target_is_left_out() {
    for target in inrush::target::ALL {
        assert!(TARGETS.contains(&target.name()), "{}", target.name());
    }
}
