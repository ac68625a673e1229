//! Files that are no tables, and tables that look like them.

use proptest::prelude::*;

use super::{SHAPES, refuse};
use inrush_core::DialectRequest;

fn refused(text: &str) -> Option<String> {
    refused_as(text, true, "csv")
}

fn refused_as(text: &str, whole: bool, extension: &str) -> Option<String> {
    refuse("in", text.as_bytes(), whole, &DialectRequest::default(), extension)
        .err()
        .map(|error| error.what().to_owned())
}

/// What each is taken for, and its text.
const OTHERS: [(&str, &str); 70] = [
    (
        "HTML",
        "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body>\n</body></html>\n",
    ),
    ("HTML", "\n\n<html lang=\"en\">\n<body>x, y</body>\n</html>"),
    ("HTML", "<!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\r\n<HTML>\r\n</HTML>\r\n"),
    ("HTML", "<?xml version=\"1.0\"?>\n<!DOCTYPE html>\n<html/>\n"),
    ("HTML", "<!-- saved -->\n<html>\n</html>\n"),
    ("HTML", "<html><body>all in one line, with commas, and more</body></html>"),
    ("HTML", "<head><title>302 Found</title></head>\n<body>\n</body>\n"),
    (
        "XML",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>AccessDenied</Code></Error>\n",
    ),
    ("XML", "<rows>\n  <row><id>1</id></row>\n  <row><id>2</id></row>\n</rows>\n"),
    ("XML", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\"><g/></svg>"),
    ("XML", "<kml xmlns:gx=\"http://www.google.com/kml/ext/2.2\">\n<a>1,2</a>\n</kml>\n"),
    ("XML", "<!-- made by hand -->\n<rows>\n<row/>\n</rows>"),
    ("YAML", "---\nname: a\nage: 5\n"),
    ("YAML", "name: a\nage: 5\n"),
    ("YAML", "# settings\nserver:\n  port: 80\n  host: x\n"),
    ("YAML", "- id: 1\n  name: a\n- id: 2\n  name: b\n"),
    ("YAML", "---\n- a\n- b\n"),
    ("YAML", "%YAML 1.2\n---\na: 1\n"),
    ("YAML", "openapi: 3.0.0\ninfo:\n  title: x, y\npaths:\n  /a:\n    get: {}\n"),
    ("YAML", "rows:\n- {id: 1, name: a}\n- {id: 2, name: b}\n"),
    (
        "SQL",
        "-- MySQL dump 10.13  Distrib 8.0.36\n--\n-- Host: localhost\n\n/*!40101 SET @OLD=@@X */;\nDROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (\n  `id` int\n);\n",
    ),
    (
        "SQL",
        "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\nLOCK TABLES `t` WRITE;\n",
    ),
    (
        "SQL",
        "--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\nSET statement_timeout = 0;\nSET client_encoding = 'UTF8';\n\nCREATE TABLE public.t (\n    id integer\n);\n",
    ),
    (
        "SQL",
        "--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\n",
    ),
    (
        "SQL",
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t(a,b);\nINSERT INTO t VALUES(1,2);\nCOMMIT;\n",
    ),
    ("SQL", "BEGIN TRANSACTION;\nCREATE TABLE t(a,b);\nCOMMIT;\n"),
    ("SQL", "INSERT INTO t VALUES (1,'a',2);\nINSERT INTO t VALUES (2,'b',3);\n"),
    ("SQL", "create table t (id int, name text);\n"),
    ("SQL", "COPY public.t (id, name) FROM stdin;\n1\ta\n\\.\n"),
    ("SQL", "USE [master]\nGO\n/****** Object:  Table [dbo].[t] ******/\nSET ANSI_NULLS ON\nGO\n"),
    (
        "SQL",
        "-- phpMyAdmin SQL Dump\nSET SQL_MODE = \"NO_AUTO_VALUE_ON_ZERO\";\nSTART TRANSACTION;\nSET time_zone = \"+00:00\";\n",
    ),
    ("JSON", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\"}\n"),
    ("JSON", "[\n  {\"id\": 1},\n  {\"id\": 2}\n]\n"),
    ("JSON", "[[1,\"a\"],[2,\"b\"]]\n"),
    ("JSON", "{\n  \"rows\": [1, 2]\n}\n"),
    ("INI", "[main]\nkey=value\nother = 2\n"),
    ("INI", "; comment\n[a.b]\nx = [1, 2]\n[[c]]\ny = \"z\"\n"),
    ("HTTP", "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\na,b\r\n1,2\r\n"),
    ("HTTP", "HTTP/2 404\ncontent-type: text/html\n\n<html>\n"),
    ("LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
    ("RTF", "{\\rtf1\\ansi\\deff0 {\\fonttbl {\\f0 Times;}}\na,b\\par\n}"),
    ("PostScript", "%!PS-Adobe-3.0\n%%Title: x\n"),
    ("certificate", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
    ("vCard", "BEGIN:VCARD\nVERSION:3.0\nN:Smith;Jo\nEND:VCARD\n"),
    ("ARFF", "@relation iris\n\n@attribute sepal numeric\n@data\n5.1,3.5\n"),
    ("patch", "--- a/x.csv\n+++ b/x.csv\n@@ -1 +1 @@\n-1,2\n+1,3\n"),
    ("script", "#!/bin/sh\necho a,b\n"),
    ("PHP", "<?php\necho 'a,b';\n"),
    ("drawn", "+----+------+\n| id | name |\n+----+------+\n|  1 | a    |\n+----+------+\n"),
    ("drawn", " id | name \n----+------\n  1 | a\n(1 row)\n"),
    ("drawn", "| id | name |\n|----|------|\n| 1 | a |\n| 2 | b |\n"),
    ("drawn", "┌────┬──────┐\n│ id │ name │\n├────┼──────┤\n│ 1  │ a    │\n└────┴──────┘\n"),
    ("drawn", "   ┌─id─┬─name─┐\n1. │  1 │ a    │\n   └────┴──────┘\n"),
    ("drawn", "shape: (1, 1)\n┌─────┐\n│ a   │\n│ --- │\n│ i64 │\n╞═════╡\n│ 1   │\n└─────┘\n"),
    ("drawn", " id │ name \n────┼──────\n  1 │ a\n"),
    (
        "drawn",
        "Table:   MARA\nDisplayed Fields:   2 of   2\n------------\n|MANDT|NTGEW|\n------------\n|100  |  1,5|\n|100  | 12,0|\n------------\n",
    ),
    (
        "drawn",
        "21.05.2024   List\n\n|------------|\n|MANDT|NTGEW|\n|-----|------|\n|100  |  1,5|\n",
    ),
    (
        "drawn",
        "2 rows, as asked\n+-----+---+\n| id  | n |\n+-----+---+\n| 1   | x |\n+-----+---+\n",
    ),
    ("in columns", "id  name\n--  ----\n1   Anna\n"),
    (
        "in columns",
        "id          name       \r\n----------- -----------\r\n1           Anna       \r\n\r\n(1 rows affected)\r\n",
    ),
    (
        "in columns",
        "\n        ID NAME       HIRED            SAL\n---------- ---------- --------- ----------\n         1 King       17-NOV-81       5000\n\n1 row selected.\n",
    ),
    ("in columns", "größe  naïve\n-----  -----\n1      x\n"),
    ("drawn", "-[ RECORD 1 ]--\nid | 1\nname | a\n"),
    (
        "in columns",
        "name   \r\n-------\r\nAnna   \r\n\r\n(1 rows affected)\r\n\r\nCompletion time: 2024-05-01T12:00:00\r\n",
    ),
    ("line of dashes", "code,name\r\n----,----\r\na1,Anna\r\n"),
    ("line of dashes", "id,name,amt,dt\n--,----,---,--\n1,Anna,1.5,x\n"),
    ("line of dashes", "id\tname\n--\t----\n1\tAnna\n"),
    ("line of dashes", "id         ;n   \n-----------;----\n1          ;x   \n"),
    ("line of dashes", "a|name\n-|----\n1|x\n"),
    (
        "e-mail",
        "Return-Path: <a@b.c>\nReceived: from x\n\tby y\nReceived: from z\nFrom: a@b.c\nDate: Mon, 1 Jan 2013\nSubject: data\n\nSee attachment.\n",
    ),
];

#[test]
fn what_is_no_table_is_refused_by_its_name() {
    for (wanted, text) in OTHERS {
        let what = refused(text).unwrap_or_else(|| panic!("{wanted} is taken: {text}"));
        assert!(what.starts_with("in looks like ") && what.contains(wanted), "{what}: {text}");
        // Unless the user says what it is.
        let format = Some(inrush_core::Format::Csv);
        let request = DialectRequest { format, ..DialectRequest::default() };
        assert!(refuse("in", text.as_bytes(), true, &request, "csv").is_ok(), "{text}");
    }
}

#[test]
fn long_ones_are_known_by_their_start() {
    let page = format!("<rows>\n{}", "<row><id>1</id></row>\n".repeat(10_000));
    assert!(refused_as(&page, false, "xml").is_some_and(|what| what.contains("XML")));
    assert!(refused_as(&format!("{page}</rows>\n"), true, "").is_some());
    let dump = format!("INSERT INTO t VALUES (1,'{}');\n", "x".repeat(100_000));
    assert!(refused_as(&dump, false, "sql").is_some_and(|what| what.contains("SQL")));
    let yaml = format!("a: 1\nb:\n{}", "  - x: 1\n    y: 2\n".repeat(10_000));
    assert!(refused_as(&yaml, false, "").is_some_and(|what| what.contains("YAML")));
}

/// Tables, if strange ones.
const TABLES: [&str; 55] = [
    "",
    "id,name\n1,a\n",
    "<b>x</b>,5\n<i>y</i>,6\n",
    "<b>x</b>\n<i>y</i>\n",
    "<b>x</b>\n<b>y</b>\n",
    "<html>x</html>,1\n<html>y</html>,2\n",
    "html,size\n<html></html>,1\n",
    "\"<html>\",1\n\"<html>\",2\n",
    "<tag>\n<other>\n<more>\n",
    "<5,10\n<6,11\n",
    "<a@b.c>,1\n<d@e.f>,2\n",
    "---\n5\n6\n",
    "a|b\n-----|x\n|1|\n2|3\n",
    "-----\n|1|\n5\n",
    "---\nname\nother\n",
    "---,a\n1,2\n",
    "-- made by hand\nid,name\n1,a\n",
    "--\n1\n",
    "query,n\nSELECT 1;,2\n",
    "query\nCREATE TABLE t (a int);\n",
    "\"CREATE TABLE t (a);\",1\n",
    "Create table name,rows\nt,5\n",
    "Set Name;Year;\nx;2013;\n",
    "set num,name\n1,a\n",
    "update,x\n1,2\n",
    "begin,end\n1,2\n",
    "begin;end;\n1;2;\n",
    "pragma,=\n1,2\n",
    "key: value, more\nother: value, more\n",
    "ERROR: x\nINFO: y\nERROR: z\n",
    "10:30: a\n10:31: b\n",
    "http://a.b/c\nhttp://a.b/d\n",
    "- a\n- b\n",
    "-1\n-2\n",
    "[1]\n[2]\n",
    "[a]\n[b]\n",
    "[Header],,\nIEMFileVersion,4,\n[Data],,\n",
    "a\n{\"b\":1}\n{\"b\":2}\n",
    "{a},{b}\n{c},{d}\n",
    "HTTP/1.1,status\nx,200\n",
    "#!comment\nid,name\n1,a\n",
    "@relation,x\n1,2\n",
    "from,date\na@b.c,2013-01-01\n",
    "id,name\n-,-\n1,a\n",
    "id,name\n--,x\n1,a\n",
    "id,name\n1,a\n--,----\n",
    "name,town\n--,--\nAnn,Rome\n",
    "---,---\n---,---\n",
    "a,b,c\n---,---\n1,2,3\n",
    "name\n----\nAnna\n",
    "name\n--- ---\nAnna\n",
    "a word\n- -\nx y\n",
    "a  b\n-  -\n1  2\n",
    "a b c\n-- --\n1 2\n",
    "│,─\n1,2\n",
];

#[test]
fn tables_are_never_refused() {
    for text in TABLES {
        assert_eq!(refused(text), None, "{text}");
    }
    let dashes = "id,name\n--,----\n1,a\n";
    let request = DialectRequest { comment: Some(b'-'), ..DialectRequest::default() };
    assert!(refuse("in", dashes.as_bytes(), true, &request, "csv").is_ok());
    let wide = "a|b\n--|--\n1|2\n";
    assert_eq!(refused(wide), None);
    // A list of words and what they mean, where the user says what separates them.
    let list = "apple: a fruit\nbeet: a root\n";
    let request = DialectRequest { delimiter: Some(b':'), ..DialectRequest::default() };
    assert!(refuse("in", list.as_bytes(), true, &request, "txt").is_ok());
}

#[test]
fn advice_says_what_to_do() {
    for shape in SHAPES {
        assert!(!shape.advice.is_empty() && !shape.advice.ends_with('.'), "{}", shape.what);
    }
    let page = OTHERS[0].1.as_bytes();
    let error = refuse("in", page, true, &DialectRequest::default(), "csv").unwrap_err();
    assert!(error.what().ends_with("looks like an HTML page: a login page?"));
    assert!(format!("{error:?}").contains("--format csv loads it as text anyway"));
}

proptest! {
    #[test]
    fn any_text_has_a_shape_or_none(text in "[a<>/:=\\[\\]{}|+\\-;\n \"!?]{0,120}", whole: bool) {
        let _ = refused_as(&text, whole, "txt");
    }

    #[test]
    fn tables_of_random_words_are_tables(
        rows in prop::collection::vec(prop::collection::vec("[a-zA-Z0-9 .:_<>/-]{1,8}", 3), 2..8),
    ) {
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        prop_assert_eq!(refused(&text), None);
    }
}
