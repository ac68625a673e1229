//! Files within archives: which are meant, what they are called, and what is refused.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;

use crate::fixture::{Fixture, INRUSH, Outcome, rows};

/// Gzip's form of these bytes.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zip archive.
pub(crate) fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let packed = SimpleFileOptions::default().compression_method(zip::CompressionMethod::DEFLATE);
    for (name, bytes) in members {
        archive.start_file(*name, packed).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A tar archive.
pub(crate) fn tar(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        // Whatever the name is: the crate itself writes none that leads out.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive.append(&header, bytes.as_slice()).unwrap();
    }
    archive.into_inner().unwrap()
}

/// A tar archive of links.
fn tar_with_link(sort: tar::EntryType) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(sort);
    header.set_size(0);
    archive.append_link(&mut header, "a.csv", "/etc/passwd").unwrap();
    archive.into_inner().unwrap()
}

const ONE: &[u8] = b"id\n1\n";
const TWO: &[u8] = b"id\n2\n";

/// The same bytes with each `from` as `to`, which is as long.
fn patched(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let found: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|at| bytes[*at..].starts_with(from.as_bytes()))
        .collect();
    assert!(!found.is_empty());
    for at in found {
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

fn refused(name: &str, archive: &[u8], says: &[&str]) -> Outcome {
    let fixture = Fixture::new();
    fixture.write(name, archive);
    fixture.refuses(&[name, "t.db"]).says(says)
}

#[test]
fn an_archive_is_its_members_and_names_the_table_unless_one_is_meant() {
    let fixture = Fixture::new();
    let members = [
        ("a/one.csv", ONE.to_vec()),
        ("a/__two.csv.gz", gzip(TWO)),
        ("top.csv", b"id\n3\n".to_vec()),
        ("plain", b"id\n4\n".to_vec()),
        ("README.md", b"words\n".to_vec()),
        ("a/.hidden.csv", b"other\n1\n".to_vec()),
        ("__MACOSX/a/one.csv", b"other\n1\n".to_vec()),
    ];
    let archives = [
        ("all.zip", zip(&members)),
        ("all.tar", tar(&members)),
        ("all.tgz", gzip(&tar(&members))),
        ("all.tar.zst", zstd(&tar(&members))),
        // By content, whatever the name.
        ("all.data", zip(&members)),
    ];
    for (name, bytes) in &archives {
        fixture.write(name, bytes);
        let loaded = |source: String| {
            let _ = std::fs::remove_file(fixture.path("t.db"));
            let report = fixture.report(&[&source, "t.db"]);
            let table = report["plan"]["table"].as_str().unwrap().to_owned();
            let rows = fixture.table("t.db", &table);
            (table, rows, report["warnings"].to_string())
        };
        let (table, all, warnings) = loaded((*name).to_owned());
        assert_eq!(table, if *name == "all.data" { "all.data" } else { "all" });
        assert_eq!(all, rows![[1], [2], [3], [4]], "{name}");
        assert!(
            warnings.contains(&format!("left out, for the names tell no format: {name}!README.md"))
        );
        let named = |pattern: &str| {
            let (table, rows, _) = loaded(format!("{name}!{pattern}"));
            (table, rows)
        };
        assert_eq!(named("**/*.csv").1, rows![[1], [3]], "{name}");
        assert_eq!(named("*.csv"), ("top".to_owned(), rows![[3]]), "{name}");
        assert_eq!(named("a/__two.csv.gz"), ("__two".to_owned(), rows![[2]]), "{name}");
        assert_eq!(named("a/*").1, rows![[1], [2]], "{name}");
        // A pattern takes what is hidden where it names the dot, as with files.
        let hidden =
            fixture.report(&[&format!("{name}!a/.*.csv"), "h.db", "--if-exists", "replace"]);
        assert_eq!(hidden["rows_loaded"], 1, "{name}");
        let run = fixture.refuses(&[&format!("{name}!b/*.csv"), "t.db", "--if-exists", "replace"]);
        run.says(&[&format!("no member of {name} is named 'b/*.csv'"), "a/one.csv", "**/*.csv"]);
    }
}

#[test]
fn a_member_at_the_top_has_its_own_name_in_added_columns() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("dir")).unwrap();
    let members = [("1.csv", ONE.to_vec()), ("a/2.csv", TWO.to_vec())];
    fixture.write("dir/z.zip", zip(&members));
    fixture.report(&["dir/z.zip!**/*.csv", "t.db", "--add", "f=%file", "--add", "p=%path"]);
    let wanted = rows![[1, "1.csv", "dir/z.zip!1.csv"], [2, "2.csv", "dir/z.zip!a/2.csv"]];
    assert_eq!(fixture.table("t.db", "z"), wanted);
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_and_arrow_within_an_archive_are_loaded_as_those_on_disk() {
    let fixture = Fixture::new();
    let rows: String = (0..20_000).map(|row| format!("{row},name {row},{row}.25\n")).collect();
    fixture.write("rows.csv", format!("id,name,price\n{rows}"));
    fixture.report(&["rows.csv", "rows.parquet"]);
    let stream = fixture.tool(INRUSH, &["load", "rows.csv", "arrow:-", "--quiet"], b"");
    let batches = arrow_ipc::reader::StreamReader::try_new(stream.as_slice(), None).unwrap();
    let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batches.schema()).unwrap();
    batches.for_each(|batch| file.write(&batch.unwrap()).unwrap());
    let file = file.into_inner().unwrap();
    let parquet = fixture.read("rows.parquet");
    fixture.report(&["rows.csv", "t.db", "--table", "wanted"]);
    let wanted = fixture.table("t.db", "wanted");
    let members =
        [("a/rows.parquet", parquet.clone()), ("rows.arrow", file), ("rows.arrows", stream)];
    fixture.write("both.zip", zip(&members)).write("both.tgz", gzip(&tar(&members)));
    for archive in ["both.zip", "both.tgz"] {
        for (member, strategy) in [
            ("a/rows.parquet", "pages"),
            ("a/rows.parquet", "bind"),
            ("rows.arrow", "pages"),
            ("rows.arrows", "pages"),
        ] {
            let source = format!("{archive}!{member}");
            let load = [source.as_str(), "t.db", "--table", "t", "--if-exists", "replace"];
            let report = fixture
                .report(&[&load[..], &["--strategy", &format!("sqlite/{strategy}")]].concat());
            assert_eq!(report["rows_loaded"], 20_000, "{source}");
            assert_eq!(fixture.table("t.db", "t"), wanted, "{source}");
        }
    }
    // A stream may be compressed once more; what is compressed twice is said to be.
    let packed = gzip(&fixture.tool(INRUSH, &["load", "rows.csv", "arrow:-", "--quiet"], b""));
    fixture.write("packed.zip", zip(&[("rows.arrows.gz", packed.clone())]));
    fixture.report(&["packed.zip", "t.db", "--table", "t", "--if-exists", "replace"]);
    assert_eq!(fixture.table("t.db", "t"), wanted);
    fixture.write("twice.csv.gz", gzip(&gzip(b"id\n1\n")));
    fixture
        .refuses(&["twice.csv.gz", "u.db"])
        .says(&["twice.csv.gz is compressed twice: within the gzip data is gzip data"]);
    // One that is not what the archive says, and one that is damaged.
    let cut = parquet[..parquet.len() - 9].to_vec();
    fixture.write("cut.zip", zip(&[("rows.parquet", cut)]));
    fixture.refuses(&["cut.zip", "u.db"]).says(&["cut.zip!rows.parquet", "Parquet"]);
    fixture.write("mixed.zip", zip(&[("a.parquet", parquet), ("b.csv", ONE.to_vec())]));
    fixture.refuses(&["mixed.zip", "u.db"]).says(&["load them one by one"]);
}

#[test]
fn bad_rows_of_an_earlier_load_are_left_out_of_an_archive_unless_they_are_meant() {
    for (ending, text) in
        [("csv", "id,v\n1,2\nq,3\n"), ("jsonl", "{\"id\":1,\"v\":2}\n{\"id\":\"q\",\"v\":3}\n")]
    {
        let fixture = Fixture::new();
        let [data, rejects] = ["in/a", "in/a.rejects"].map(|stem| format!("{stem}.{ending}"));
        let sidecar = format!("{rejects}.jsonl");
        std::fs::create_dir(fixture.path("in")).unwrap();
        fixture.write(&data, text);
        let reject = ["--type", "id=integer", "--max-rejects", "1"];
        fixture.load(&[&[data.as_str(), "x.db"], &reject[..]].concat()).exits(3);
        let members = [&data, &rejects, &sidecar];
        let members = members.map(|name| (name.as_str(), fixture.read(name)));
        for (archive, bytes) in [
            ("d.zip", zip(&members)),
            ("d.tar", tar(&members)),
            ("d.tgz", gzip(&tar(&members))),
            // A sidecar that comes first.
            ("e.tgz", gzip(&tar(&[members[2].clone(), members[0].clone(), members[1].clone()]))),
        ] {
            fixture.write(archive, bytes);
            let load = |pattern: &str, more: &[&str]| {
                let source = format!("{archive}{pattern}");
                let args = [source.as_str(), "t.db", "--table", "t", "--if-exists", "replace"];
                let report = fixture.report(&[&args[..], more].concat());
                (fixture.table("t.db", "t"), report["warnings"].to_string())
            };
            for pattern in ["", "!in/*", &format!("!**/*.{ending}")] {
                let (rows, notes) = load(pattern, &["--types", "text"]);
                assert_eq!(rows, rows![["1", "2"], ["q", "3"]], "{archive}{pattern}");
                let note = format!(
                    "left out, for they are bad rows of an earlier load: {archive}!{rejects}"
                );
                assert!(notes.contains(&note) || archive == "e.tgz", "{archive}{pattern}: {notes}");
            }
            for pattern in [format!("!{rejects}"), format!("!in/*.rejects.{ending}")] {
                assert_eq!(load(&pattern, &[]).0, rows![["q", 3]], "{archive}{pattern}");
            }
            let said = "has nothing but what is said of bad rows of earlier loads";
            if ending == "csv" {
                let source = format!("{archive}!in/*.jsonl");
                fixture.refuses(&[&source, "t.db", "--table", "u"]).says(&[said]);
            }
        }
        // Of one that has nothing else they are loaded, and without its sidecar such a file is data as any other.
        fixture.write("d.zip", zip(&members[1..])).write("e.zip", zip(&members[..2]));
        for (archive, wanted) in
            [("d.zip", rows![["q", "3"]]), ("e.zip", rows![["1", "2"], ["q", "3"], ["q", "3"]])]
        {
            let replace = ["t.db", "--table", "t", "--if-exists", "replace", "--types", "text"];
            fixture.report(&[&[archive], &replace[..]].concat());
            assert_eq!(fixture.table("t.db", "t"), wanted, "{archive}");
        }
    }
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    Fixture::new().tool("zstd", &["-q", "-c"], bytes)
}

#[test]
fn members_and_files_go_together_and_each_is_loaded_once() {
    let fixture = Fixture::new();
    fixture.write("b.zip", zip(&[("x.csv", TWO.to_vec()), ("y.csv", b"id\n3\n".to_vec())]));
    fixture.write("a.csv", ONE);
    let report = fixture.report(&["a.csv", "b.zip!x.csv", "b.zip", "t.db", "--table", "t"]);
    assert_eq!(fixture.table("t.db", "t"), rows![[1], [2], [3]]);
    assert!(report["warnings"].to_string().contains("b.zip!x.csv is named more than once"));
    assert_eq!(report["plan"]["source"][1], "b.zip!x.csv");
    // In a folder, by a pattern, in a list.
    std::fs::create_dir(fixture.path("in")).unwrap();
    std::fs::copy(fixture.path("b.zip"), fixture.path("in/b.zip")).unwrap();
    fixture.write("list.txt", "in/b.zip!y.csv\n");
    for (source, wanted) in
        [("in", rows![[2], [3]]), ("in/*.zip!x.csv", rows![[2]]), ("@list.txt", rows![[3]])]
    {
        fixture.report(&[source, "t.db", "--table", "t", "--if-exists", "replace"]);
        assert_eq!(fixture.table("t.db", "t"), wanted, "{source}");
    }
    // A file of such a name is that file.
    fixture.write("b.zip!x.csv", b"id\n9\n");
    fixture.report(&["b.zip!x.csv", "t.db", "--table", "t", "--if-exists", "replace"]);
    assert_eq!(fixture.table("t.db", "t"), rows![[9]]);
}

#[test]
fn what_of_an_archive_can_not_be_loaded_says_what_it_is_and_how_to_leave_it_out() {
    let json = ("datapackage.json", b"{\"a\": 1}\n".to_vec());
    let says = ["a.zip!datapackage.json is JSON", "'a.zip!*.csv' leaves the other out"];
    refused("a.zip", &zip(&[("data.csv", ONE.to_vec()), json]), &says);
    // All of a kind are meant, in whatever folder, or nothing is advised.
    let meta = || ("meta.json", b"{\"a\": 1}\n".to_vec());
    let with = |name| zip(&[("a.csv", ONE.to_vec()), (name, ONE.to_vec()), meta()]);
    refused("a.zip", &with("sub/b.csv"), &["'a.zip!**/*.csv' leaves the other out"]);
    for name in ["b.tsv", "b.csv.gz", "b.CSV"] {
        let fixture = Fixture::new();
        fixture.write("a.zip", with(name));
        let run = fixture.refuses(&["a.zip", "t.db"]).says(&["a.zip!meta.json is JSON"]);
        assert!(!run.stderr.contains("leaves the other"), "{name}: {}", run.stderr);
    }
    // A column of a dBase table, and two rows.
    let mut dbase = vec![3, 24, 1, 31, 2, 0, 0, 0, 65, 0, 5, 0];
    dbase.extend([0; 20].iter().chain(b"n\0\0\0\0\0\0\0\0\0\0N\0\0\0\0\x04"));
    dbase.extend([0; 15].iter().chain(b"\r    1    2\x1a"));
    let shape = ("roads.dbf", dbase);
    let fixture = Fixture::new();
    fixture.write("a.zip", zip(&[shape]));
    let says = ["a.zip!roads.dbf is a dBase table", "ogr2ogr"];
    fixture.refuses(&["a.zip!*", "t.db", "--table", "t"]).says(&says);
    // A shapefile, of which no member is a table by its name.
    let parts = ["a.shp", "a.shx", "a.dbf", "a.prj"];
    fixture.write("a.zip", zip(&parts.map(|name| (name, vec![0, 0, 39, 10]))));
    fixture.refuses(&["a.zip", "t.db"]).says(&["no member", "ogr2ogr -f CSV"]);
    std::fs::create_dir(fixture.path("shapes")).unwrap();
    for name in parts {
        fixture.write(&format!("shapes/{name}"), [0, 0, 39, 10]);
    }
    fixture.refuses(&["shapes", "t.db"]).says(&["no file in shapes", "ogr2ogr -f CSV"]);
}

#[test]
fn names_that_lead_out_of_an_archive_are_refused() {
    for name in ["../a.csv", "/tmp/a.csv", "a/../../b.csv", "..\\a.csv", "C:\\a.csv"] {
        let says = ["leads out of the archive", "a.zip!"];
        refused(
            "a.zip",
            &patched(
                &zip(&[(&name.replace(['.', '/', '\\', ':'], "x"), ONE.to_vec())]),
                &name.replace(['.', '/', '\\', ':'], "x"),
                name,
            ),
            &says,
        );
        refused("a.tar", &tar(&[(name, ONE.to_vec())]), &["leads out of the archive", "a.tar!"]);
    }
}

#[test]
fn links_in_an_archive_are_refused() {
    for sort in [tar::EntryType::Symlink, tar::EntryType::Link] {
        refused("a.tar", &tar_with_link(sort), &["a.tar!a.csv is a link to /etc/passwd"]);
        refused("a.tgz", &gzip(&tar_with_link(sort)), &["a.tgz!a.csv is a link to /etc/passwd"]);
    }
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.add_symlink("a.csv", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = archive.finish().unwrap().into_inner();
    refused("a.zip", &bytes, &["a.zip!a.csv is a link to /etc/passwd, not a file"]);
}

#[test]
fn a_name_that_comes_twice_in_an_archive_is_refused() {
    let members = [("a.csv", ONE.to_vec()), ("b.csv", TWO.to_vec())];
    let says = ["has two members named a.csv"];
    refused("a.zip", &patched(&zip(&members), "b.csv", "a.csv"), &says);
    let twice = [("a.csv", ONE.to_vec()), ("a.csv", TWO.to_vec())];
    refused("a.tar", &tar(&twice), &says);
    refused("a.tgz", &gzip(&tar(&twice)), &says);
}

/// The archive with these bits in the flags of its members, which stand in a header 6 bytes behind its start, and in the directory 8.
fn with_flags(bytes: &[u8], bits: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - 4 {
        match &bytes[at..at + 4] {
            b"PK\x03\x04" => bytes[at + 6] |= bits,
            b"PK\x01\x02" => bytes[at + 8] |= bits,
            _ => {}
        }
    }
    bytes
}

#[test]
fn encrypted_members_are_refused_by_name() {
    let bytes = with_flags(&zip(&[("secret.csv", ONE.to_vec())]), 1);
    refused("a.zip", &bytes, &["a.zip!secret.csv: it is encrypted", "password"]);
    // One that isn't meant is nothing to worry about.
    let fixture = Fixture::new();
    let bytes = with_flags(&zip(&[("notes.md", ONE.to_vec())]), 1);
    let other = zip(&[("a.csv", ONE.to_vec())]);
    fixture.write("a.zip", &bytes).write("b.zip", &other);
    fixture.refuses(&["a.zip", "t.db"]).says(&["no member of a.zip is of a format"]);
    fixture.load(&["b.zip", "t.db"]).exits(0);
}

/// The sizes that a zip archive of one member says, in its header and in its directory.
pub(crate) fn saying(bytes: &[u8], size: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - 4 {
        let place = match &bytes[at..at + 4] {
            b"PK\x03\x04" => at + 22,
            b"PK\x01\x02" => at + 24,
            _ => continue,
        };
        bytes[place..place + 4].copy_from_slice(&size.to_le_bytes());
    }
    bytes
}

#[test]
fn what_unpacks_to_more_than_an_archive_says_is_refused_unless_allowed() {
    let long = format!("id\n{}", "1234567\n".repeat(300_000));
    let bytes = zip(&[("a.csv", long.clone().into_bytes())]);
    let fixture = Fixture::new();
    fixture.write("a.zip", saying(&bytes, 2_000_000));
    let run = fixture.refuses(&["a.zip", "t.db"]);
    run.says(&[
        "a.zip!a.csv: it unpacks to more than the 2.00 MB that the archive says",
        "--max-expand",
    ]);
    fixture
        .load(&["a.zip", "t.db", "--max-expand", "1M"])
        .exits(1)
        .says(&["than the 1.05 MB that --max-expand allows"]);
    fixture.load(&["a.zip", "t.db", "--max-expand", "10M"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM a"), 300_000);
    // Less than it says is as wrong.
    fixture.write("b.zip", saying(&bytes, 3_000_000));
    fixture.refuses(&["b.zip", "t.db", "--table", "b"]).says(&["b.zip!a.csv: ends in the middle"]);
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    let fixture = Fixture::new();
    let zeros = zip(&[("a.csv", vec![b'0'; 1 << 20])]);
    fixture.write("a.zip", saying(&zeros, 2_000_000_000));
    let says = [
        "a.zip!a.csv: it unpacks to more than the 1.07 GB that is allowed unasked",
        "--max-expand SIZE",
    ];
    fixture.refuses(&["a.zip", "t.db"]).says(&says);
    fixture.inrush(&["plan", "a.zip", "t.db"]).exits(1).says(&says);
    fixture.inrush(&["check", "a.zip"]).exits(1).says(&says);
    fixture
        .misused(&["load", "a.zip", "t.db", "--max-expand", "much"])
        .says(&["--max-expand much"]);
}

#[test]
fn damaged_archives_are_told_from_whole_ones() {
    let members = [
        ("a.csv", format!("id\n{}", "12\n".repeat(100_000)).into_bytes()),
        ("b.csv", TWO.to_vec()),
    ];
    let whole = zip(&members);
    refused("a.zip", &whole[..whole.len() / 2], &["a.zip: cannot be read as a zip archive"]);
    let mut other = whole.clone();
    other[60] ^= 0x10;
    refused("a.zip", &other, &["a.zip!a.csv"]);
    let whole = tar(&members);
    refused("a.tar", &whole[..200_000], &["a.tar"]);
    let packed = gzip(&whole);
    refused("a.tgz", &packed[..packed.len() / 2], &["a.tgz"]);
}

#[test]
fn what_stands_before_a_zip_archive_is_no_part_of_it() {
    let fixture = Fixture::new();
    let members = [("a.csv", ONE.to_vec()), ("b.csv", TWO.to_vec())];
    fixture.write("in.zip", [&b"#!/bin/sh\nexec unzip \"$0\"\n"[..], &zip(&members)].concat());
    fixture.load(&["in.zip", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "in"), rows![[1], [2]]);
    // A file may be called like an archive, and be none.
    fixture.write("csv.zip", ONE);
    fixture.load(&["csv.zip", "t.db", "--table", "csv"]).exits(0);
}

#[test]
fn two_names_of_one_member_are_damage() {
    let whole = zip(&[("a.csv", ONE.to_vec()), ("b.csv", TWO.to_vec())]);
    let says = ["a.zip: it is damaged: what its directory calls 'b.csv' calls itself 'c.csv'"];
    let at = whole.windows(5).position(|name| name == b"b.csv").unwrap();
    let mut other = whole.clone();
    other[at] = b'c';
    refused("a.zip", &other, &says);
}

#[test]
fn a_place_in_a_file_that_is_no_archive_is_refused() {
    let fixture = Fixture::new();
    fixture.write("a.csv", ONE);
    fixture.refuses(&["a.csv!b.csv", "t.db"]).says(&["a.csv is no archive"]);
    fixture.refuses(&["none.zip!b.csv", "t.db"]).says(&["cannot read none.zip"]);
    fixture.write("a.zip", zip(&[("b.csv", ONE.to_vec())]));
    fixture.load(&["a.zip", "csv:a.zip"]).exits(2).says(&["a.zip!b.csv is source and target"]);
}

/// Its end mark says that a tar archive is whole; what ends without may lack members, and what goes on has more.
#[test]
fn a_tar_archive_ends_with_its_mark_and_nothing_behind() {
    let (a, b) = (tar(&[("a.csv", ONE.to_vec())]), tar(&[("b.csv", TWO.to_vec())]));
    let both = tar(&[("a.csv", ONE.to_vec()), ("b.csv", TWO.to_vec())]);
    // Each member is a header and its bytes, a block each.
    let without_mark = &both[..2_048];
    let cut = &both[..1_024];
    let more = [
        ("ab", [a.as_slice(), &b].concat()),
        ("apart", [a.as_slice(), &[0; 10_240], &b].concat()),
        ("odd", [a.as_slice(), b"odd"].concat()),
    ];
    let packed = |name: &str, bytes: &[u8]| {
        [(format!("{name}.tar"), bytes.to_vec()), (format!("{name}.tar.gz"), gzip(bytes))]
    };
    for (name, bytes) in
        [("whole", without_mark), ("cut", cut)].map(|(name, bytes)| packed(name, bytes)).concat()
    {
        refused(
            &name,
            &bytes,
            &[&format!("{name}: it ends without its end mark"), "may be missing"],
        );
    }
    for (name, bytes) in more.iter().flat_map(|(name, bytes)| packed(name, bytes)) {
        refused(
            &name,
            &bytes,
            &[&format!("{name}: it goes on behind its end mark"), "--ignore-zeros"],
        );
    }
    let joined = [gzip(&a), gzip(&b)].concat();
    refused("joined.tgz", &joined, &["joined.tgz: it goes on behind its end mark"]);
    // A tape's record is filled up with zeros, and one block of them is a mark.
    let fixture = Fixture::new();
    let padded = [both.as_slice(), &[0; 9_000]].concat();
    for (name, bytes) in [("padded", padded.as_slice()), ("short", &both[..2_560])]
        .map(|(name, bytes)| packed(name, bytes))
        .concat()
    {
        fixture.write(&name, bytes);
        fixture.report(&[&name, "t.db", "--table", "t", "--if-exists", "replace"]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1], [2]], "{name}");
    }
}

#[test]
fn a_sparse_file_of_a_pax_archive_is_refused_by_its_own_name() {
    let mut archive = tar::Builder::new(Vec::new());
    let said: [(&str, &[u8]); 3] = [
        ("GNU.sparse.major", b"1"),
        ("GNU.sparse.name", b"sp.csv"),
        ("GNU.sparse.realsize", b"5000000"),
    ];
    archive.append_pax_extensions(said).unwrap();
    let map = [&b"1\n4096\n9\n"[..], &[0; 502], b"id\n1\n2\n3\n"].concat();
    let mut header = tar::Header::new_ustar();
    header.set_size(map.len() as u64);
    archive.append_data(&mut header, "GNUSparseFile.5981/sp.csv", map.as_slice()).unwrap();
    refused("a.tar", &archive.into_inner().unwrap(), &["a.tar!sp.csv: it is a sparse file"]);
}

#[test]
fn an_archive_of_nothing_that_can_be_read_says_what_leads_on() {
    let inner = zip(&[("a.csv", ONE.to_vec())]);
    let run = refused(
        "in.zip",
        &zip(&[("inner.zip", inner)]),
        &["it has in.zip!inner.zip", "unpack in.zip"],
    );
    assert!(!run.stderr.contains("!*"), "{run:?}");
    let run = refused("in.zip", &zip(&[]), &["it has no files", "the archive you mean"]);
    assert!(!run.stderr.contains("!*"), "{run:?}");
}
