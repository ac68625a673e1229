//! What a server of SQL Server's kind does, as far as a load sees it: written by the protocol's specification, for want of a server.
//!
//! It takes the protocol and the statements that the target sends, each as a server would read it, and nothing else: a statement that it
//! doesn't know is an error. There is one table at most. Rows are kept value by value, as the types on the wire have them.

use std::collections::HashSet;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::sleep;
use std::time::Duration;

use super::tds::{self, Answer, BATCH, BULK, Bytes, LOGIN7, PRELOGIN, TypeInfo, Value};
use crate::contract::days;

/// A server that is one as long as the test runs.
pub(super) struct Double {
    port: u16,
    state: Arc<Mutex<State>>,
}

/// What the tests tell it, and see of it.
#[derive(Default)]
pub(super) struct State {
    /// What is committed.
    pub(super) table: Option<Table>,
    pub(super) script: Script,
    /// Every batch that came, in order.
    pub(super) batches: Vec<String>,
    /// User, password, database and application of those who came in.
    pub(super) logins: Vec<[String; 4]>,
    pub(super) packet_sizes: Vec<u32>,
    /// Rows that came, refused ones too.
    pub(super) rows_sent: usize,
    /// Connections that are open.
    pub(super) connections: usize,
}

/// What it does otherwise than a server in good health.
#[derive(Default)]
pub(super) struct Script {
    /// The password that it wants.
    pub(super) password: Option<String>,
    /// Says no to a row: number and message.
    pub(super) refuses: Option<Refuses>,
    /// Errors take the whole transaction with them.
    pub(super) dooms: bool,
    /// Rows that repeat a key are left out without an error, as IGNORE_DUP_KEY does.
    pub(super) ignores_repeats: bool,
    /// Hangs up once so many rows have come.
    pub(super) cuts_after: Option<usize>,
    /// Hangs up when it is told to commit, and has done so.
    pub(super) cuts_commit: bool,
    /// Stores other values than were sent.
    pub(super) lies: bool,
    /// A trigger deletes nothing instead of what it is asked to, and no table can be truncated.
    pub(super) keeps_rows: bool,
    /// Never answers when rows come.
    pub(super) hangs: bool,
    /// Insists on encryption.
    pub(super) wants_tls: bool,
    /// The text of delayed_durability_desc.
    pub(super) delayed: &'static str,
}

type Refuses = Box<dyn Fn(&[Value]) -> Option<(u32, String)> + Send>;

/// A table.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// The primary key's columns, by their places.
    pub(super) key: Vec<usize>,
    pub(super) rows: Vec<Vec<Value>>,
    keys: HashSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) ty: String,
    pub(super) nullable: bool,
    pub(super) identity: bool,
}

impl Table {
    /// `name type [NOT NULL|IDENTITY]`, separated by semicolons; the first of them that is NOT NULL is its primary key.
    pub(super) fn new(name: &str, columns: &str) -> Self {
        let columns: Vec<Column> =
            columns.split(';').map(|column| Column::parse(column.trim())).collect();
        let key = columns.iter().position(|column| !column.nullable).into_iter().collect();
        Self { schema: "dbo".to_owned(), name: name.to_owned(), columns, key, ..Self::default() }
    }

    fn sql(&self) -> String {
        format!("[{}].[{}]", self.schema.replace(']', "]]"), self.name.replace(']', "]]"))
    }

    /// The table without its rows.
    fn head(&self) -> Self {
        Self {
            schema: self.schema.clone(),
            name: self.name.clone(),
            columns: self.columns.clone(),
            key: self.key.clone(),
            ..Self::default()
        }
    }

    fn key_of(&self, row: &[Value]) -> Option<String> {
        (!self.key.is_empty())
            .then(|| format!("{:?}", self.key.iter().map(|at| &row[*at]).collect::<Vec<_>>()))
    }

    fn place(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|column| column.name == name);
        found.unwrap_or_else(|| panic!("no column {name}"))
    }

    fn cut(&mut self, rows: usize) {
        for row in self.rows.split_off(rows) {
            if let Some(key) = self.key_of(&row) {
                self.keys.remove(&key);
            }
        }
    }

    fn info(&self, column: &Column) -> TypeInfo {
        TypeInfo::of(&column.ty, column.nullable)
    }
}

impl Column {
    fn parse(text: &str) -> Self {
        let (name, rest) = match text.strip_prefix('[') {
            Some(rest) => {
                let end = rest.replace("]]", "__").find(']').expect("a closing bracket");
                (rest[..end].replace("]]", "]"), rest[end + 1..].trim())
            }
            None => {
                let (name, rest) = text.split_once(' ').expect("name and type");
                (name.to_owned(), rest.trim())
            }
        };
        let identity = rest.ends_with("IDENTITY");
        let nullable = !rest.ends_with("NOT NULL") && !identity;
        let ty = rest
            .trim_end_matches("IDENTITY")
            .trim_end_matches("NOT NULL")
            .trim_end_matches("NULL")
            .trim();
        Self { name, ty: ty.to_owned(), nullable, identity }
    }
}

impl Double {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || {
                    lock(&state).connections += 1;
                    let mut connection = Connection::new(stream, Arc::clone(&state));
                    let outcome = connection.serve();
                    lock(&state).connections -= 1;
                    drop(outcome);
                });
            }
        });
        Self { port, state }
    }

    /// One that has this table.
    pub(super) fn with(table: Table) -> Self {
        let double = Self::start();
        double.state().table = Some(table);
        double
    }

    pub(super) fn url(&self) -> String {
        format!("mssql://sa:secret@127.0.0.1:{}/shop", self.port)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn script(&self, change: impl FnOnce(&mut Script)) -> &Self {
        change(&mut self.state().script);
        self
    }

    /// The rows that are committed.
    pub(super) fn rows(&self) -> Vec<Vec<Value>> {
        self.state().table.as_ref().map(|table| table.rows.clone()).unwrap_or_default()
    }

    /// Whether a batch came that has this in it.
    pub(super) fn heard(&self, part: &str) -> bool {
        self.state().batches.iter().any(|batch| batch.contains(part))
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A transaction: the table as only this connection sees it, and how many rows it had when it was saved.
struct Transaction {
    table: Option<Table>,
    saved: usize,
    doomed: bool,
}

struct Connection {
    stream: TcpStream,
    state: Arc<Mutex<State>>,
    packet_size: usize,
    transaction: Option<Transaction>,
    /// The columns that INSERT BULK has announced.
    announced: Option<Vec<String>>,
}

/// What a statement comes to.
enum Outcome {
    Done,
    Rows(Vec<(String, u16, TypeInfo)>, Vec<Vec<Value>>),
    Changed(u64),
    Failed(u32, String),
    /// The connection ends here.
    Cut,
}

/// Latin1, and no NULL: how the catalogue's names come.
fn name_column(name: &str) -> (String, u16, TypeInfo) {
    (name.to_owned(), 1, TypeInfo::of("nvarchar(128)", true))
}

fn integer_column(name: &str) -> (String, u16, TypeInfo) {
    (name.to_owned(), 1, TypeInfo::of("int", true))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

impl Connection {
    fn new(stream: TcpStream, state: Arc<Mutex<State>>) -> Self {
        // Short answers are not to wait for the client's kernel to confirm the one before.
        stream.set_nodelay(true).unwrap();
        Self { stream, state, packet_size: 4096, transaction: None, announced: None }
    }

    fn serve(&mut self) -> io::Result<()> {
        while let Some((kind, message)) = tds::receive(&mut self.stream)? {
            let mut answer = Answer::default();
            match kind {
                PRELOGIN => answer.0 = self.prelogin(&message),
                LOGIN7 => {
                    if !self.login(&message, &mut answer) {
                        tds::send(&mut self.stream, &answer.0, self.packet_size)?;
                        return Ok(());
                    }
                }
                BATCH => {
                    let mut bytes = Bytes(&message);
                    // ALL_HEADERS.
                    let length = bytes.u32() as usize;
                    bytes.take(length - 4);
                    let sql = tds::utf16(bytes.0);
                    lock(&self.state).batches.push(sql.clone());
                    if !self.batch(&sql, &mut answer) {
                        return Ok(());
                    }
                }
                BULK => {
                    if !self.bulk(&message, &mut answer) {
                        return Ok(());
                    }
                }
                other => panic!("a message of type {other:#x}"),
            }
            let is_login = kind == LOGIN7;
            let size = if is_login { 4096 } else { self.packet_size };
            tds::send(&mut self.stream, &answer.0, size)?;
        }
        Ok(())
    }

    fn prelogin(&self, message: &[u8]) -> Vec<u8> {
        const NOT_SUPPORTED: u8 = 2;
        const REQUIRED: u8 = 3;
        // VERSION, ENCRYPTION, and the end.
        assert_eq!(message[0], 0, "VERSION is first");
        let encryption = if lock(&self.state).script.wants_tls { REQUIRED } else { NOT_SUPPORTED };
        vec![0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0x10, 0x04, 0, 0, encryption]
    }

    fn login(&mut self, message: &[u8], answer: &mut Answer) -> bool {
        let size = u32::from_le_bytes(message[8..12].try_into().unwrap());
        let field = |index: usize| {
            let at = 36 + index * 4;
            let number =
                |at: usize| usize::from(u16::from_le_bytes([message[at], message[at + 1]]));
            let (from, units) = (number(at), number(at + 2));
            message[from..from + units * 2].to_vec()
        };
        // Each half of a byte in the other's place, and some bits turned round.
        let password: Vec<u8> =
            field(2).into_iter().map(|byte| (byte ^ 0xa5).rotate_left(4)).collect();
        let login = [
            tds::utf16(&field(1)),
            tds::utf16(&password),
            tds::utf16(&field(8)),
            tds::utf16(&field(3)),
        ];
        let mut state = lock(&self.state);
        let is_wrong = state.script.password.as_ref().is_some_and(|wanted| *wanted != login[1]);
        let user = login[0].clone();
        state.logins.push(login);
        state.packet_sizes.push(size);
        if is_wrong {
            answer.error(18_456, 14, &format!("Login failed for user '{user}'."));
            answer.done(false, true, None);
            return false;
        }
        self.packet_size = size as usize;
        answer.login(self.packet_size);
        answer.done(false, false, None);
        true
    }

    /// Runs the statements of a batch; false when the connection ends.
    fn batch(&mut self, sql: &str, answer: &mut Answer) -> bool {
        let (mut rest, mut counts) = (sql.trim(), None);
        if let Some(behind) = rest
            .strip_prefix("SAVE TRANSACTION inrush; ")
            .or(rest.strip_prefix("SAVE TRANSACTION inrush;"))
        {
            let rows = self.look(|table| table.map_or(0, |table| table.rows.len()));
            self.transaction.as_mut().expect("a transaction").saved = rows;
            answer.done(!behind.is_empty(), false, None);
            rest = behind;
            if rest.is_empty() {
                return true;
            }
        }
        for (tail, name) in [
            ("; SELECT ROWCOUNT_BIG()", ""),
            ("\nSELECT ROWCOUNT_BIG() AS inrush_rowcount", "inrush_rowcount"),
        ] {
            if let Some(before) = rest.strip_suffix(tail) {
                (rest, counts) = (before, Some(name));
            }
        }
        let outcome = self.statement(rest, answer);
        let more = counts.is_some();
        let affected = match outcome {
            Outcome::Cut => return false,
            Outcome::Done => {
                answer.done(more, false, None);
                0
            }
            Outcome::Changed(rows) => {
                answer.done(more, false, Some(rows));
                rows
            }
            Outcome::Rows(columns, rows) => {
                answer.columns(&columns);
                let infos: Vec<TypeInfo> = columns.into_iter().map(|(_, _, info)| info).collect();
                for (index, row) in rows.iter().enumerate() {
                    answer.row(&infos, row, index % 2 == 1);
                }
                answer.done(more, false, Some(rows.len() as u64));
                rows.len() as u64
            }
            Outcome::Failed(number, message) => {
                answer.error(number, 16, &message);
                answer.done(more, true, None);
                0
            }
        };
        if let Some(name) = counts {
            let info = TypeInfo::of("bigint", true);
            answer.columns(&[(name.to_owned(), 1, info.clone())]);
            answer.row(&[info], &[Value::Integer(affected as i64)], false);
            answer.done(false, false, Some(1));
        }
        true
    }

    /// Looks at the table as this connection sees it.
    fn look<T>(&self, look: impl FnOnce(Option<&Table>) -> T) -> T {
        match &self.transaction {
            Some(transaction) => look(transaction.table.as_ref()),
            None => look(lock(&self.state).table.as_ref()),
        }
    }

    /// The table's definition, as this connection sees it.
    fn table(&self) -> Option<Table> {
        self.look(|table| table.map(Table::head))
    }

    /// Changes the table as this connection sees it.
    fn change<T>(&mut self, change: impl FnOnce(&mut Option<Table>, &mut State) -> T) -> T {
        let mut state = lock(&self.state);
        match &mut self.transaction {
            Some(transaction) => change(&mut transaction.table, &mut state),
            None => {
                let mut table = state.table.take();
                let outcome = change(&mut table, &mut state);
                state.table = table;
                outcome
            }
        }
    }

    fn statement(&mut self, sql: &str, answer: &mut Answer) -> Outcome {
        if sql.starts_with("SET ") {
            return Outcome::Done;
        }
        if sql == "BEGIN TRANSACTION" {
            let table = lock(&self.state).table.clone();
            self.transaction = Some(Transaction { table, saved: 0, doomed: false });
            answer.transaction(8);
            return Outcome::Done;
        }
        if sql.starts_with("IF XACT_STATE() <> 1 BEGIN; THROW 51000, N'") {
            let is_over = self.transaction.as_ref().is_none_or(|transaction| transaction.doomed);
            if is_over {
                return Outcome::Failed(
                    51_000,
                    "the server has taken the whole transaction back".to_owned(),
                );
            }
            return if sql.ends_with("; ROLLBACK TRANSACTION inrush")
                || sql.ends_with(" ROLLBACK TRANSACTION inrush")
            {
                let transaction = self.transaction.as_mut().unwrap();
                let saved = transaction.saved;
                transaction.table.iter_mut().for_each(|table| table.cut(saved));
                Outcome::Done
            } else {
                assert!(sql.ends_with("COMMIT TRANSACTION"), "{sql}");
                let transaction = self.transaction.take().unwrap();
                let mut state = lock(&self.state);
                state.table = transaction.table;
                answer.transaction(9);
                if state.script.cuts_commit { Outcome::Cut } else { Outcome::Done }
            };
        }
        if let Some(rest) = sql.strip_prefix("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION") {
            if self.transaction.take().is_some() {
                answer.transaction(10);
            }
            if let Some(table) = rest.strip_prefix("; DROP TABLE ") {
                self.change(|found, _| {
                    assert_eq!(found.take().map(|table| table.sql()).as_deref(), Some(table));
                });
            }
            return Outcome::Done;
        }
        self.catalogue(sql).unwrap_or_else(|| self.work(sql))
    }

    /// What is asked of catalogue and settings.
    fn catalogue(&mut self, sql: &str) -> Option<Outcome> {
        let pairs = |pairs: &[(&str, &str)]| {
            let rows = pairs.iter().map(|(name, value)| vec![text(name), text(value)]).collect();
            Outcome::Rows(vec![name_column(""), name_column("")], rows)
        };
        let flag = |is_so: bool| Value::Integer(is_so.into());
        if sql.starts_with("SELECT N'version'") {
            return Some(pairs(&[
                ("version", "16.0.4100.1"),
                ("database", "shop"),
                ("updateability", "READ_WRITE"),
                ("recovery_model", "SIMPLE"),
            ]));
        }
        if sql.starts_with("SELECT N'delayed_durability'") {
            let delayed = lock(&self.state).script.delayed;
            let delayed = if delayed.is_empty() { "DISABLED" } else { delayed };
            return Some(pairs(&[("delayed_durability", delayed)]));
        }
        if sql.starts_with("SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion'))") {
            return Some(Outcome::Rows(vec![name_column("")], vec![vec![text("16.0.4100.1")]]));
        }
        if sql.starts_with("SELECT name, CONVERT(nvarchar(128), value_in_use)") {
            return Some(pairs(&[("max degree of parallelism", "0")]));
        }
        if sql == "SELECT SCHEMA_NAME()" {
            return Some(Outcome::Rows(vec![name_column("")], vec![vec![text("dbo")]]));
        }
        if let Some(schema) = sql.strip_prefix("SELECT name FROM sys.schemas WHERE name = ") {
            let rows = if schema == "N'dbo'" { vec![vec![text("dbo")]] } else { Vec::new() };
            return Some(Outcome::Rows(vec![name_column("name")], rows));
        }
        let table = self.table();
        if sql.contains("FROM sys.objects o") {
            let found = table.filter(|table| {
                let names = [table.sql(), format!("[{}]", table.name.replace(']', "]]"))];
                names.iter().any(|name| {
                    sql.contains(&format!("OBJECT_ID(N'{}')", name.replace('\'', "''")))
                })
            });
            let columns = vec![
                integer_column("object_id"),
                name_column("schema"),
                name_column("name"),
                ("type".to_owned(), 1, TypeInfo::of("nvarchar(2)", true)),
                integer_column(""),
            ];
            let rows = found.map(|table| {
                vec![
                    Value::Integer(7),
                    text(&table.schema),
                    text(&table.name),
                    text("U "),
                    flag(false),
                ]
            });
            return Some(Outcome::Rows(columns, rows.into_iter().collect()));
        }
        if sql.contains("FROM sys.columns c JOIN sys.types t") {
            let row = |column: &Column| {
                let (name, inner) = column.ty.split_once('(').unwrap_or((&column.ty, ""));
                let inner = inner.trim_end_matches(')');
                let numbers: Vec<i64> =
                    inner.split(',').filter_map(|part| part.trim().parse().ok()).collect();
                let first = numbers.first().copied();
                let (mut length, mut precision, mut scale) = (0, 0, 0);
                match name {
                    _ if inner == "max" => length = -1,
                    "nvarchar" | "nchar" => length = first.unwrap_or(1) * 2,
                    "decimal" | "numeric" => {
                        (precision, scale) = (numbers[0], numbers.get(1).copied().unwrap_or(0));
                    }
                    "time" | "datetime2" | "datetimeoffset" => scale = first.unwrap_or(7),
                    "float" => precision = first.unwrap_or(53),
                    "money" | "smallmoney" => scale = 4,
                    _ => length = first.unwrap_or(0),
                }
                let page = match name {
                    "varchar" | "char" => Value::Integer(1252),
                    _ => Value::Null,
                };
                vec![
                    text(&column.name),
                    text(name),
                    Value::Integer(length),
                    Value::Integer(precision),
                    Value::Integer(scale),
                    flag(column.nullable),
                    flag(column.identity),
                    flag(false),
                    page,
                ]
            };
            let mut columns = vec![name_column("name"), name_column("type")];
            columns.extend((0..7).map(|_| integer_column("")));
            let rows = table.iter().flat_map(|table| table.columns.iter().map(row)).collect();
            return Some(Outcome::Rows(columns, rows));
        }
        if sql.contains("FROM sys.indexes x") && sql.starts_with("SELECT CASE") {
            let key = table.iter().flat_map(|table| {
                table.key.iter().map(|at| vec![text("PRIMARY KEY"), text(&table.columns[*at].name)])
            });
            return Some(Outcome::Rows(vec![name_column(""), name_column("name")], key.collect()));
        }
        if sql.contains("FROM sys.check_constraints") {
            let required = table.iter().flat_map(|table| {
                let is_key = |at: &usize| table.key.contains(at);
                let columns = table.columns.iter().enumerate();
                columns
                    .filter(move |(at, column)| !column.nullable && !is_key(at))
                    .map(|(_, column)| vec![text(&format!("NOT NULL on {}", column.name))])
            });
            return Some(Outcome::Rows(vec![name_column("")], required.collect()));
        }
        if sql.contains("FROM sys.indexes i") {
            let columns = vec![integer_column("index_id"), integer_column(""), name_column("name")];
            let rows = table.iter().flat_map(|table| {
                table
                    .key
                    .iter()
                    .map(|at| vec![Value::Integer(1), flag(true), text(&table.columns[*at].name)])
            });
            return Some(Outcome::Rows(columns, rows.collect()));
        }
        if sql.contains("FROM sys.foreign_keys") {
            return Some(Outcome::Rows(vec![name_column(""), integer_column("")], Vec::new()));
        }
        None
    }

    /// What is done with the table.
    fn work(&mut self, sql: &str) -> Outcome {
        let unknown = || Outcome::Failed(102, format!("Incorrect syntax near '{sql}'."));
        if let Some(rest) = sql.strip_prefix("CREATE TABLE ") {
            return self.create(rest);
        }
        if sql.starts_with("CREATE INDEX ") {
            return Outcome::Done;
        }
        let Some(table) = self.table() else {
            return Outcome::Failed(208, format!("Invalid object name in '{sql}'."));
        };
        let name = table.sql();
        if sql == format!("DROP TABLE {name}") {
            self.change(|table, _| *table = None);
            return Outcome::Done;
        }
        let keeps_rows = lock(&self.state).script.keeps_rows;
        if sql == format!("TRUNCATE TABLE {name}") && keeps_rows {
            return Outcome::Failed(4_712, format!("Cannot truncate table '{name}'."));
        }
        if sql == format!("DELETE FROM {name}") && keeps_rows {
            return Outcome::Done;
        }
        if sql == format!("TRUNCATE TABLE {name}") || sql == format!("DELETE FROM {name}") {
            self.change(|table, _| table.iter_mut().for_each(|table| table.cut(0)));
            return Outcome::Done;
        }
        if sql == format!("SELECT CASE WHEN EXISTS (SELECT * FROM {name}) THEN 1 ELSE 0 END") {
            let holds = self.look(|table| table.is_some_and(|table| !table.rows.is_empty()));
            let holds = Value::Integer(holds.into());
            return Outcome::Rows(vec![integer_column("")], vec![vec![holds]]);
        }
        if let Some(added) = sql.strip_prefix(&format!("ALTER TABLE {name} ADD ")) {
            let added = split_declarations(added);
            self.change(|table, _| {
                let table = table.as_mut().expect("the table");
                table.columns.extend(added.iter().map(|column| Column::parse(column)));
                let columns = table.columns.len();
                table.rows.iter_mut().for_each(|row| row.resize(columns, Value::Null));
            });
            return Outcome::Done;
        }
        if sql.starts_with(&format!("SELECT COUNT_BIG(*) FROM {name}")) {
            let count = self.look(|table| table.map_or(0, |table| table.rows.len()));
            let count = Value::Integer(count as i64);
            let column = (String::new(), 1, TypeInfo::of("bigint", true));
            return Outcome::Rows(vec![column], vec![vec![count]]);
        }
        if let Some(rest) = sql.strip_prefix("SELECT TOP 0 ") {
            let Some(columns) = rest.strip_suffix(&format!(" FROM {name}")) else {
                return unknown();
            };
            let columns = split_names(columns).into_iter().map(|column| {
                let column = &table.columns[table.place(&column)];
                // Nullable, and whether it can be written: nobody knows; a column that counts by itself can't.
                let writes = if column.identity { 0x10 } else { 0x08 };
                let flags = u16::from(column.nullable) | writes;
                (column.name.clone(), flags, table.info(column))
            });
            return Outcome::Rows(columns.collect(), Vec::new());
        }
        if let Some(rest) = sql.strip_prefix(&format!("INSERT BULK {name} (")) {
            let columns = rest
                .split_once(") WITH (")
                .map_or(rest.trim_end_matches(')'), |(columns, _)| columns);
            self.announced = Some(
                split_declarations(columns)
                    .into_iter()
                    .map(|column| Column::parse(&column).name)
                    .collect(),
            );
            return Outcome::Done;
        }
        if let Some(rest) = sql.strip_prefix(&format!("INSERT INTO {name} (")) {
            let (columns, tuples) = rest.split_once(") VALUES ").expect("VALUES");
            let places: Vec<usize> =
                split_names(columns).iter().map(|column| table.place(column)).collect();
            let rows: Vec<Vec<Value>> = tuples_of(tuples)
                .into_iter()
                .map(|tuple| {
                    assert_eq!(tuple.len(), places.len());
                    let mut row = vec![Value::Null; table.columns.len()];
                    for (place, literal) in places.iter().zip(tuple) {
                        row[*place] = literal.value(&table.columns[*place].ty);
                    }
                    row
                })
                .collect();
            assert!(rows.len() <= 1000, "10738: at most 1000 rows");
            return self.insert(rows);
        }
        if let Some(rest) = sql.strip_prefix("SELECT ")
            && let Some((shown, _)) = rest.split_once(&format!(" FROM {name}"))
        {
            return self.look(|table| read_back(table.expect("the table"), shown));
        }
        unknown()
    }

    fn create(&mut self, rest: &str) -> Outcome {
        let (name, body) = rest.split_once(" (").expect("columns");
        let names = split_dotted(name);
        let mut table =
            Table { schema: names[0].clone(), name: names[1].clone(), ..Table::default() };
        for part in split_declarations(body.strip_suffix(')').expect("the end")) {
            if let Some(key) = part.strip_prefix("PRIMARY KEY (") {
                table.key = split_names(key.trim_end_matches(')'))
                    .iter()
                    .map(|name| table.place(name))
                    .collect();
            } else {
                table.columns.push(Column::parse(&part));
            }
        }
        self.change(|found, _| match found {
            Some(_) => Outcome::Failed(
                2714,
                format!("There is already an object named '{}' in the database.", table.name),
            ),
            None => {
                *found = Some(table);
                Outcome::Done
            }
        })
    }

    /// Rows of a bulk load.
    fn bulk(&mut self, message: &[u8], answer: &mut Answer) -> bool {
        let announced = self.announced.take().expect("INSERT BULK comes first");
        let (columns, rows) = tds::bulk(message);
        let table = self.table().expect("the table");
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, announced, "what was announced is what comes");
        let places: Vec<usize> = names.iter().map(|name| table.place(name)).collect();
        for (place, (_, info)) in places.iter().zip(&columns) {
            assert_eq!(*info, table.info(&table.columns[*place]), "as the table has it");
        }
        let rows = rows
            .into_iter()
            .map(|values| {
                let mut row = vec![Value::Null; table.columns.len()];
                for (place, value) in places.iter().zip(values) {
                    row[*place] = value;
                }
                row
            })
            .collect();
        match self.insert(rows) {
            Outcome::Changed(rows) => answer.done(false, false, Some(rows)),
            Outcome::Failed(number, message) => {
                answer.error(number, 14, &message);
                answer.done(false, true, Some(0));
            }
            Outcome::Cut | Outcome::Done | Outcome::Rows(..) => return false,
        }
        true
    }

    /// All of the rows, or none.
    fn insert(&mut self, rows: Vec<Vec<Value>>) -> Outcome {
        let refusal = {
            let mut state = lock(&self.state);
            state.rows_sent += rows.len();
            if state.script.hangs {
                drop(state);
                sleep(Duration::from_secs(60));
                return Outcome::Cut;
            }
            if state.script.cuts_after.is_some_and(|most| state.rows_sent >= most) {
                return Outcome::Cut;
            }
            state
                .script
                .refuses
                .as_ref()
                .and_then(|refuses| rows.iter().find_map(|row| refuses(row)))
        };
        let (lies, ignores, dooms) = {
            let script = &lock(&self.state).script;
            (script.lies, script.ignores_repeats, script.dooms)
        };
        let outcome = self.change(|table, _| {
            let table = table.as_mut().expect("the table");
            let before = table.rows.len();
            let fail = |table: &mut Table, number, message| {
                table.cut(before);
                Outcome::Failed(number, message)
            };
            for mut row in rows {
                let missing = table
                    .columns
                    .iter()
                    .zip(&row)
                    .find(|(column, value)| !column.nullable && !column.identity && **value == Value::Null);
                if let Some((column, _)) = missing {
                    let message = format!("Cannot insert the value NULL into column '{}', table 'shop.dbo.{}'; column does not allow nulls. INSERT fails.", column.name, table.name);
                    return fail(table, 515, message);
                }
                if let Some(key) = table.key_of(&row) {
                    if table.keys.contains(&key) {
                        if ignores {
                            continue;
                        }
                        let message = format!("Violation of PRIMARY KEY constraint 'PK_{0}'. Cannot insert duplicate key in object 'dbo.{0}'. The duplicate key value is (x).", table.name);
                        return fail(table, 2627, message);
                    }
                    table.keys.insert(key);
                }
                if lies && let Some(Value::Text(text)) = row.last_mut() {
                    text.push('!');
                }
                table.rows.push(row);
            }
            if let Some((number, message)) = refusal {
                return fail(table, number, message);
            }
            Outcome::Changed((table.rows.len() - before) as u64)
        });
        if dooms && matches!(outcome, Outcome::Failed(..)) {
            self.transaction.iter_mut().for_each(|transaction| transaction.doomed = true);
        }
        outcome
    }
}

/// What the target asks for when it reads back.
fn read_back(table: &Table, shown: &str) -> Outcome {
    let mut columns = Vec::new();
    let mut places = Vec::new();
    for shown in split_declarations(shown) {
        let inner = |head: &str| {
            let inner = shown.strip_prefix(head)?.strip_suffix(')')?;
            Some(table.place(&split_names(inner)[0]))
        };
        let (place, info) = if let Some(place) = inner("CONVERT(nvarchar(max), ") {
            (place, TypeInfo::of("nvarchar(max)", true))
        } else if let Some(place) = inner("CONVERT(varbinary(max), ") {
            (place, TypeInfo::of("varbinary(max)", true))
        } else if let Some(place) = inner("CONVERT(decimal(19,4), ") {
            (place, TypeInfo::of("decimal(19,4)", true))
        } else if let Some(rest) = shown.strip_prefix("CASE WHEN ") {
            let name = rest.strip_suffix(" IS NOT NULL THEN 1 END").expect("the end");
            (table.place(&split_names(name)[0]), TypeInfo::of("int", true))
        } else {
            let place = table.place(&split_names(&shown)[0]);
            (place, table.info(&table.columns[place]))
        };
        columns.push((table.columns[place].name.clone(), 1, info));
        places.push((place, shown.clone()));
    }
    let rows = table.rows.iter().map(|row| {
        let value = |(place, shown): &(usize, String)| match &row[*place] {
            Value::Integer(units) if shown.starts_with("CONVERT(decimal") => {
                Value::Decimal((*units).into())
            }
            Value::Null => Value::Null,
            _ if shown.starts_with("CASE") => Value::Integer(1),
            value => value.clone(),
        };
        places.iter().map(value).collect()
    });
    Outcome::Rows(columns, rows.collect())
}

/// The names in `[a], [b]]c]`.
fn split_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '[' {
            assert!(matches!(character, ',' | ' ' | '.'), "no list of names: {text}");
            continue;
        }
        let mut name = String::new();
        while let Some(character) = characters.next() {
            match character {
                ']' if characters.peek() == Some(&']') => name.extend(characters.next()),
                ']' => break,
                character => name.push(character),
            }
        }
        names.push(name);
    }
    names
}

fn split_dotted(text: &str) -> Vec<String> {
    split_names(text)
}

/// The parts between commas that are in no parentheses or brackets.
fn split_declarations(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut in_name) = (vec![String::new()], 0, false);
    for character in text.chars() {
        match character {
            '[' => in_name = true,
            // A doubled one closes and opens again.
            ']' => in_name = !in_name,
            _ if in_name => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(character);
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

/// A literal.
#[derive(Debug, PartialEq)]
enum Literal {
    Null,
    /// A number's text.
    Number(String),
    Text(String),
    Bytes(Vec<u8>),
}

/// The tuples behind VALUES.
fn tuples_of(text: &str) -> Vec<Vec<Literal>> {
    let mut parser = Parser { text, at: 0 };
    let mut tuples = Vec::new();
    loop {
        parser.expect("(");
        let mut tuple = vec![parser.expression()];
        while parser.accept(",") {
            tuple.push(parser.expression());
        }
        parser.expect(")");
        tuples.push(tuple);
        if !parser.accept(",") {
            break;
        }
    }
    assert_eq!(parser.rest(), "", "behind the last tuple");
    tuples
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn accept(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    fn expect(&mut self, word: &str) {
        assert!(self.accept(word), "{word} before {:.40}", self.rest());
    }

    /// Literals with a plus between them.
    fn expression(&mut self) -> Literal {
        let mut whole = self.literal();
        while self.accept("+") {
            let (Literal::Text(whole), Literal::Text(more)) = (&mut whole, self.literal()) else {
                panic!("only texts are put together")
            };
            whole.push_str(&more);
        }
        whole
    }

    fn literal(&mut self) -> Literal {
        if self.accept("NULL") {
            return Literal::Null;
        }
        if self.accept("CONVERT(nvarchar(max),N'')") {
            return Literal::Text(String::new());
        }
        if self.accept("NCHAR(0)") {
            return Literal::Text("\0".to_owned());
        }
        if self.accept("0x") {
            let digits: String = self.rest().chars().take_while(char::is_ascii_hexdigit).collect();
            self.at += digits.len();
            let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            return Literal::Bytes((0..digits.len()).step_by(2).map(byte).collect());
        }
        if self.accept("N'") || self.accept("'") {
            return Literal::Text(self.quoted());
        }
        let is_number = |c: &char| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        let number: String = self.rest().chars().take_while(is_number).collect();
        assert!(!number.is_empty(), "no literal: {:.40}", self.rest());
        self.at += number.len();
        Literal::Number(number)
    }

    fn quoted(&mut self) -> String {
        let mut out = String::new();
        loop {
            let end = self.rest().find('\'').expect("the end of a text");
            out.push_str(&self.rest()[..end]);
            self.at += end + 1;
            if !self.accept("'") {
                break;
            }
            out.push('\'');
        }
        assert!(!out.contains('\0'), "a NUL in a statement");
        // A backslash goes on behind the line's end.
        out.replace("\\\r\n", "").replace("\\\n", "")
    }
}

impl Literal {
    /// The value that a column makes of it.
    fn value(self, ty: &str) -> Value {
        let (name, inner) = ty.split_once('(').unwrap_or((ty, ""));
        let numbers: Vec<u32> = inner
            .trim_end_matches(')')
            .split(',')
            .filter_map(|part| part.trim().parse().ok())
            .collect();
        let scale = numbers.first().copied().unwrap_or(7);
        match (self, name) {
            (Literal::Null, _) => Value::Null,
            (Literal::Number(number), "bit" | "tinyint" | "smallint" | "int" | "bigint") => {
                Value::Integer(number.parse().unwrap())
            }
            (Literal::Number(number), "float") => Value::Float(number.parse().unwrap()),
            (Literal::Number(number), "real") => {
                Value::Float((number.parse::<f64>().unwrap() as f32).into())
            }
            (Literal::Number(number), "money" | "smallmoney") => {
                Value::Integer(units(&number, 4).try_into().unwrap())
            }
            (Literal::Number(number), "decimal" | "numeric") => {
                Value::Decimal(units(&number, numbers.get(1).copied().unwrap_or(0)))
            }
            (Literal::Bytes(bytes), _) => Value::Bytes(bytes),
            (Literal::Text(text), "uniqueidentifier") => {
                let digits = text.replace('-', "");
                let byte = |at: usize| u8::from_str_radix(&digits[at * 2..at * 2 + 2], 16).unwrap();
                Value::Guid(std::array::from_fn(byte))
            }
            (Literal::Text(text), "date") => Value::Date(days(&text)),
            (Literal::Text(text), "time") => Value::Time(clock(&text, scale)),
            (Literal::Text(text), "datetime2") => {
                let (day, time) = text.split_once('T').unwrap();
                Value::Moment(days(day), clock(time, scale))
            }
            (Literal::Text(text), "datetime") => {
                let (day, time) = text.split_once('T').unwrap();
                let fragments = (clock(time, 3) * 3 + 5) / 10;
                Value::DateTime((days(day) - DAYS_TO_1900) as i32, fragments as u32)
            }
            (Literal::Text(text), "smalldatetime") => {
                let (day, time) = text.split_once('T').unwrap();
                let minutes = clock(time, 0) / 60;
                Value::SmallDateTime((days(day) - DAYS_TO_1900) as u16, minutes as u16)
            }
            (Literal::Text(text), "datetimeoffset") => {
                let (moment, zone) = text.split_at(text.len() - 6);
                let (day, time) = moment.split_once('T').unwrap();
                let number = |part: &str| part.parse::<i64>().unwrap();
                let minutes = number(&zone[1..3]) * 60 + number(&zone[4..]);
                let minutes = if zone.starts_with('-') { -minutes } else { minutes };
                let unit = 10_i64.pow(scale);
                let day_units = 86_400 * unit;
                let all = days(day) * day_units + clock(time, scale) as i64 - minutes * 60 * unit;
                Value::Offset(
                    all.div_euclid(day_units),
                    all.rem_euclid(day_units) as u64,
                    minutes as i16,
                )
            }
            (Literal::Text(text), "nvarchar" | "nchar" | "varchar" | "char" | "xml") => {
                Value::Text(text)
            }
            (literal, name) => panic!("{literal:?} for {name}"),
        }
    }
}

pub(super) const DAYS_TO_1900: i64 = 693_595;

/// A decimal's digits in units of its scale; all of them are written.
pub(super) fn units(number: &str, scale: u32) -> i128 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    assert!(fraction.len() <= scale as usize, "{number} would be rounded to {scale} digits");
    format!("{whole}{fraction:0<width$}", width = scale as usize).parse().unwrap()
}

/// `HH:MM:SS.fff` in units of 10^-scale seconds; all digits have to be kept.
pub(super) fn clock(text: &str, scale: u32) -> u64 {
    let number = |part: &str| part.parse::<u64>().unwrap();
    let seconds = number(&text[..2]) * 3600 + number(&text[3..5]) * 60 + number(&text[6..8]);
    let fraction = text.get(9..).unwrap_or("");
    assert!(fraction.len() <= scale as usize, "{text} would be rounded to {scale} digits");
    let fraction = format!("{fraction:0<width$}", width = scale as usize);
    seconds * 10_u64.pow(scale) + if scale == 0 { 0 } else { number(&fraction) }
}
