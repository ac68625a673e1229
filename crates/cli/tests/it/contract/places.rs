//! Where rows come from, when that is no file of text.

use super::{COLUMNS, Place, all_of, load, refuses};
use crate::archives::{gzip, tar, zip};
use crate::servers::Rows;

fn texts(rows: &[[&str; 2]]) -> Rows {
    rows.iter().map(|row| row.iter().map(|text| Some((*text).to_owned())).collect()).collect()
}

/// Several members, one of them compressed, with a bad row in it; in a zip, and in a tar that is compressed.
pub(super) fn members_of_an_archive_are_loaded_as_files_are<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        let members = [
            ("2024/jan.csv", b"id,name\n1,a\n2,b\n".to_vec()),
            ("2024/feb.csv.gz", gzip(b"name,id\nc,3\nd,x\ne,5\n")),
            ("notes.md", b"# no table\n".to_vec()),
        ];
        files.write("in.zip", zip(&members)).write("in.tar.gz", gzip(&tar(&members)));
        for (archive, rejects) in
            [("in.zip", "in.2024.feb.rejects.csv"), ("in.tar.gz!2024/*", "in.2024.feb.rejects.csv")]
        {
            let typed = [archive, "--type", "id=integer", "--if-exists", "replace"];
            let name = archive.split('!').next().unwrap();
            let place_of_it = format!("{name}!2024/feb.csv.gz: line 3, column id");
            refuses(place, &COLUMNS, &typed).says(&[&place_of_it, "'x'"]);
            load(place, &[&typed[..], &["--max-rejects", "1"]].concat()).exits(3);
            let found = all_of(place, &COLUMNS);
            assert_eq!(
                found,
                texts(&[["1", "a"], ["2", "b"], ["3", "c"], ["5", "e"]]),
                "{archive}"
            );
            assert_eq!(files.read(rejects), b"name,id\nd,x\n");
        }
    });
}
