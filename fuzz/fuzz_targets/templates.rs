//! Any changes of an empty table's file: it is refused, or rows can be written by it.
//!
//! Checksums are made right again, as no fuzzer would find them.

#![no_main]

use inrush_innodb_pages::{
    Checksum, Column, Encoder, Layout, PAGE_BYTES, Tablespace, Template, records,
};
use libfuzzer_sys::fuzz_target;

/// One of each kind of checksum.
const FILES: [(Checksum, &[u8]); 3] = [
    (Checksum::Full, include_bytes!("../../crates/innodb-pages/tests/it/templates/mariadb-10.11")),
    (Checksum::Crc32, include_bytes!("../../crates/innodb-pages/tests/it/templates/mysql-5.7")),
    (Checksum::Crc32, include_bytes!("../../crates/innodb-pages/tests/it/templates/mysql-8.0")),
];

fuzz_target!(|input: &[u8]| {
    // As it is, too.
    let _ = Template::read(input);
    let [which, changes @ ..] = input else { return };
    let (checksum, file) = FILES[usize::from(which % 3)];
    let mut file = file.to_vec();
    // Each change is a page, a place in its first or last bytes, and the byte there; or where the file ends.
    for change in changes.chunks_exact(4) {
        let [page, high, low, byte] = [0, 1, 2, 3].map(|i| usize::from(change[i]));
        if page == 255 {
            file.truncate(high * PAGE_BYTES + low);
            continue;
        }
        let at = page % 8 * PAGE_BYTES + (high << 8 | low) % PAGE_BYTES;
        if let Some(place) = file.get_mut(at) {
            *place = byte as u8;
        }
    }
    file.chunks_exact_mut(PAGE_BYTES).for_each(|page| seal(checksum, page));
    let Ok(template) = Template::read(&file) else { return };
    assert!(template.pages() as usize * PAGE_BYTES == file.len());
    let layout = Layout::new(vec![Column::fixed(2), Column::blob(65_535)], 1).expect("a table");
    let (mut encoder, mut wire) = (Encoder::new(&layout), Vec::new());
    for i in 0..200_u16 {
        let value = vec![7; if i % 50 == 3 { 40_000 } else { 5000 }];
        encoder.encode(&[Some(&i.to_be_bytes()), Some(&value)], &mut wire).expect("a row fits");
    }
    let mut written = Vec::new();
    let mut tablespace = Tablespace::new(&template, &layout, &mut written);
    for record in records(&wire) {
        tablespace.push(record).expect("keys ascend");
    }
    let summary = tablespace.finish().expect("memory takes all");
    assert_eq!(summary.rows, 200);
    assert!(written.len() <= summary.pages as usize * PAGE_BYTES);
    assert!(written.chunks_exact(PAGE_BYTES).all(|page| checksum.holds(page)));
});

fn seal(checksum: Checksum, page: &mut [u8]) {
    if page.iter().all(|byte| *byte == 0) {
        return;
    }
    let lsn: [u8; 4] = page[20..24].try_into().expect("four bytes");
    match checksum {
        Checksum::Full => {
            page[16_376..16_380].copy_from_slice(&lsn);
            let sum = crc32c::crc32c(&page[..16_380]);
            page[16_380..].copy_from_slice(&sum.to_be_bytes());
        }
        Checksum::Crc32 => {
            let sum = crc32c::crc32c(&page[4..26]) ^ crc32c::crc32c(&page[38..16_376]);
            page[..4].copy_from_slice(&sum.to_be_bytes());
            page[16_376..16_380].copy_from_slice(&sum.to_be_bytes());
            page[16_380..].copy_from_slice(&lsn);
        }
    }
}
