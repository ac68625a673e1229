//! Which of a source's columns are loaded, under which names, and what is added to them.
//!
//! The order of work: what the user names are the source's columns. They are chosen or dropped, then renamed, then their case is changed;
//! what is added comes last. A record of the source keeps its fields whatever becomes of them, so bad rows are the source's own lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::request::said;
use crate::error::{Error, Result};
use crate::facts::FieldFacts;
use crate::moments::MomentFacts;
use crate::request::{Case, MissingColumns, NewColumns};
use crate::schema::Type;
use crate::wording::{listed, shell_word};

/// What the user says of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnRequest {
    /// The only ones to load, in this order; none for all.
    pub chosen: Vec<String>,
    /// Those not to load.
    pub dropped: Vec<String>,
    /// `OLD=NEW`.
    pub renamed: Vec<String>,
    /// `NAME=VALUE`: `%file`, `%path`, `%row`, `%now`, or a text, in which `%%` is a percent sign.
    pub added: Vec<String>,
    /// Of those the types, where a program's value has one that its text does not say: `7` may be one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub added_types: BTreeMap<String, Type>,
    /// Those in which NULL is a bad value.
    pub required: Vec<String>,
    /// How names are compared, and written.
    pub case: Case,
    /// What to do with a column that an existing table, or the first file, does not have.
    pub new: NewColumns,
    /// What to do where one is missing that they have; `None` is what is usual: a table's default, and an error between files.
    pub missing: Option<MissingColumns>,
}

/// What a column is that the source does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// The last part of the input's name.
    File,
    /// The input's name.
    Path,
    /// The record's number in its input, from 1; bad ones count.
    Row,
    /// When the load began.
    Now,
    /// The same for all rows.
    Text(String),
}

impl Added {
    fn parse(text: &str, said: &str) -> Result<Self> {
        Ok(match text {
            "%file" => Self::File,
            "%path" => Self::Path,
            "%row" => Self::Row,
            "%now" => Self::Now,
            text => {
                let plain = text.replace("%%", "");
                if let Some(at) = plain.find('%') {
                    let word: String = plain[at..].chars().take(10).collect();
                    return Err(Error::usage(format!(
                        "--add {said}: '{word}' is none of %file, %path, %row, %now"
                    ))
                    .advise("these stand alone; a percent sign in a text is written %%"));
                }
                Self::Text(text.replace("%%", "%"))
            }
        })
    }

    /// The moment, in UTC, as files have it.
    pub fn now() -> String {
        jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S%.6f+00:00").to_string()
    }

    /// What its values are.
    fn facts(&self, name: &str, infer: impl Fn(&str) -> Type) -> FieldFacts {
        let ty = match self {
            Self::File | Self::Path => Type::Text,
            Self::Row => Type::Integer,
            Self::Now => Type::Timestamp { zone: true },
            Self::Text(text) => infer(text),
        };
        let digits = if *self == Self::Now { 6 } else { 0 };
        FieldFacts {
            name: name.to_owned(),
            written: None,
            added: Some(self.clone()),
            ty,
            spoiler: None,
            is_declared: true,
            is_settled: false,
            moments: MomentFacts { digits, ..MomentFacts::default() },
            reads: Default::default(),
        }
    }
}

impl ColumnRequest {
    /// The options by their names, and what is said with each.
    pub(super) fn said(&self) -> [(&'static str, String); 8] {
        let case = (self.case != Case::default()).then(|| self.case.to_string());
        let new = (self.new != NewColumns::default()).then(|| self.new.to_string());
        [
            ("--columns", self.chosen.join(",")),
            ("--drop", self.dropped.join(",")),
            ("--rename", self.renamed.join(" ")),
            ("--add", self.added.join(" ")),
            ("--not-null", self.required.join(",")),
            ("--case", case.unwrap_or_default()),
            ("--new-columns", new.unwrap_or_default()),
            (
                "--missing-columns",
                self.missing.map(|missing| missing.to_string()).unwrap_or_default(),
            ),
        ]
    }

    /// What is said here, and else what is said there: option by option.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            chosen: said(&self.chosen, &other.chosen),
            dropped: said(&self.dropped, &other.dropped),
            renamed: said(&self.renamed, &other.renamed),
            added: said(&self.added, &other.added),
            added_types: match self.added.is_empty() {
                true => other.added_types.clone(),
                false => self.added_types.clone(),
            },
            required: said(&self.required, &other.required),
            case: said(&self.case, &other.case),
            new: said(&self.new, &other.new),
            missing: said(&self.missing, &other.missing),
        }
    }

    /// Takes names of columns that have commas of their own, and have been taken for lists, for what they are.
    pub fn rejoin(&mut self, fields: &[FieldFacts]) {
        let loaded = |name: &str| fields.iter().any(|field| self.name(field.source_name()) == name);
        let is_known =
            |name: &str| fields.iter().any(|field| field.is_called(name)) || loaded(name);
        let lists = [&self.chosen, &self.dropped, &self.required];
        let [chosen, dropped, required] = lists.map(|list| rejoined(list, is_known));
        (self.chosen, self.dropped, self.required) = (chosen, dropped, required);
    }

    /// An option that names a column of the source so, and how.
    pub(super) fn option_that_names(
        &self,
        is: impl Fn(&str) -> bool,
    ) -> Option<(&'static str, &str)> {
        let lists = [
            ("--columns", &self.chosen),
            ("--drop", &self.dropped),
            ("--not-null", &self.required),
        ];
        let listed = lists
            .into_iter()
            .flat_map(|(option, names)| names.iter().map(move |name| (option, name.as_str())));
        let renamed = self.renamed.iter().flat_map(|said| pairs(said));
        let renamed = renamed.map(|(old, _)| ("--rename", old));
        listed.chain(renamed).find(|(_, name)| is(name))
    }

    /// Whether a column gets this name.
    pub(super) fn makes(&self, name: &str) -> bool {
        self.renamed.iter().any(|said| pairs(said).any(|(_, new)| new == name))
    }

    /// Whether a column is named that is not one of these.
    pub fn names_another(&self, fields: &[FieldFacts]) -> bool {
        let mut said = self.clone();
        said.rejoin(fields);
        let is_added =
            |name: &&String| said.added.iter().any(|it| it.split('=').next() == Some(name));
        let required = said.required.iter().filter(|name| !is_added(name));
        let mut names = said.chosen.iter().chain(&said.dropped).chain(required);
        let is_another = |name: &str| said.find(fields, "", name).is_err();
        names.any(|name| is_another(name))
            || said.renamed.iter().any(|said| pairs(said).all(|(old, _)| is_another(old)))
    }

    /// Whether a column of the source is known by this name: to the user, or to a table that has columns of these.
    pub fn knows(&self, source: &str, table: &[String]) -> bool {
        let is_it = |name: &String| self.case.is_same(name, source);
        let mut lists = self.chosen.iter().chain(&self.dropped);
        let loaded = self.name(source);
        lists.any(is_it)
            || self.renamed.iter().any(|said| self.new_name(said, source).is_some())
            || table.iter().any(|column| self.case.is_same(column, &loaded))
    }

    /// Whether a column of the source, which has these, is among those to be left out.
    pub fn is_dropped(&self, source: &str, among: &[&String]) -> bool {
        self.lists(&self.dropped, source, among)
    }

    /// Whether it is none of the only ones to load.
    pub fn is_unchosen(&self, source: &str, among: &[&String]) -> bool {
        !self.chosen.is_empty() && !self.lists(&self.chosen, source, among)
    }

    fn lists(&self, list: &[String], source: &str, among: &[&String]) -> bool {
        let is_known = |name: &str| among.iter().any(|other| self.case.is_same(other, name));
        let loaded = self.name(source);
        let is_it = |name: &String| self.case.is_same(name, source) || *name == loaded;
        rejoined(list, is_known).iter().any(is_it)
    }

    /// Whether two columns of different inputs are one: by their names there, or by those under which they are loaded.
    pub fn is_one(&self, one: &str, other: &str) -> bool {
        self.case.is_same(one, other) || self.case.is_same(&self.name(one), &self.name(other))
    }

    /// Whether all columns are loaded as they are.
    pub fn keeps_all(&self) -> bool {
        let Self { chosen, dropped, renamed, added, required, case, .. } = self;
        [chosen, dropped, renamed, added, required].iter().all(|list| list.is_empty())
            && *case != Case::Snake
    }

    /// Whether values are added that depend on their row.
    pub fn counts_rows(&self) -> bool {
        self.added.iter().any(|said| said.split_once('=').is_some_and(|(_, value)| value == "%row"))
    }

    /// The name under which a column of the source is loaded.
    pub fn name(&self, source: &str) -> String {
        let name = self.renamed.iter().find_map(|said| self.new_name(said, source));
        self.cased(name.unwrap_or(source))
    }

    fn cased(&self, name: &str) -> String {
        if self.case == Case::Snake { snake(name) } else { name.to_owned() }
    }

    /// The name under which a column of the source is loaded, where that is not the one of another column of the source: what is said of
    /// a column by such a name is meant for the other one, which is renamed as well, or left out.
    pub fn own_name(&self, source: &str) -> Option<String> {
        let name = self.name(source);
        let is_other =
            |other: &str| self.case.is_same(other, &name) && !self.case.is_same(other, source);
        let is_renamed = self.renamed.iter().any(|said| pairs(said).any(|(old, _)| is_other(old)));
        let is_dropped = self.dropped.iter().any(|name| is_other(name));
        (!is_renamed && !is_dropped).then_some(name)
    }

    /// What a rename makes of a column of the source. A name may have an `=` of its own, so the longest that there is counts.
    fn new_name<'s>(&self, said: &'s str, source: &str) -> Option<&'s str> {
        let is_it = |(old, _): &(&str, &str)| self.case.is_same(old, source);
        let (_, new) = pairs(said).filter(is_it).last()?;
        Some(new)
    }

    /// Leaves out what is said to be left out, or renamed, of columns that the source lacks.
    pub fn forget_absent(&mut self, fields: &[FieldFacts]) {
        let fields = of_source(fields);
        let has = |name: &str| self.find(&fields, "", name).is_ok();
        let dropped = self.dropped.iter().filter(|name| has(name)).cloned().collect();
        let renamed =
            self.renamed.iter().filter(|said| pairs(said).any(|(old, _)| has(old))).cloned();
        (self.dropped, self.renamed) = (dropped, renamed.collect());
    }

    /// Gives the source's fields the names under which they are loaded, puts what is added behind them, and says which of all these are
    /// loaded, in the table's order; `None` where all are. `infer` is the type of a value as a file has it. What was done to them
    /// before is undone first.
    ///
    /// # Errors
    /// When a column is named that is not among them, or two end with one name.
    pub fn apply(
        &self,
        fields: &mut Vec<FieldFacts>,
        infer: impl Fn(&str) -> Type,
    ) -> Result<Option<Vec<usize>>> {
        *fields = of_source(fields);
        if self.keeps_all() {
            return Ok(None);
        }
        let find = |option: &str, name: &str| self.find(fields, option, name);
        let mut taken: Vec<usize> = match self.chosen.as_slice() {
            [] => (0..fields.len()).collect(),
            chosen => chosen
                .iter()
                .map(|name| {
                    find("--columns", name).map_err(|error| self.to_be_named(fields, error))
                })
                .collect::<Result<_>>()?,
        };
        if let Some(at) = (1..taken.len()).find(|at| taken[..*at].contains(&taken[*at])) {
            let name = &fields[taken[at]].name;
            return Err(Error::usage(format!("--columns names {name} twice")));
        }
        for name in &self.dropped {
            let dropped = find("--drop", name)?;
            taken.retain(|field| *field != dropped);
        }
        let mut renamed: Vec<(usize, &str)> = Vec::new();
        for said in &self.renamed {
            let Some((old, _)) = pairs(said).next() else {
                return Err(Error::usage(format!("--rename {said}: takes OLD=NEW")));
            };
            let longest =
                pairs(said).filter_map(|(old, new)| Some((find("", old).ok()?, new))).last();
            let Some((field, new)) = longest else {
                // Of several inputs some may have the new name already, and the first may be one of them.
                if pairs(said).any(|(_, new)| fields.iter().any(|field| field.name == new)) {
                    continue;
                }
                return find("--rename", old).map(|_| None);
            };
            // Commas may be part of a name, unless what stands behind one is a rename itself.
            let another = new
                .match_indices(',')
                .find(|(at, _)| pairs(&new[at + 1..]).any(|(old, _)| find("", old).is_ok()));
            if let Some((at, _)) = another {
                return Err(Error::usage(format!("--rename {said} renames one column only"))
                    .advise(format!(
                        "say one for each: --rename {} --rename {}",
                        shell_word(&said[..said.len() - new.len() + at]),
                        shell_word(&new[at + 1..])
                    )));
            }
            if let Some((_, other)) =
                renamed.iter().find(|(known, other)| *known == field && *other != new)
            {
                let name = &fields[field].name;
                return Err(Error::usage(format!(
                    "--rename calls column {name} both {other} and {new}"
                )));
            }
            renamed.push((field, new));
        }
        for name in &self.required {
            let is_added = |said: &String| said.split('=').next() == Some(name);
            if !self.added.iter().any(is_added) {
                find("--not-null", name)?;
            }
        }
        for (at, field) in fields.iter_mut().enumerate() {
            let new = renamed.iter().find(|(known, _)| *known == at).map(|(_, new)| *new);
            let name = self.cased(new.unwrap_or(&field.name));
            if name != field.name {
                field.written = Some(std::mem::replace(&mut field.name, name));
            }
        }
        for said in &self.added {
            let Some((name, value)) = said.split_once('=').filter(|(name, _)| !name.is_empty())
            else {
                return Err(Error::usage(format!("--add {said}: takes NAME=VALUE")));
            };
            taken.push(fields.len());
            let own =
                |text: &str| self.added_types.get(name).copied().unwrap_or_else(|| infer(text));
            fields.push(Added::parse(value, said)?.facts(name, own));
        }
        if taken.is_empty() {
            return Err(Error::usage("no column is left to load")
                .advise("leave one of the source's columns out of --drop"));
        }
        for (at, field) in taken.iter().enumerate() {
            let FieldFacts { name, .. } = &fields[*field];
            let is_said =
                |field: usize| fields[field].added.is_some() || fields[field].written.is_some();
            let other = taken[..at].iter().find(|other| {
                // Names that differ in case alone are two in some tables; the source's own are left to those.
                let is_alike = || self.case.is_same(&fields[**other].name, name);
                fields[**other].name == *name || (is_said(*field) || is_said(**other)) && is_alike()
            });
            if let Some(other) = other {
                let was = |field: usize| match &fields[field].added {
                    Some(_) => "--add".to_owned(),
                    None => format!("the source's {}", fields[field].source_name()),
                };
                return Err(Error::usage(format!(
                    "two columns would be called {name}: {} and {}",
                    was(*other),
                    was(*field)
                ))
                .advise("--rename OLD=NEW gives one of them another name, --drop leaves it out"));
            }
        }
        Ok(Some(taken))
    }

    /// The error to say how columns of a source without names get those of `--columns`, which other programs take for that.
    fn to_be_named(&self, fields: &[FieldFacts], error: Error) -> Error {
        let mut places = fields.iter().zip(1..);
        let is_nameless = places.all(|(field, n)| field.source_name() == format!("column_{n}"));
        if !is_nameless || self.chosen.len() > fields.len() {
            return error;
        }
        let named = self.chosen.iter().zip(fields);
        let named = named.map(|(new, field)| {
            format!("--rename {}", shell_word(&format!("{}={new}", field.source_name())))
        });
        let named: Vec<String> = named.collect();
        error
            .readvised(|_| None)
            .advise(format!(
                "the source names no columns: in place of --columns say {}",
                named.join(" ")
            ))
            .advise("or --match position, where the table exists and has them in this order")
    }

    /// The field of this name: the source's, or else the one that it is loaded under.
    fn find(&self, fields: &[FieldFacts], option: &str, name: &str) -> Result<usize> {
        let exact = fields.iter().position(|field| field.name == name);
        let alike = || fields.iter().position(|field| self.case.is_same(&field.name, name));
        let renamed = || fields.iter().position(|field| self.name(&field.name) == name);
        exact.or_else(alike).or_else(renamed).ok_or_else(|| {
            let names = fields.iter().map(|field| field.name.as_str());
            Error::usage(format!("{option} {name}: there is no column {name}"))
                .advise(format!("use one of the columns: {}", listed(names)))
        })
    }
}

/// The names of a list between commas, of which several may be one name with commas of its own: the longest that there is.
pub fn rejoined(list: &[String], is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut names, mut rest) = (Vec::new(), list);
    while let [first, ..] = rest {
        let whole = |end: &usize| is_known(&rest[..*end].join(","));
        let end = match is_known(first) {
            true => 1,
            false => (2..=rest.len()).rev().find(whole).unwrap_or(1),
        };
        names.push(rest[..end].join(","));
        rest = &rest[end..];
    }
    names
}

/// What may be the old name, and the new one; the shorter old ones first.
fn pairs(said: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = said.match_indices('=').map(|(at, _)| (&said[..at], &said[at + 1..]));
    pairs.filter(|(old, new)| !old.is_empty() && !new.is_empty())
}

impl Case {
    /// Whether two names are one.
    pub fn is_same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Exact => one == other,
            Self::Ignore => is_alike(one, other),
            Self::Snake => is_alike(one, other) || snake(one) == snake(other),
        }
    }
}

/// Whether two names differ in case alone, of whatever letters.
pub fn is_alike(one: &str, other: &str) -> bool {
    fn lower(text: &str) -> impl Iterator<Item = char> {
        text.chars().flat_map(char::to_lowercase)
    }
    one.eq_ignore_ascii_case(other)
        || !(one.is_ascii() || other.is_ascii()) && lower(one).eq(lower(other))
}

/// The fields that the source has, under its own names.
pub fn of_source(fields: &[FieldFacts]) -> Vec<FieldFacts> {
    let own = fields.iter().filter(|field| field.added.is_none());
    own.map(|field| FieldFacts {
        name: field.source_name().to_owned(),
        written: None,
        ..field.clone()
    })
    .collect()
}

/// `Order ID`, `orderId` and `order-id` as `order_id`.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len());
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                // The last capital of several begins the word behind them: HTTPServer.
                before.is_lowercase()
                    || before.is_numeric()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins_word && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    let trimmed = out.trim_end_matches('_');
    // A name of signs alone has nothing better.
    if trimmed.is_empty() { name.to_owned() } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str) -> FieldFacts {
        FieldFacts {
            name: name.to_owned(),
            written: None,
            added: None,
            ty: Type::Text,
            spoiler: None,
            is_declared: false,
            is_settled: false,
            moments: Default::default(),
            reads: Default::default(),
        }
    }

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn names(request: &ColumnRequest, of: &[&str]) -> Result<Vec<String>> {
        let mut fields: Vec<FieldFacts> = of.iter().map(|name| field(name)).collect();
        // Twice, as when a load has to be planned again.
        request.apply(&mut fields, |_| Type::Integer)?;
        let taken = request.apply(&mut fields, |_| Type::Integer)?;
        let taken = taken.unwrap_or_else(|| (0..fields.len()).collect());
        Ok(taken.into_iter().map(|at| fields[at].name.clone()).collect())
    }

    #[test]
    fn an_option_that_is_said_again_takes_the_place_of_that_option_alone() {
        let begun = ColumnRequest {
            renamed: list(&["a=b", "b=a"]),
            required: list(&["c"]),
            case: Case::Snake,
            ..ColumnRequest::default()
        };
        let said =
            ColumnRequest { dropped: list(&["z"]), required: list(&["d"]), ..Default::default() };
        let both = ColumnRequest { dropped: list(&["z"]), required: list(&["d"]), ..begun.clone() };
        assert_eq!(said.or(&begun), both);
    }

    #[test]
    fn a_column_is_known_by_what_options_make_of_its_name() {
        let request = ColumnRequest {
            renamed: list(&["who=name"]),
            dropped: list(&["junk"]),
            case: Case::Snake,
            ..ColumnRequest::default()
        };
        let table = list(&["order_id", "name"]);
        for name in ["Order ID", "who", "WHO", "junk", "name"] {
            assert!(request.knows(name, &table), "{name}");
        }
        assert!(!request.knows("id", &table));
    }

    #[test]
    fn names_in_snake_case_are_words() {
        for (name, is) in [
            ("Order ID", "order_id"),
            ("orderId", "order_id"),
            ("HTTPServer2Go", "http_server2_go"),
            ("  a--b  ", "a_b"),
            ("Größe (cm)", "größe_cm"),
            ("ID", "id"),
            ("%", "%"),
            ("_x", "x"),
        ] {
            assert_eq!(snake(name), is);
        }
    }

    #[test]
    fn columns_are_chosen_then_renamed_then_added() {
        let request = ColumnRequest {
            chosen: list(&["c", "A"]),
            renamed: list(&["a=First Name"]),
            added: list(&["file=%file", "batch=42"]),
            case: Case::Snake,
            ..ColumnRequest::default()
        };
        assert_eq!(
            names(&request, &["a", "b", "c"]).unwrap(),
            ["c", "first_name", "file", "batch"]
        );
        let request = ColumnRequest { dropped: list(&["b"]), ..ColumnRequest::default() };
        assert_eq!(names(&request, &["a", "b", "c"]).unwrap(), ["a", "c"]);
        let request =
            ColumnRequest { renamed: list(&["a=b=c", "a=c", "a=c"]), ..ColumnRequest::default() };
        let error = names(&request, &["a=b", "a"]).unwrap_err();
        assert!(error.to_string().contains("called c"), "{error}");
        let request = ColumnRequest { renamed: list(&["a=b=c"]), ..ColumnRequest::default() };
        assert_eq!(names(&request, &["a=b", "a"]).unwrap(), ["c", "a"]);
        // By its new name as well.
        let request = ColumnRequest {
            renamed: list(&["b=x"]),
            dropped: list(&["x"]),
            ..ColumnRequest::default()
        };
        assert_eq!(names(&request, &["a", "b"]).unwrap(), ["a"]);
    }

    #[test]
    fn a_name_with_commas_is_no_list() {
        let rejoined = |text: &str, known: &[&str]| {
            let list: Vec<String> = text.split(',').map(str::to_owned).collect();
            rejoined(&list, |name| known.contains(&name))
        };
        assert_eq!(rejoined("id,Last, First", &["id", "Last, First"]), ["id", "Last, First"]);
        assert_eq!(rejoined("a,b,c", &["a,b,c", "a,b"]), ["a,b,c"]);
        assert_eq!(rejoined("a,b", &["a,b", "a", "b"]), ["a", "b"]);
        assert_eq!(rejoined("x,y", &["a"]), ["x", "y"]);
    }

    #[test]
    fn what_can_not_be_done_to_columns_is_said() {
        let none = ColumnRequest::default;
        for (request, words) in [
            (ColumnRequest { chosen: list(&["z"]), ..none() }, "--columns z: there is no column z"),
            (ColumnRequest { chosen: list(&["a", "a"]), ..none() }, "names a twice"),
            (ColumnRequest { dropped: list(&["a", "b"]), ..none() }, "no column is left"),
            (ColumnRequest { renamed: list(&["a=b"]), ..none() }, "two columns would be called b"),
            (ColumnRequest { renamed: list(&["a=B"]), ..none() }, "two columns would be called b"),
            (ColumnRequest { added: list(&["B=1"]), ..none() }, "two columns would be called B"),
            (ColumnRequest { renamed: list(&["a"]), ..none() }, "takes OLD=NEW"),
            (ColumnRequest { renamed: list(&["z=x"]), ..none() }, "--rename z: there is no column"),
            (ColumnRequest { renamed: list(&["a=x", "a=y"]), ..none() }, "both x and y"),
            (ColumnRequest { added: list(&["a=1"]), ..none() }, "two columns would be called a"),
            (ColumnRequest { added: list(&["c=%when"]), ..none() }, "'%when' is none of"),
            (ColumnRequest { required: list(&["c"]), ..none() }, "--not-null c"),
        ] {
            let error = names(&request, &["a", "b"]).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        assert_eq!(Added::parse("5%% off", "").unwrap(), Added::Text("5% off".to_owned()));
    }
}
