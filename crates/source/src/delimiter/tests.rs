//! Small files as people have them, and random tables.

use proptest::prelude::*;

use crate::sniff::{Sniffed, dialect};
use inrush_core::DialectRequest;

fn sniffed(text: &[u8]) -> Sniffed {
    dialect(text, true, &DialectRequest::default(), None, "csv").unwrap()
}

/// One delimiter reads it as nothing else does, or the file is one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    Rival,
    OneColumn,
}

use Says::{Nothing, OneColumn, Rival};

/// What it is, its text, what separates its fields, and what a user has to hear of it.
const FILES: [(&str, &str, char, Says); 66] = [
    ("commas", "id,name,size\n1,a,2.5\n2,b,3.5\n", ',', Nothing),
    ("semicolons", "id;name;size\n1;a;2.5\n2;b;3.5\n", ';', Nothing),
    ("tabs", "id\tname\tsize\n1\ta\t2.5\n2\tb\t3.5\n", '\t', Nothing),
    ("bars", "id|name|size\n1|a|2.5\n2|b|3.5\n", '|', Nothing),
    ("CRLF", "id;name\r\n1;a\r\n2;b\r\n", ';', Nothing),
    ("CR", "id;name\r1;a\r2;b\r", ';', Nothing),
    ("no end of line", "a;b\n1;2", ';', Nothing),
    // Numbers with marks of thousands, in quotes or not.
    ("quoted thousands, no header", "a\t\"31,818.28\"\nb\t\"1,234.50\"\n", '\t', Nothing),
    ("quoted millions, no header", "a\t\"1,031,818.28\"\nb\t\"2,001,234.50\"\n", '\t', Nothing),
    ("a quoted number each", "x\t\"31,818.28\"\ny\t7\nz\t\"1,0\"\n", '\t', Nothing),
    ("a quote within a field", "x\"31,818.28\"\t1\ny\"1,234.50\"\t2\n", '\t', Rival),
    ("quoted thousands, semicolons", "a;\"31,818.28\"\nb;\"1,234.50\"\n", ';', Nothing),
    ("quoted thousands, commas", "a,\"31;818.28\"\nb,\"1;234.50\"\n", ',', Nothing),
    ("single quotes", "a\t'31,818.28'\nb\t'1,234.50'\n", '\t', Nothing),
    ("plain thousands", "k\tv\na\t31,818\nb\t1,234\n", '\t', Nothing),
    ("plain thousands, no header", "a\t31,818\nb\t1,234\n", '\t', Rival),
    // Decimal commas.
    ("German", "Preis;Menge\n1,5;2,5\n3,25;4,0\n", ';', Nothing),
    ("German, no header", "1,5;2,5\n3,25;4,0\n", ';', Rival),
    ("German, many columns", "1,5;2,5;3,5;4,5\n1,0;2,0;3,0;4,0\n", ';', Rival),
    ("French with spaces", "ville;prix\nLyon;1 234,50\nParis;12,00\n", ';', Nothing),
    ("Brazilian", "nome;valor\nJo\u{e3}o;\"1.234,50\"\nAna;\"2,00\"\n", ';', Nothing),
    ("Swedish, tabs", "namn\tpris\n\u{d6}rjan\t1,5\n\u{c5}sa\t2,5\n", '\t', Nothing),
    ("Indian", "state,sum\nGoa,\"12,34,567\"\nAssam,\"1,00,000\"\n", ',', Nothing),
    ("Swiss", "Ort;Betrag\nZ\u{fc}rich;1'234.50\nBern;2'000.00\n", ';', Nothing),
    (
        "Japanese",
        "\u{540d}\u{524d},\u{5e74}\u{9f62}\n\u{592a}\u{90ce},31\n\u{82b1}\u{5b50},25\n",
        ',',
        Nothing,
    ),
    (
        "Russian",
        "\u{418}\u{43c}\u{44f};\u{426}\u{435}\u{43d}\u{430}\n\u{410}\u{43d}\u{43d}\u{430};1,5\n",
        ';',
        Nothing,
    ),
    // Names as directories have them.
    ("names, tabs", "Last, First\tAmount\nSmith, Jo\t12\nDoe, Al\t7\n", '\t', Rival),
    ("names, bars", "Last, First|Amount\nSmith, Jo|12\nDoe, Al|7\n", '|', Rival),
    ("names and one without", "Last, First\tAmount\nSmith, Jo\t12\nCher\t7\n", '\t', Nothing),
    ("names in quotes", "name,size\n\"Smith, Jo\",1\n\"Doe, Al\",2\n", ',', Nothing),
    ("names in quotes alone", "\"Smith, Jo\"\n\"Doe, Al\"\n", ',', OneColumn),
    ("commas with spaces", "id, name, size\n1, a, 2\n2, b, 3\n", ',', Nothing),
    ("commas, a list each", "1,x; y\n2,z; w\n3,u; v\n", ',', Rival),
    ("bars in text", "k,v\nx,a | b\ny,c | d\n", ',', Nothing),
    ("bars in text, no header", "x,a | b\ny,c | d\n", ',', Rival),
    // Text that has delimiters in it.
    ("lists in a column", "id,tags\n1,a;b\n2,c;d\n3,e\n", ',', Nothing),
    ("lists under a header", "id,tags\n1,a;b\n2,c;d\n3,e;f\n", ',', Nothing),
    ("JSON in a column", "id\tdoc\n1\t{\"a\":1,\"b\":2}\n2\t{\"a\":3,\"b\":4}\n", '\t', Nothing),
    ("quoted JSON", "id,doc\n1,\"{\"\"a\"\":1,\"\"b\"\":2}\"\n2,\"{\"\"a\"\":3}\"\n", ',', Nothing),
    ("HTML in a column", "<b>x</b>,5\n<i>y</i>,6\n", ',', Nothing),
    (
        "user agents",
        "ip,agent\n1.2.3.4,Mozilla/5.0 (X11; Linux x86_64; rv:1)\n5.6.7.8,curl/8\n",
        ',',
        Nothing,
    ),
    ("lines in quotes", "id,text\n1,\"a;b\nc;d\"\n2,\"e;f\ng;h\"\n", ',', Nothing),
    ("tabs in quotes", "id,text\n1,\"a\tb\"\n2,\"c\td\"\n", ',', Nothing),
    ("everything quoted", "\"id\";\"a,b\"\n\"1\";\"x,y\"\n\"2\";\"z,w\"\n", ';', Nothing),
    (
        "quotes that close where others open",
        "0\t\"\t;\"\ta\na\ta\t\";\t\"\n0\ta\ta\n",
        '\t',
        Nothing,
    ),
    ("and over all lines", "0,\",;\",a\na,a,a\n0,a,\";,\"\n", ',', Nothing),
    ("inches", "id,disk\n1,5\" floppy\n2,3\" floppy\n", ',', Nothing),
    ("times", "at\tv\n2013-01-01 10:00:00,123\t1\n2013-01-01 10:00:01,456\t2\n", '\t', Nothing),
    ("a dash line as a header", "---\n1,2\n3,4\n5,6\n", ',', Nothing),
    ("empty fields", "a;b;c\n;;\n1;;3\n", ';', Nothing),
    ("a delimiter at each end of line", "a;b;\n1;2;\n3;4;\n", ';', Nothing),
    ("wide", "a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7,8\n", ',', Nothing),
    // Broken in places.
    ("a short row", "a;b;c\n1;2;3\n4;5\n6;7;8\n", ';', Nothing),
    ("a ragged file", "a;b;c\n1;2\n", ';', Nothing),
    ("a ragged file of commas", "a,b,c\n1,2\n", ',', Nothing),
    ("a long row in two", "a,b,c\n1,2,3,4\n3,4,5", ',', Nothing),
    ("an open quote", "a;b\n1;\"x\n2;y\n3;z\n4;w\n", ';', Nothing),
    ("a title above", "Sales of 2013\na;b\n1;2\n3;4\n5;6\n", ';', Nothing),
    ("a title with a comma", "Sales, all\na;b\n1;2\n3;4\n5;6\n", ';', Nothing),
    ("blank lines", "\n\na;b\n\n1;2\n\n", ';', Nothing),
    // Little to go by.
    ("a header alone", "id;name;size\n", ';', Nothing),
    ("a header that could be two", "a,b;c\n", ';', Rival),
    ("one row", "1\t2", '\t', Nothing),
    ("one column", "name\none\ntwo\n", ',', OneColumn),
    ("a column of sentences", "A first, longer one.\nA second one.\nA third.\n", ',', Nothing),
    ("aligned with spaces", "id  name\n1   a\n2   b\n", ',', OneColumn),
];

#[test]
fn the_delimiter_of_small_files() {
    for (what, text, delimiter, says) in FILES {
        let found = sniffed(text.as_bytes());
        assert_eq!(char::from(found.dialect.delimiter), delimiter, "{what}: {found:?}");
        let told = found.warnings.join("\n");
        assert_eq!(told.contains("would read it as well"), says == Rival, "{what}: {told}");
        assert_eq!(told.contains("loaded as one column"), says == OneColumn, "{what}: {told}");
    }
}

#[test]
fn both_are_named_where_two_read_as_well() {
    let found = sniffed(b"Last, First\tAmount\nSmith, Jo\t12\n");
    assert_eq!(
        found.warnings,
        ["fields are separated by tab; comma would read it as well: --delimiter comma"]
    );
}

#[test]
fn a_few_bad_rows_among_many_change_nothing() {
    // The wrong one splits every row, the right one all but one; and a header tells them apart even where rows don't.
    let names = format!("Last, First\tn\n{}Smith, Jo 12\n", "Smith, Jo\t12\n".repeat(200));
    assert_eq!(sniffed(names.as_bytes()).dialect.delimiter, b'\t');
    let lists = format!("id,tags\n{}", "1,a;b\n".repeat(900));
    assert_eq!(sniffed(lists.as_bytes()).dialect.delimiter, b',');
    assert_eq!(sniffed(lists.as_bytes()).warnings, [""; 0]);
    let prices = format!("price;size\n{}", "1,5;2,5\n".repeat(900));
    assert_eq!(sniffed(prices.as_bytes()).dialect.delimiter, b';');
    let broken = format!("a\t\"31,818.28\"\n{}", "b\t\"1,234.50\"\n".repeat(50) + "c\t\"1,2\n");
    assert_eq!(sniffed(broken.as_bytes()).dialect.delimiter, b'\t');
}

#[test]
fn what_is_looked_for_nowhere_is_pointed_out() {
    for (text, words) in [
        ("a b c\n1 2 3\n", "with --delimiter space each would have 3 fields"),
        ("root:x:0\nbin:x:1\n", "with --delimiter ':' each would have 3 fields"),
        ("a\u{1}b\n1\u{1}2\n", "with --delimiter $'\\x01' each would have 2 fields"),
        ("a\nb c\n", "(--delimiter says otherwise)"),
    ] {
        let found = sniffed(text.as_bytes());
        assert!(found.warnings[0].contains(words), "{:?}", found.warnings);
    }
    // Also where commas stand in values; a control character in each line is no accident whatever else reads them.
    for (text, words) in [
        (
            "root:x:0:Root\nbin:x:1:Bin\nann:x:2:Ann,,\n",
            "with --delimiter ':' each would have 4 fields",
        ),
        ("Ann,,:x:2\nbin:x:1\n", "comma; with --delimiter ':' each line would have 3 fields"),
        (
            "1\u{1}a,b\u{1}c\n2\u{1}d,e\u{1}f\n",
            "with --delimiter $'\\x01' each line would have 3 fields",
        ),
    ] {
        let found = sniffed(text.as_bytes());
        assert!(found.warnings[0].contains(words), "{:?}", found.warnings);
        assert!(found.widths.is_some_and(|said| said.starts_with("with --delimiter")), "{text}");
    }
    for text in ["a,b c\n1,2 3\n4 ,5 6\n", "t,10:30\nu,11:40\nv;12:50\n"] {
        assert_eq!(sniffed(text.as_bytes()).warnings, [""; 0], "{text}");
    }
    let request = DialectRequest { delimiter: Some(b';'), ..DialectRequest::default() };
    let found = dialect(b"a,b\n1,2\n", true, &request, None, "csv").unwrap();
    assert_eq!(
        found.warnings,
        ["the delimiter semicolon was not found, so each line is loaded as one column"]
    );
}

#[test]
fn a_title_is_pointed_out() {
    for (text, words) in [
        ("Sales\na;b\n1;2\n3;4\n", "if it is a title, --skip-lines 1 leaves it out"),
        ("Sales\nof 2013\n\na;b\n1;2\n3;4\n5;6\n7;8\n", "the first 3 lines have fewer fields"),
        // A header that lacks the name of one column is no title.
        ("b,c\n1,2,3\n4,5,6\n", ""),
        ("a,b\n1,2\n", ""),
    ] {
        let found = sniffed(text.as_bytes()).warnings.join("\n");
        assert!(found.contains(words) && found.is_empty() == words.is_empty(), "{text:?}: {found}");
    }
}

#[test]
fn a_name_says_what_is_likelier() {
    let of = |text: &str, extension: &str| {
        let request = DialectRequest::default();
        dialect(text.as_bytes(), true, &request, None, extension).unwrap().dialect.delimiter
    };
    assert_eq!(of("word\none\n", "tsv"), b'\t');
    assert_eq!(of("word\none\n", "psv"), b'|');
    assert_eq!(of("a;b|c\n1;2|3\n", "psv"), b'|');
    // Not against the evidence.
    assert_eq!(of("a,b\n1,2\n", "tsv"), b',');
}

/// The quote that closes a field at the start of a line opens one to other delimiters, up to the end of the head.
#[test]
fn a_quote_that_closes_opens_none() {
    let text = "0\ta\ta\ta\t0,0\n0\ta;\ta\ta\t0,0\n0\ta\t0,0\t\ta\n\
                0\t\"a\n\"\ta\ta\ta\n0\ta\ta\ta\ta\n0\ta\ta\ta\ta\n";
    assert_eq!(sniffed(text.as_bytes()).dialect.delimiter, b'\t');
}

/// A table as any program writes it: in quotes what has to be.
fn written(rows: &[Vec<String>], delimiter: char, newline: &str) -> String {
    let mut text = String::new();
    for row in rows {
        let fields: Vec<String> = row
            .iter()
            .map(|value| match value.contains([delimiter, '"', '\n', '\r']) {
                true => format!("\"{}\"", value.replace('"', "\"\"")),
                false => value.clone(),
            })
            .collect();
        text += &fields.join(&delimiter.to_string());
        text += newline;
    }
    text
}

/// Whether another delimiter could split every row into equally many parts; of rows with quotes in them nobody counts.
fn is_ambiguous(rows: &[Vec<String>], delimiter: char) -> bool {
    let text = |row: &Vec<String>| row.join(&delimiter.to_string());
    [',', '\t', ';', '|'].iter().filter(|other| **other != delimiter).any(|other| {
        let counts: Vec<usize> = rows.iter().map(|row| text(row).matches(*other).count()).collect();
        counts[0] > 0 && counts.iter().all(|count| *count == counts[0])
    }) || rows.iter().flatten().any(|value| value.contains(['"', '\n']))
}

fn tables() -> impl Strategy<Value = Vec<Vec<String>>> {
    (2usize..6).prop_flat_map(|width| {
        let value = prop_oneof![
            4 => "[a-z]{1,6}",
            2 => "-?[0-9]{1,4}([.,][0-9]{1,2})?",
            1 => "[a-z ,;|\t]{1,10}",
            1 => "[a-z]{1,4}[\",;\n]{1,3}[a-z]{0,3}",
            1 => Just(String::new()),
        ];
        // No first field is empty: a line of nothing but delimiters is one, too, but in one column none.
        let first = "[a-z0-9]{1,6}";
        let row = (first, prop::collection::vec(value, width - 1))
            .prop_map(|(first, rest)| [vec![first], rest].concat());
        prop::collection::vec(row, 3..12)
    })
}

proptest! {
    #[test]
    fn tables_are_read_with_the_delimiter_they_were_written_with(
        rows in tables(),
        delimiter in prop::sample::select(vec![',', '\t', ';', '|']),
        newline in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let text = written(&rows, delimiter, newline);
        let found = sniffed(text.as_bytes());
        let is_right = char::from(found.dialect.delimiter) == delimiter;
        // Where another does as well, the right one is at least named.
        let is_named = found.warnings.iter().any(|note| note.contains("would read it as well"));
        prop_assert!(is_right || is_named && is_ambiguous(&rows, delimiter), "{text:?}: {found:?}");
    }

    #[test]
    fn any_bytes_have_a_dialect(bytes in prop::collection::vec(any::<u8>(), 0..400), whole: bool) {
        for extension in ["csv", "tsv", "psv", ""] {
            dialect(&bytes, whole, &DialectRequest::default(), None, extension).unwrap();
        }
    }

    #[test]
    fn any_text_of_special_bytes_has_a_dialect(text in "[a,;\t|\"'\\\\\n\r -]{0,200}", whole: bool) {
        let found = dialect(text.as_bytes(), whole, &DialectRequest::default(), None, "").unwrap();
        prop_assert!(found.dialect.check().is_ok());
    }
}
