//! Empty tables of servers, as `FLUSH TABLES ... FOR EXPORT` left them, and what is refused.

use inrush_innodb_pages::{Checksum, Template, TemplateError};

/// (id INT PRIMARY KEY, name VARCHAR(20)), by server.
pub(crate) const FILES: &[(&str, &[u8])] = &[
    ("mariadb-10.11", include_bytes!("templates/mariadb-10.11")),
    ("mariadb-11.4", include_bytes!("templates/mariadb-11.4")),
    ("mysql-5.7", include_bytes!("templates/mysql-5.7")),
    ("mysql-8.0", include_bytes!("templates/mysql-8.0")),
];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = Template> {
    FILES.iter().map(|(_, file)| Template::read(file).unwrap())
}

/// One with its kind of checksum.
pub(crate) fn one(checksum: Checksum) -> Template {
    all().find(|template| template.checksum() == checksum).unwrap()
}

#[test]
fn each_server_s_is_understood() {
    let all: Vec<_> = FILES
        .iter()
        .map(|(name, file)| {
            let template = Template::read(file).unwrap();
            (*name, template.checksum(), template.flags(), template.root(), template.pages())
        })
        .collect();
    let expected = [
        ("mariadb-10.11", Checksum::Full, 0x15, 3, 4),
        ("mariadb-11.4", Checksum::Full, 0x15, 3, 4),
        ("mysql-5.7", Checksum::Crc32, 0x21, 3, 6),
        ("mysql-8.0", Checksum::Crc32, 0x4021, 4, 7),
    ];
    assert_eq!(all, expected);
}

#[test]
fn flags_are_refused_by_name() {
    for (flags, expected) in [
        (0_u32, TemplateError::NotDynamic),
        (0x13, TemplateError::PageSize(4096)),
        (0x14, TemplateError::PageSize(8192)),
        (0x16, TemplateError::PageSize(32_768)),
        (0x35, TemplateError::Compressed),
        (0x11, TemplateError::UnknownFlags(0x11)),
        (0x115, TemplateError::UnknownFlags(0x115)),
        (0x29, TemplateError::Compressed),
        (0x4121, TemplateError::PageSize(8192)),
        (0x6021, TemplateError::Encrypted),
        (0x421, TemplateError::NotOfOneTable),
        (0x4821, TemplateError::NotOfOneTable),
        (0x1_0021, TemplateError::UnknownFlags(0x1_0021)),
        (0x20, TemplateError::UnknownFlags(0x20)),
        (0x15, TemplateError::Checksum { page: 0 }),
    ] {
        let mut file = FILES[0].1.to_vec();
        file[54..58].copy_from_slice(&flags.to_be_bytes());
        // Flags are looked at before the checksum, which is wrong by now.
        file[100] ^= 1;
        assert_eq!(Template::read(&file).unwrap_err(), expected, "{flags:x}");
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let (_, file) = FILES[0];
    let error = |file: &[u8]| Template::read(file).unwrap_err();
    assert_eq!(error(b""), TemplateError::NotATablespace);
    assert_eq!(error(&[0; 65_536]), TemplateError::NotATablespace);
    assert_eq!(error(&file[..49_152]), TemplateError::Size { said: 4, bytes: 49_152 });
    let mut longer = file.to_vec();
    longer.push(0);
    assert_eq!(error(&longer), TemplateError::Size { said: 4, bytes: 65_537 });
    let mut flipped = file.to_vec();
    flipped[40_000] ^= 4;
    assert_eq!(error(&flipped), TemplateError::Checksum { page: 2 });
    // The version of the key that a page is encrypted with.
    let mut encrypted = file.to_vec();
    encrypted[16_384] = 1;
    assert_eq!(error(&encrypted), TemplateError::Encrypted);
}

const NO_ROWS: [Vec<crate::reader::Value>; 0] = [];

#[test]
fn a_table_with_rows_is_no_template() {
    let table = crate::rows::Table { columns: vec![(crate::rows::Type::Int, false)], key: 1 };
    for template in all() {
        let row = vec![Some(vec![0x80, 0, 0, 1])];
        let (file, _) = crate::rows::write(&template, &table.layout(), &[row]);
        assert_eq!(Template::read(&file).unwrap_err(), TemplateError::Rows);
        let (file, summary) = crate::rows::write(&template, &table.layout(), NO_ROWS);
        assert_eq!((summary.rows, Template::read(&file).unwrap().pages()), (0, template.pages()));
    }
}
