use inrush_innodb_pages::{Checksum, Column, Encoder, Layout, RecordError};

use crate::reader;
use crate::rows::{encode, write};
use crate::templates;

/// Rows with a key of 4 bytes, and one other value of so many bytes, of `many`.
fn check(layout: &Layout, rows: u32, bytes: usize) -> reader::Contents {
    let mut contents = None;
    for checksum in [Checksum::Full, Checksum::Crc32] {
        let template = templates::one(checksum);
        let row = |i: u32| vec![Some(i.to_be_bytes().to_vec()), Some(vec![i as u8; bytes])];
        let rows: Vec<_> = (0..rows).map(row).collect();
        let (file, _) = write(&template, layout, &rows);
        let read = reader::read(&file, layout);
        assert!(read.rows == rows);
        contents = Some(read);
    }
    contents.unwrap()
}

#[test]
fn each_count_of_records_makes_a_right_directory() {
    let layout = Layout::new(vec![Column::fixed(4), Column::variable(20)], 1).unwrap();
    for rows in 0..30 {
        assert_eq!(check(&layout, rows, 3).levels, 0);
    }
}

#[test]
fn pages_are_as_full_as_the_server_s() {
    // Rows of 75 bytes: 209 to a page, as it was counted in files of servers.
    let layout = Layout::new(vec![Column::fixed(4), Column::fixed(47)], 1).unwrap();
    let bytes_of_a_record = 5 + 4 + 13 + 47;
    let most = (16_252 - 1024) * 2 / (2 * bytes_of_a_record + 1);
    let contents = check(&layout, 5 * most as u32, 47);
    assert_eq!((contents.leaves, contents.levels), (5, 1));
    assert_eq!(check(&layout, 5 * most as u32 + 1, 47).leaves, 6);
}

#[test]
fn segments_take_pages_and_then_extents() {
    let layout = Layout::new(vec![Column::fixed(4), Column::variable(8100)], 1).unwrap();
    // Two rows to a page.
    for leaves in [1, 2, 31, 32, 33, 34, 95, 96, 97, 98, 160, 161, 162, 300] {
        assert_eq!(check(&layout, 2 * leaves, 7000).leaves, leaves as usize);
        assert_eq!(check(&layout, 2 * leaves - 1, 7000).leaves, leaves as usize);
    }
}

#[test]
fn long_keys_make_many_levels() {
    let layout = Layout::new(vec![Column::variable(3072), Column::fixed(1)], 1).unwrap();
    let template = templates::one(Checksum::Crc32);
    for rows in [4, 5, 20, 21, 100, 700_u32, 5000] {
        let key = |i: u32| [&i.to_be_bytes()[..], &[b'k'; 3068]].concat();
        let rows: Vec<_> = (0..rows).map(|i| vec![Some(key(i)), Some(vec![7])]).collect();
        let (file, _) = write(&template, &layout, &rows);
        let contents = reader::read(&file, &layout);
        assert!(contents.rows == rows);
        assert!(rows.len() < 700 || contents.levels >= 4);
    }
}

#[test]
fn values_go_elsewhere_from_8126_bytes_on() {
    // Extra: 1 byte for NULL bits, 2 for the length; then 5, the key, 13.
    let local = 1 + 2 + 5 + 4 + 13;
    for column in [Column::variable(60_000), Column::blob(65_535)] {
        let layout = Layout::new(vec![Column::fixed(4), column.nullable()], 1).unwrap();
        for (bytes, elsewhere) in [
            (0, 0),
            (127, 0),
            (128, 0),
            (8125 - local, 0),
            (8126 - local, 5),
            (16_330, 5),
            (16_331, 5),
            (2 * 16_330, 5),
            (2 * 16_330 + 1, 5),
            (60_000, 5),
        ] {
            assert_eq!(check(&layout, 5, bytes).elsewhere, elsewhere, "{bytes}");
        }
    }
}

#[test]
fn the_longest_values_go_first_and_only_as_many_as_have_to() {
    let columns =
        [Column::fixed(4), Column::blob(65_535), Column::variable(9000), Column::blob(255)];
    let layout = Layout::new(columns.to_vec(), 1).unwrap();
    let template = templates::one(Checksum::Full);
    for (lengths, elsewhere) in [
        ([4000, 4000, 98], 0),
        ([4000, 4000, 99], 1),
        ([4000, 4200, 100], 1),
        ([5000, 5000, 255], 1),
        ([8200, 8200, 255], 2),
        ([60_000, 8000, 255], 2),
        ([60_000, 7000, 255], 1),
    ] {
        let fields = lengths.map(|length| Some(vec![b'v'; length]));
        let row = [&[Some(vec![0; 4])][..], &fields].concat();
        let (file, _) = write(&template, &layout, std::slice::from_ref(&row));
        let contents = reader::read(&file, &layout);
        assert_eq!(contents.elsewhere, elsewhere, "{lengths:?}");
        assert!(contents.rows == [row]);
    }
}

#[test]
fn a_row_that_can_t_be_stored_is_refused_whole() {
    // 32 columns of 255 bytes, which can't go elsewhere.
    let mut columns = vec![Column::fixed(4); 1];
    columns.extend([Column::variable(255); 32]);
    let layout = Layout::new(columns, 1).unwrap();
    let mut encoder = Encoder::new(&layout);
    let mut wire = vec![1, 2, 3];
    let row = |last: usize| {
        let mut row = vec![Some(vec![0; 4])];
        row.extend(vec![Some(vec![b'v'; 250]); 31]);
        row.push(Some(vec![b'v'; last]));
        row
    };
    // 32 lengths, 5, the key, 13, and 31 times 250.
    let others = 32 + 5 + 4 + 13 + 31 * 250;
    encode(&mut encoder, &row(0), &mut wire).unwrap();
    let before = wire.clone();
    assert!(others + 255 < 8126);
    let mut columns = vec![Column::fixed(4); 1];
    columns.extend([Column::variable(255); 33]);
    let layout = Layout::new(columns, 1).unwrap();
    let mut encoder = Encoder::new(&layout);
    let row = |last: usize| [row(250), vec![Some(vec![b'v'; last])]].concat();
    let others = others + 250 + 1;
    assert_eq!(others, 8055);
    encode(&mut encoder, &row(70), &mut wire).unwrap();
    wire.truncate(before.len());
    let error = encode(&mut encoder, &row(71), &mut wire).unwrap_err();
    assert_eq!(error, RecordError::TooLong { bytes: 8126 });
    assert_eq!(wire, before);
}

#[test]
fn a_file_of_more_than_16384_pages_has_more_descriptors() {
    large_file(2 * 16_600);
}

#[test]
#[ignore = "campaign: a file of 1.2 GB in memory"]
fn pages_of_descriptors_are_handed_out_on_the_way() {
    large_file(2 * 72_000);
}

/// So many rows, two to a page, and one of them has 4 MiB elsewhere.
fn large_file(rows: u32) {
    let layout = Layout::new(vec![Column::fixed(4), Column::blob(u32::MAX)], 1).unwrap();
    let template = templates::one(Checksum::Full);
    let row = |i: u32| {
        let bytes = if i == 9 { 4 << 20 } else { 7600 };
        vec![Some(i.to_be_bytes().to_vec()), Some(vec![i as u8; bytes])]
    };
    let (file, summary) = write(&template, &layout, (0..rows).map(row));
    assert!(summary.pages > rows / 2 + 256 + 64);
    let mut i = 0;
    let contents = reader::read_each(&file, &layout, |found| {
        assert!(found == row(i), "row {i}");
        i += 1;
    });
    assert_eq!((i, contents.elsewhere, contents.leaves), (rows, 1, rows as usize / 2));
}
