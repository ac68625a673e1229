//! Text that is no table, told by its first lines: pages, documents, dumps, settings.
//!
//! Whatever has a delimiter somewhere could be called a table, so a shape is named only where it is certain, and where the text
//! isn't regular as a table: a column of `<b>x</b>,5` is data.

use crate::{delimiter, footer, json, sniff};
use inrush_core::DialectRequest;
use inrush_core::error::{Error, Result};

/// How much of a text is looked at, besides its end.
const LOOK_BYTES: usize = 64 << 10;

/// Lines that have to look like a list of settings; what comes later may be anything.
const LINES_MAX: usize = 100;

/// One kind of text that is no table.
struct Shape {
    /// What it looks like.
    what: &'static str,
    /// How to come to a table.
    advice: &'static str,
    /// Whether a text that has the same number of fields in each line is a table all the same.
    yields: bool,
    is: fn(&Look) -> bool,
}

const fn shape(what: &'static str, advice: &'static str, is: fn(&Look) -> bool) -> Shape {
    Shape { what, advice, yields: false, is }
}

/// A shape whose lines may be those of a table.
const fn yielding(what: &'static str, advice: &'static str, is: fn(&Look) -> bool) -> Shape {
    Shape { yields: true, ..shape(what, advice, is) }
}

/// The first that fits is named.
const SHAPES: [Shape; 24] = [
    yielding(
        "an HTML page: a login page?",
        "look at it in a browser, and fetch the data itself; a table in it pandas.read_html reads",
        is_html,
    ),
    shape(
        "a Git LFS pointer and not the file it stands for",
        "fetch the file with git lfs pull",
        |look| look.starts("version https://git-lfs.github.com/spec/"),
    ),
    shape("an SQL dump of PostgreSQL", "psql restores it: psql -d DATABASE -f FILE", |look| {
        is_sql(look) && look.has(&["-- PostgreSQL database", " FROM stdin;", "pg_catalog."])
    }),
    shape("an SQL dump of MySQL or MariaDB", "mysql restores it: mysql DATABASE < FILE", |look| {
        is_sql(look) && look.has(&["-- MySQL dump", "-- MariaDB dump", "/*!4", "LOCK TABLES `"])
    }),
    shape("an SQL dump of SQLite", "sqlite3 restores it: sqlite3 NEW.db < FILE", |look| {
        is_sql(look) && look.has(&["PRAGMA foreign_keys", "BEGIN TRANSACTION;"])
    }),
    shape("an SQL dump", "restore it with its database's own client, and load from there", is_sql),
    shape("a program in PHP", "name the file with the data", |look| look.starts("<?php")),
    yielding(
        "an XML document",
        "convert it to CSV or JSON Lines first: xmlstarlet sel, xq, pandas.read_xml",
        is_xml,
    ),
    shape("an HTTP response with its headers", "fetch it without them: curl without -i", |look| {
        look.starts("HTTP/") && look.line(0).split(' ').nth(1).is_some_and(is_status)
    }),
    shape("an RTF document", "save it as plain text or CSV", |look| look.starts("{\\rtf")),
    shape("a PostScript document", "name a CSV or TSV file", |look| look.starts("%!PS")),
    shape("a LaTeX document", "name a CSV or TSV file", |look| look.starts("\\documentclass")),
    shape("an encrypted message (PGP)", "decrypt it first: gpg -d", |look| {
        look.starts("-----BEGIN PGP MESSAGE-----")
    }),
    shape("a key or a certificate", "name a CSV or TSV file", |look| {
        let line = look.line(0);
        line.len() > 15 && line.starts_with("-----BEGIN ") && line.ends_with("-----")
    }),
    shape("contacts or a calendar (vCard, iCalendar)", "convert it to CSV first", |look| {
        matches!(look.line(0), "BEGIN:VCARD" | "BEGIN:VCALENDAR")
    }),
    shape("a Weka ARFF file", "convert it to CSV first", |look| {
        look.starts("@relation ") && look.lower().contains("\n@attribute ")
    }),
    shape("a patch", "name the file with the data", |look| {
        look.starts("diff --git ")
            || look.starts("--- ")
                && look.line(1).starts_with("+++ ")
                && look.line(2).starts_with("@@")
    }),
    shape("a script", "run it, and load what it writes", |look| {
        look.starts("#!/") && look.comment != Some(b'#')
    }),
    shape(
        "a table drawn for people, with lines between its cells",
        "have it written otherwise: psql -c \"\\copy (SELECT ...) TO 'OUT.csv' CSV HEADER\", sqlite3 -json, in SAP the list saved as text with tabs",
        is_drawn,
    ),
    shape(
        "a table drawn for people, in columns of a width",
        "have it written otherwise: sqlite3 -csv -header, sqlcmd -W -s ',', in SQL*Plus SET MARKUP CSV ON, in SSMS Save Results As CSV",
        is_in_columns,
    ),
    shape(
        "a table with a line of dashes below its header, as sqlcmd and SSMS write it",
        "leave that line out: sed 2d, where it is the file's second",
        is_ruled,
    ),
    yielding("an e-mail", "name the attachment, saved as a file", is_email),
    yielding("YAML", "convert it to JSON Lines first", is_yaml),
    yielding("a file of settings (INI or TOML)", "convert it to CSV first", is_settings),
];

/// Refuses `text`, which is that of `input` from its first record on, if it has a known shape.
///
/// # Errors
/// When it has, and the user didn't say that it is a table.
pub(super) fn refuse(
    input: &str,
    text: &[u8],
    whole: bool,
    request: &DialectRequest,
    extension: &str,
) -> Result<()> {
    if request.format.is_some() {
        return Ok(());
    }
    let refused = |what: &str, advice: &str| {
        Err(Error::source(format!("{input} looks like {what}"))
            .advise(format!("{advice}; --format csv loads it as text anyway")))
    };
    if json::is_hidden(text, whole, request, extension) {
        return refused("JSON", "say --format json, or rename it to .json");
    }
    let look = Look::at(text, whole, request);
    match SHAPES.iter().find(|shape| (shape.is)(&look)) {
        Some(shape) if !(shape.yields && is_table(text, whole, request, extension)) => {
            refused(shape.what, shape.advice)
        }
        _ => Ok(()),
    }
}

/// Whether every record has the same number of fields, and more than one.
fn is_table(text: &[u8], whole: bool, request: &DialectRequest, extension: &str) -> bool {
    sniff::dialect(text, whole, request, None, extension)
        .is_ok_and(|sniffed| delimiter::is_regular(text, whole, &sniffed.dialect))
}

/// A text as shapes look at it.
struct Look {
    /// Its first bytes, behind white space.
    text: String,
    /// The end of it, where that was seen.
    end: Option<String>,
    /// How many spaces stand before the first line.
    indent: usize,
    /// What lines begin with that are skipped.
    comment: Option<u8>,
}

impl Look {
    fn at(text: &[u8], whole: bool, request: &DialectRequest) -> Self {
        let from = text;
        let text = text.trim_ascii_start();
        let blanks = from[..from.len() - text.len()].iter().rev();
        let string =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
        let end = &text[text.len().saturating_sub(256)..];
        Self {
            text: string(&text[..text.len().min(LOOK_BYTES)]),
            end: whole.then(|| string(end)),
            indent: blanks.take_while(|byte| **byte == b' ').count(),
            comment: request.comment,
        }
    }

    /// Whether it starts so, in upper or lower case.
    fn starts(&self, word: &str) -> bool {
        has_prefix(&self.text, word)
    }

    /// Whether any of these stands in it.
    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.text.contains(word))
    }

    /// The line with this index, without white space behind it; empty if there is none.
    fn line(&self, index: usize) -> &str {
        self.text.lines().nth(index).unwrap_or_default().trim_end()
    }

    /// Whether this line is skipped as a comment.
    fn is_comment(&self, line: &str) -> bool {
        self.comment.is_some() && line.as_bytes().first().copied() == self.comment
    }

    fn lower(&self) -> String {
        self.text.to_ascii_lowercase()
    }

    /// Lines with something in them, and no comments. The last one may be cut off.
    fn settings(&self) -> impl Iterator<Item = &str> {
        let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        self.text.lines().map(str::trim_end).filter(is_said).take(LINES_MAX)
    }
}

fn has_prefix(text: &str, word: &str) -> bool {
    text.as_bytes()
        .get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// What is behind comments of this kind and white space.
fn behind<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let mut text = text.trim_start();
    while let Some(inside) = text.strip_prefix(open) {
        let Some((_, rest)) = inside.split_once(close) else { break };
        text = rest.trim_start();
    }
    text
}

fn is_html(look: &Look) -> bool {
    let text = behind(behind(behind(&look.text, "<!--", "-->"), "<?xml ", "?>"), "<!--", "-->");
    let is_tag = |name: &str| {
        has_prefix(text, name)
            && matches!(text.as_bytes().get(name.len()), Some(b'>' | b' ' | b'\n' | b'\t'))
    };
    is_tag("<!doctype html") || ["<html", "<head", "<body", "<script"].into_iter().any(is_tag)
}

fn is_xml(look: &Look) -> bool {
    if look.starts("<?xml ") || look.starts("<!doctype ") {
        return true;
    }
    let text = behind(&look.text, "<!--", "-->");
    let Some(tag) = text.strip_prefix('<') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-' | '.');
    let name = &tag[..tag.find(|c| !is_name(c)).unwrap_or(tag.len())];
    let Some((inside, rest)) = tag.split_once('>') else { return false };
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || inside.contains('<') {
        return false;
    }
    if inside.contains(" xmlns=") || inside.contains(" xmlns:") {
        return true;
    }
    // One element around all others: it is opened on a line of its own, and closed at the very end if at all.
    let (close, is_cut) = (format!("</{name}>"), look.text.len() >= LOOK_BYTES);
    let is_closed = match (&look.end, is_cut) {
        (Some(end), false) => {
            let end = end.trim_end();
            end.ends_with(&close) && rest.matches(&close).count() == 1
        }
        (Some(end), true) => end.trim_end().ends_with(&close) && !rest.contains(&close),
        (None, _) => !rest.contains(&close),
    };
    let is_apart = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    is_closed && is_apart && rest.trim_start().starts_with('<')
}

/// What statements begin with, and what has to be in them.
const STATEMENTS: [(&str, &str); 26] = [
    ("create table ", "("),
    ("create temporary table ", "("),
    ("create database ", ";"),
    ("create schema ", ";"),
    ("create sequence ", ";"),
    ("create type ", ";"),
    ("create extension ", ";"),
    ("create index ", ";"),
    ("create unique index ", ";"),
    ("create view ", ";"),
    ("create or replace ", ";"),
    ("alter table ", ";"),
    ("drop table ", ";"),
    ("drop database ", ";"),
    ("insert into ", "values"),
    ("insert into ", "select"),
    ("replace into ", "values"),
    ("copy ", " from stdin;"),
    ("lock tables ", ";"),
    ("pragma ", "="),
    ("begin transaction;", ""),
    ("start transaction;", ""),
    ("set names ", ";"),
    ("set ansi_", "\ngo"),
    ("use [", "\ngo"),
    ("use `", "`;"),
];

fn is_sql(look: &Look) -> bool {
    // Some have settings before the first table.
    let mut text = statements(&look.text);
    while let Some(rest) = behind_assignment(text) {
        text = statements(rest);
        if text.is_empty() || has_prefix(text, "select pg_catalog.") {
            return true;
        }
    }
    let lower = text.to_ascii_lowercase();
    let first = lower.split_inclusive(";\n").next().unwrap_or_default();
    let is_cut = look.text.len() >= LOOK_BYTES;
    let ends = is_cut || first.trim_end().ends_with(';') || first.contains("\ngo");
    ends && STATEMENTS.iter().any(|(start, with)| first.starts_with(start) && first.contains(with))
}

/// What is behind comments, and behind lines that are for `psql`.
fn statements(text: &str) -> &str {
    let mut text = text.trim_start();
    loop {
        let from = text;
        text = behind(text, "--", "\n");
        text = behind(text, "\\", "\n");
        text = behind(text, "/*", "*/").trim_start_matches([';', ' ', '\n']);
        if text.len() == from.len() {
            return text;
        }
    }
}

/// What follows `SET a = b;` on a line of its own.
fn behind_assignment(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n')?;
    let is_one = has_prefix(line, "set ")
        && line.trim_end().ends_with(';')
        && line.contains('=')
        && !line.contains(',');
    is_one.then_some(rest)
}

fn is_status(word: &str) -> bool {
    word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_drawn(look: &Look) -> bool {
    let (first, second) = (look.line(0), look.line(1));
    let has_only = |line: &str, set: &str| line.chars().all(|c| set.contains(c));
    let is_line = |c: char| ('\u{2500}'..='\u{257f}').contains(&c) && !"│┃║".contains(c);
    let is_border = |line: &str| {
        let line = line.trim();
        line.chars().count() > 4 && line.starts_with(is_line) && line.ends_with(is_line)
    };
    // mysql
    (first.len() > 4 && first.starts_with("+-") && first.ends_with('+') && has_only(first, "+-=") && second.starts_with('|'))
        || first.starts_with("*************************** 1. row ")
        // SQLite, DuckDB, ClickHouse, Polars (which says the shape first)
        || [first, second].into_iter().any(is_border)
        || first.starts_with("-[ RECORD 1 ]-")
        // psql
        || (first.contains(" | ") && second.contains("-+-") && has_only(second, "+-"))
        // Markdown
        || (first.contains('|') && second.contains("---") && second.contains('|') && has_only(second, "|-: \t")
            && second.split('|').filter(|cell| !cell.is_empty()).all(|cell| cell.contains("---")))
        || has_ruled_header(look)
}

/// Whether the first line that is nothing but dashes, below a title or not, has names between bars below it, and behind these another such
/// line, as in lists of SAP.
fn has_ruled_header(look: &Look) -> bool {
    let is_rule = |line: &&str| line.contains("-----") && line.chars().all(|c| "-|+".contains(c));
    let is_row = |line: &&str| line.len() > 2 && line.starts_with('|') && line.ends_with('|');
    let lines = look.text.lines().map(str::trim).take(LINES_MAX);
    let mut lines = lines.skip_while(|line| !is_rule(line)).skip(1).peekable();
    let has_names = lines.peek().is_some_and(is_row);
    has_names
        && lines.find(|line| !is_row(line) || is_rule(line)).is_some_and(|line| is_rule(&line))
}

/// Whether the second line has nothing but dashes below the words of the first, each in a column of its own. A single column is known by
/// what stands below its rows.
fn is_in_columns(look: &Look) -> bool {
    let header: Vec<char> =
        std::iter::repeat_n(' ', look.indent).chain(look.line(0).chars()).collect();
    let rule = look.line(1);
    if look.is_comment(rule) || !rule.chars().all(|c| matches!(c, ' ' | '-')) {
        return false;
    }
    let rule: Vec<char> = rule.chars().collect();
    let is_dash = |at: usize| rule.get(at).is_some_and(|c| *c != ' ');
    let begins = |at: &usize| is_dash(*at) && (*at == 0 || !is_dash(at - 1));
    let has_word = |at: usize| {
        let below = (at..rule.len()).take_while(|at| is_dash(*at));
        header.iter().take(at + below.count()).skip(at).any(|c| *c != ' ')
    };
    let columns: Vec<usize> = (0..rule.len()).filter(begins).collect();
    let is_closed =
        || look.end.as_ref().is_some_and(|end| footer::at_end(end.as_bytes()).is_some());
    (columns.len() > 1 || is_closed())
        && rule.len() > 2 * columns.len()
        && columns.into_iter().all(has_word)
        && header.iter().any(|c| c.is_alphanumeric())
        && (0..header.len()).all(|at| header[at] == ' ' || is_dash(at))
}

/// Whether each field of the second line is dashes, three or more or as many as the name above has characters.
fn is_ruled(look: &Look) -> bool {
    let (header, rule) = (look.line(0), look.line(1));
    let is_delimiter = |c: &char| c.is_ascii() && !c.is_alphanumeric() && !matches!(c, '-' | ' ');
    let Some(delimiter) = rule.chars().find(is_delimiter).filter(|_| !look.is_comment(rule)) else {
        return false;
    };
    let fields = |line: &str| -> Vec<usize> {
        line.split(delimiter).map(|field| field.trim().trim_matches('"').chars().count()).collect()
    };
    let (names, dashes) = (fields(header), fields(rule));
    let is_rule = |(name, dashes): (&usize, &usize)| *dashes > 2 || *dashes > 0 && dashes == name;
    rule.chars().all(|c| c == delimiter || matches!(c, '-' | ' ' | '"'))
        && rule.split(delimiter).all(|field| !field.trim().contains(' '))
        && header.contains(char::is_alphanumeric)
        && names.len() == dashes.len()
        && dashes.len() > 1
        && dashes.iter().any(|dashes| *dashes > 1)
        && names.iter().zip(&dashes).all(is_rule)
}

fn is_email(look: &Look) -> bool {
    let text = if look.text.starts_with("From ") {
        look.text.split_once('\n').map_or("", |(_, rest)| rest)
    } else {
        &look.text
    };
    let head = text.split("\n\n").next().unwrap_or_default();
    let is_header = |line: &str| {
        line.starts_with([' ', '\t']) || key(line).is_some_and(|(_, value)| !value.is_empty())
    };
    let has =
        |names: &[&str]| head.lines().any(|line| names.iter().any(|name| has_prefix(line, name)));
    head.lines().all(is_header)
        && has(&["From: ", "Return-Path: ", "Received: "])
        && has(&["Date: ", "Message-ID: ", "MIME-Version: "])
}

/// The key and the value of `key: value`, where the key is a word or quoted.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_at(line.find(':')?),
    };
    let is_word = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
    };
    let value = rest.strip_prefix(':')?;
    let is_key =
        (line.starts_with('"') || is_word(name)) && (value.is_empty() || value.starts_with(' '));
    is_key.then_some((name, value.trim()))
}

fn is_yaml(look: &Look) -> bool {
    let mut lines = look.settings().peekable();
    if lines.peek().is_some_and(|line| line.starts_with("%YAML ")) {
        return true;
    }
    let is_marked = lines.next_if(|line| *line == "---").is_some();
    let mut names = std::collections::HashSet::new();
    let (mut keys, mut items, mut inner) = (0, 0, 0);
    for line in lines {
        let bare = line.trim_start();
        let entry = bare.trim_start_matches("- ").trim_start();
        let is_inside = line.starts_with(' ');
        if let Some((name, _)) = key(entry) {
            inner += usize::from(is_inside || bare != entry);
            // A key that comes twice, as in a log, is no YAML.
            if !is_inside && bare == entry && !names.insert(name) {
                return false;
            }
        } else if !is_inside && bare == entry && !matches!(bare, "---" | "..." | "-") {
            return false;
        } else if bare != entry && entry.starts_with('{') {
            inner += 1;
        }
        keys += usize::from(!is_inside && bare == entry && key(entry).is_some());
        items += usize::from(!is_inside && (bare != entry || bare == "-"));
    }
    match (keys, items) {
        (0, 0) => false,
        _ if is_marked => true,
        // A list of words with dashes may be a column; of keys, not.
        (0, items) => inner > items,
        (1, _) => inner > 0,
        _ => true,
    }
}

fn is_settings(look: &Look) -> bool {
    let is_section = |line: &str| {
        let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-. :/\\\"[]".contains(c);
        name.is_some_and(|name| {
            name.contains(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_name)
        })
    };
    let is_pair = |line: &str| {
        line.split_once('=').is_some_and(|(name, _)| !name.trim().is_empty() && !name.contains(','))
    };
    let mut lines = look.settings().filter(|line| !line.starts_with(';'));
    let (mut pairs, starts) = (0, lines.next().is_some_and(is_section));
    starts
        && lines.all(|line| {
            pairs += usize::from(is_pair(line));
            is_pair(line) || is_section(line) || line.starts_with([' ', '\t', ']', '}'])
        })
        && pairs > 0
}

#[cfg(test)]
mod tests;
