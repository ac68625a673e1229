//! Where loads are measured: beside the user's table, under a name that every later load sweeps.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use inrush::target::{self, Console, Home, JobTables, Twins};
use inrush::{Error, Plan, Result};
use inrush_core::doctor::{Copy, indexes::ForeignKey};
use inrush_core::pending::{PendingFolder, follow_link};
use inrush_core::{Action, unique};

/// Nothing of it is to be left, whatever the user wants meanwhile.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What hidden tables of loads are named like, so that what is swept is swept by their locks.
const HIDDEN: &str = "inrush_staging_";

/// What to do where no table can be made.
const ELSEWHERE: &str = "--beside measures on a private server of the same version instead";

/// A place for loads that count for nothing. All of it goes with this.
pub(super) enum Ground {
    /// A folder beside the database's file.
    Folder {
        /// Goes with its lock.
        folder: PendingFolder,
        /// The database as loads name it.
        target: String,
        /// Its file.
        path: PathBuf,
        /// What the database is before each load, where there is one.
        template: Option<PathBuf>,
        table: String,
    },
    /// A table in the user's own database.
    Server {
        /// Holds the lock that keeps sweeps away.
        keeper: Box<dyn Console + 'static>,
        /// Makes and drops the table.
        worker: Option<Box<dyn Console + 'static>>,
        plan: Box<Plan>,
        jobs: &'static dyn JobTables,
        twins: &'static dyn Twins,
        home: Home,
        hidden: String,
    },
}

impl Ground {
    /// Makes room for loads like the plan's.
    ///
    /// # Errors
    /// When nothing can be made there; nothing has changed then.
    pub(super) fn of(plan: &Plan) -> Result<Self> {
        if plan.location.is_stdout() {
            return Err(Error::usage("nothing is kept of what goes to standard output")
                .advise("name a file"));
        }
        match plan.location.files.first() {
            Some(file) => Self::beside(plan, &follow_link(file)),
            None => Self::within(plan),
        }
    }

    fn beside(plan: &Plan, file: &Path) -> Result<Self> {
        let folder = PendingFolder::create(file).map_err(|error| {
            let shown = file.display();
            Error::target(format!("cannot make a folder beside {shown}: {error}"))
                .advise("check the permissions of the directory, where the loads are measured")
                .advise("or copy the database to a directory of yours, and name the copy")
        })?;
        let name = file.file_name().unwrap_or_default();
        let path = folder.path.join(name);
        // `sqlite:`, `csv:` and the like stand before the path, or an ending says it. A path may have a colon, too.
        let shown = path.display().to_string();
        let is_path = |target: &String| {
            target::find(target).is_ok_and(|(_, location)| location.files.first() == Some(&path))
        };
        let scheme = plan.request.target.split_once(':').map(|(scheme, _)| scheme);
        let with_scheme = scheme.map(|scheme| format!("{scheme}:{shown}")).filter(is_path);
        let target = with_scheme.unwrap_or(shown);
        let table = plan.table.clone();
        let mut ground = Self::Folder { folder, target, path, template: None, table };
        if plan.facts.target.exists {
            ground.copy_definition(plan)?;
        }
        Ok(ground)
    }

    /// An empty database like the user's.
    fn copy_definition(&mut self, plan: &Plan) -> Result<()> {
        let Self::Folder { folder, target, path, template, .. } = self else { return Ok(()) };
        let doctor = plan.target.doctor();
        let table = plan.facts.target.table.as_ref().map(|_| plan.table.as_str());
        let copied = match doctor {
            Some(doctor) => doctor.copy(&plan.location, table, &NEVER),
            None => Err(Error::target("a file of rows that is there can't be measured")),
        };
        let statements = match (copied, table) {
            (Ok(copy), _) => apart(&plan.table, copy).map(|copy| copy.statements),
            // Other tables don't bear on it.
            (Err(_), None) => Ok(Vec::new()),
            (Err(error), Some(_)) => Err(error),
        }
        .map_err(|error| error.advise("name a target that isn't there yet"))?;
        let (kind, location) = target::find(target)?;
        {
            let mut console = kind.console(&location, &NEVER)?;
            if kind.name() == "sqlite" {
                // The size of a page has to be known before the first one.
                for name in ["page_size", "journal_mode"] {
                    if let Some(value) = plan.facts.target.settings.get(name) {
                        console.execute(&format!("PRAGMA {name} = {value}"))?;
                    }
                }
            }
            for sql in &statements {
                console.execute(sql)?;
            }
            if statements.is_empty() {
                // A database without a table may have no file.
                console.execute("CREATE TABLE inrush_ground (n INTEGER)")?;
            }
        }
        let kept = folder.path.join("template");
        std::fs::rename(&*path, &kept).map_err(|error| no_room(&kept, &error))?;
        *template = Some(kept);
        Ok(())
    }

    fn within(plan: &Plan) -> Result<Self> {
        let jobs = plan.target.jobs().ok().map(|jobs| jobs.tables);
        let found = jobs.and_then(|jobs| Some((jobs, jobs.twins()?)));
        let (jobs, twins) = found.ok_or_else(|| {
            Error::target(format!("loads into {} can't be measured", plan.facts.target.engine))
                .advise("name a database of SQLite, DuckDB, MySQL, MariaDB or PostgreSQL")
        })?;
        jobs.refuse(plan, true).map_err(|error| {
            Error::target(error.what().replace("a job", "tune")).advise(ELSEWHERE)
        })?;
        let home = jobs.home(&plan.facts.target, &plan.table);
        let hidden = format!("{HIDDEN}{}", unique::word());
        let mut keeper = connected(plan, jobs)?;
        let mut worker = connected(plan, jobs)?;
        // What an earlier one has left.
        jobs.sweep(&mut *worker, &home);
        twins.keep_hidden(&mut *keeper, &home, &hidden)?;
        // Who may not drop a table must not make one. Where there is none the database says that as well, in its own words.
        worker
            .execute(&format!("DROP TABLE IF EXISTS {}", twins.named(&home, &hidden)))
            .map_err(|error| error.advise(ELSEWHERE))?;
        let (worker, plan) = (Some(worker), Box::new(plan.clone()));
        let mut ground = Self::Server { keeper, worker, plan, jobs, twins, home, hidden };
        // Whoever may make no table hears of it before anything is measured.
        ground.make_anyway().map_err(|error| error.advise(ELSEWHERE))?;
        Ok(ground)
    }

    /// A table, to see whether one can be made.
    fn make_anyway(&mut self) -> Result<()> {
        self.ready()?;
        let Self::Server { worker: Some(worker), twins, home, hidden, .. } = self else {
            return Ok(());
        };
        let table = twins.named(home, hidden);
        // One that is like the user's is there already.
        if worker.execute(&format!("SELECT 1 FROM {table} WHERE 1 = 0")).is_err() {
            worker.execute(&format!("CREATE TABLE {table} (n int)"))?;
        }
        self.ready()
    }

    /// The database, as loads name it.
    pub(super) fn target(&self) -> &str {
        match self {
            Self::Folder { target, .. } => target,
            Self::Server { plan, .. } => &plan.request.target,
        }
    }

    /// The table, as loads name it.
    pub(super) fn table(&self) -> String {
        match self {
            Self::Folder { table, .. } => table.clone(),
            Self::Server { jobs, home, hidden, .. } => jobs.requested(home, hidden),
        }
    }

    /// Makes everything as it is before a load: no table, or an empty one like the user's.
    ///
    /// # Errors
    /// When the database refuses, or is gone.
    pub(super) fn ready(&mut self) -> Result<()> {
        match self {
            Self::Folder { folder, path, template, .. } => {
                clear(&folder.path, template.as_deref())?;
                if let Some(template) = template {
                    std::fs::copy(&*template, &*path).map_err(|error| no_room(path, &error))?;
                }
                Ok(())
            }
            Self::Server { keeper, worker, plan, jobs, twins, home, hidden } => {
                // A server that was started anew knows of no lock.
                if keeper.ping().is_err() {
                    *keeper = connected(plan, *jobs)?;
                    twins.keep_hidden(&mut **keeper, home, hidden)?;
                }
                let console = match worker {
                    Some(worker) => worker,
                    None => worker.insert(connected(plan, *jobs)?),
                };
                let made = remake(&mut **console, plan, (*jobs, *twins), home, hidden);
                if made.is_err() {
                    // It may be lost: the next one is another.
                    *worker = None;
                }
                made
            }
        }
    }

    /// Keeps what is there now, rows and all, for what is there before each load; whether that can be done.
    ///
    /// # Errors
    /// When the disk is full.
    pub(super) fn keep_rows(&mut self) -> Result<bool> {
        let Self::Folder { path, template: Some(template), .. } = self else { return Ok(false) };
        std::fs::copy(&*path, &*template).map_err(|error| no_room(template, &error))?;
        Ok(true)
    }
}

/// A copy of a table that can be filled by itself. To its own rows a table may refer: they come with the load.
fn apart(table: &str, copy: Copy) -> Result<Copy> {
    let is_to_another = |key: &&ForeignKey| !key.parent.eq_ignore_ascii_case(&key.table);
    let Some(key) = copy.referring.iter().find(is_to_another) else { return Ok(copy) };
    let columns = key.columns.join(", ");
    Err(Error::target(format!(
        "{table} refers to rows of another table, which are not copied: FOREIGN KEY ({columns}) REFERENCES {}",
        key.parent
    )))
}

/// A connection that is idle for as long as loads take, and may write where loads may: as those of jobs.
fn connected(plan: &Plan, jobs: &dyn JobTables) -> Result<Box<dyn Console + 'static>> {
    let mut console = plan.target.console(&plan.location, &NEVER)?;
    if let Some(opening) = jobs.opening() {
        console.execute(opening)?;
    }
    Ok(console)
}

fn remake(
    console: &mut dyn Console,
    plan: &Plan,
    (jobs, twins): (&dyn JobTables, &dyn Twins),
    home: &Home,
    hidden: &str,
) -> Result<()> {
    if !jobs.drop_tables(console, home, &[hidden]) {
        return Err(Error::target(format!(
            "the table {hidden} of a load before could not be dropped"
        )));
    }
    if plan.choice.action != Action::Create {
        for sql in twins.make_twin(home, hidden, &home.table) {
            console.execute(&sql)?;
        }
    }
    Ok(())
}

/// Removes all that a load has left in the folder.
fn clear(folder: &Path, template: Option<&Path>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|error| no_room(folder, &error))?;
    for entry in entries.flatten().map(|entry| entry.path()) {
        if Some(entry.as_path()) != template {
            let removed = match entry.is_dir() {
                true => std::fs::remove_dir_all(&entry),
                false => std::fs::remove_file(&entry),
            };
            removed.map_err(|error| no_room(&entry, &error))?;
        }
    }
    Ok(())
}

fn no_room(path: &Path, error: &std::io::Error) -> Error {
    Error::target(format!("{}: {error}", path.display()))
}

impl Drop for Ground {
    fn drop(&mut self) {
        let Self::Server { worker, plan, jobs, home, hidden, keeper, .. } = self else { return };
        // A server that is being started anew answers soon, or the next load sweeps.
        let again = || connected(plan, *jobs);
        let fresh = worker.take().map_or_else(again, Ok);
        let is_dropped =
            |console: &mut dyn Console| jobs.drop_tables(console, home, &[hidden.as_str()]);
        let done = fresh.is_ok_and(|mut console| is_dropped(&mut *console));
        if !done && let Ok(mut console) = again() {
            is_dropped(&mut *console);
        }
        let _ = keeper.ping();
    }
}
