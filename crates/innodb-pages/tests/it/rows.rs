//! Rows of random tables: types, values in InnoDB's own form, and the same as SQL.

use inrush_innodb_pages::{
    Column, Encoder, Layout, PAGE_BYTES, PushError, RecordError, Summary, Tablespace, Template,
    records,
};

use crate::reader::Value;

/// SplitMix64: numbers that look random and never change.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Mostly short, sometimes near a border, seldom `most`.
    fn length(&mut self, most: usize) -> usize {
        let length = match self.below(8) {
            0 => self.one_of(&[0, 1, 127, 128, 255, 256]),
            1 => self.below(most + 1),
            2 => most,
            _ => self.below(40),
        };
        length.min(most)
    }
}

/// A type. Numbers are characters, or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    UnsignedBigInt,
    Binary(usize),
    Varbinary(usize),
    AsciiChar(usize),
    AsciiVarchar(usize),
    Utf8Char(usize),
    Utf8Varchar(usize),
    TinyBlob,
    Blob,
    MediumText,
    LongBlob,
}

use Type::{
    AsciiChar, AsciiVarchar, BigInt, Binary, Blob, Int, LongBlob, MediumText, SmallInt, TinyBlob,
    TinyInt, UnsignedBigInt, Utf8Char, Utf8Varchar, Varbinary,
};

impl Type {
    pub(crate) const KEYS: &[Self] = &[
        TinyInt,
        SmallInt,
        Int,
        BigInt,
        UnsignedBigInt,
        Binary(7),
        Varbinary(40),
        AsciiVarchar(30),
    ];
    pub(crate) const ALL: &[Self] = &[
        TinyInt,
        SmallInt,
        Int,
        BigInt,
        UnsignedBigInt,
        Binary(1),
        Binary(255),
        Varbinary(3),
        Varbinary(255),
        Varbinary(256),
        Varbinary(3000),
        AsciiChar(10),
        AsciiVarchar(20),
        AsciiVarchar(300),
        Utf8Char(5),
        Utf8Varchar(63),
        Utf8Varchar(64),
        Utf8Varchar(700),
        TinyBlob,
        Blob,
        MediumText,
        LongBlob,
    ];

    pub(crate) fn column(self) -> Column {
        match self {
            TinyInt => Column::fixed(1),
            SmallInt => Column::fixed(2),
            Int => Column::fixed(4),
            BigInt | UnsignedBigInt => Column::fixed(8),
            Binary(bytes) | AsciiChar(bytes) => Column::fixed(bytes as u16),
            Varbinary(bytes) => Column::variable(bytes as u32),
            AsciiVarchar(characters) => Column::variable(characters as u32).padded(),
            Utf8Char(characters) | Utf8Varchar(characters) => {
                Column::variable(4 * characters as u32)
            }
            TinyBlob => Column::blob(255),
            Blob => Column::blob(65_535),
            MediumText => Column::blob(16_777_215),
            LongBlob => Column::blob(u32::MAX),
        }
    }

    pub(crate) fn sql(self) -> String {
        let text = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
        match self {
            TinyInt => "TINYINT".into(),
            SmallInt => "SMALLINT".into(),
            Int => "INT".into(),
            BigInt => "BIGINT".into(),
            UnsignedBigInt => "BIGINT UNSIGNED".into(),
            Binary(bytes) => format!("BINARY({bytes})"),
            Varbinary(bytes) => format!("VARBINARY({bytes})"),
            AsciiChar(characters) => format!("CHAR({characters}) CHARACTER SET ascii"),
            AsciiVarchar(characters) => {
                format!("VARCHAR({characters}) CHARACTER SET ascii COLLATE ascii_bin")
            }
            Utf8Char(characters) => format!("CHAR({characters}) {text}"),
            Utf8Varchar(characters) => format!("VARCHAR({characters}) {text}"),
            TinyBlob => "TINYBLOB".into(),
            Blob => "BLOB".into(),
            MediumText => format!("MEDIUMTEXT {text}"),
            LongBlob => "LONGBLOB".into(),
        }
    }

    /// A value in InnoDB's own form. Long ones are of `long` bytes at most.
    pub(crate) fn value(self, random: &mut Random, long: usize) -> Vec<u8> {
        match self {
            TinyInt => bytes(random, 1),
            SmallInt => bytes(random, 2),
            Int => bytes(random, 4),
            BigInt | UnsignedBigInt => bytes(random, 8),
            Binary(count) => bytes(random, count),
            Varbinary(most) => {
                let length = random.length(most);
                bytes(random, length)
            }
            AsciiChar(characters) => {
                let length = random.below(characters + 1);
                let mut value = text(random, length, b"aZ~!");
                value.resize(characters, b' ');
                value
            }
            // Some end in what sorts before a space.
            AsciiVarchar(most) => {
                let length = random.length(most);
                text(random, length, b"aZ~\t!")
            }
            Utf8Char(characters) => {
                let length = random.below(characters + 1);
                let mut value = utf8(random, length);
                value.resize(value.len().max(characters), b' ');
                value
            }
            Utf8Varchar(most) => {
                let length = random.length(most);
                utf8(random, length)
            }
            TinyBlob => {
                let length = random.length(255);
                bytes(random, length)
            }
            Blob => {
                let length = random.length(long.min(65_535));
                bytes(random, length)
            }
            LongBlob => {
                let length = random.length(long);
                bytes(random, length)
            }
            MediumText => {
                let length = random.length(long);
                text(random, length, b"some text \n")
            }
        }
    }

    /// The value as SQL.
    pub(crate) fn literal(self, value: &[u8]) -> String {
        let mut bytes = [0; 8];
        bytes[8 - value.len().min(8)..].copy_from_slice(&value[..value.len().min(8)]);
        let number = u64::from_be_bytes(bytes);
        match self {
            TinyInt => (i128::from(number) - (1 << 7)).to_string(),
            SmallInt => (i128::from(number) - (1 << 15)).to_string(),
            Int => (i128::from(number) - (1 << 31)).to_string(),
            BigInt => (i128::from(number) - (1 << 63)).to_string(),
            UnsignedBigInt => number.to_string(),
            _ if value.is_empty() => "''".into(),
            _ => value.iter().fold("0x".into(), |text, byte| format!("{text}{byte:02x}")),
        }
    }
}

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.bits() as u8).collect()
}

fn text(random: &mut Random, length: usize, of: &[u8]) -> Vec<u8> {
    (0..length).map(|_| random.one_of(of)).collect()
}

fn utf8(random: &mut Random, characters: usize) -> Vec<u8> {
    (0..characters).map(|_| random.one_of(&['a', 'é', '€', '😀'])).collect::<String>().into_bytes()
}

/// A table: its columns in the order of the index, those of the key first.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// And whether each may be NULL.
    pub(crate) columns: Vec<(Type, bool)>,
    pub(crate) key: usize,
}

impl Table {
    /// A random one.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let key = random.below(4);
        let most = if random.below(10) == 0 { 60 } else { 9 };
        let others = usize::from(key == 0) + random.below(most);
        let mut columns: Vec<_> = (0..key).map(|_| (random.one_of(Type::KEYS), false)).collect();
        // A row of which all goes elsewhere that can has to fit, and MySQL has a limit of 65,535 bytes, `BLOB`s not counted.
        let (mut local_bytes, mut declared_bytes) = (0, 0);
        for _ in 0..others {
            let of = random.one_of(Type::ALL);
            let bytes = match of.column().storage {
                inrush_innodb_pages::Storage::Fixed(bytes) => bytes.into(),
                inrush_innodb_pages::Storage::Variable { bytes_max, is_blob: false } => {
                    bytes_max.min(255)
                }
                inrush_innodb_pages::Storage::Variable { .. } => 42,
            };
            local_bytes += bytes;
            if let inrush_innodb_pages::Storage::Variable { bytes_max, is_blob: false } =
                of.column().storage
            {
                declared_bytes += bytes_max;
            }
            if local_bytes < 6000 && declared_bytes < 50_000 {
                columns.push((of, random.below(2) == 0));
            }
        }
        Self { columns, key }
    }

    pub(crate) fn layout(&self) -> Layout {
        let column = |(of, is_nullable): &(Type, bool)| {
            if *is_nullable { of.column().nullable() } else { of.column() }
        };
        Layout::new(self.columns.iter().map(column).collect(), self.key).unwrap()
    }

    /// So many rows, or a few less, in the order of the key.
    pub(crate) fn rows(&self, random: &mut Random, count: usize, long: usize) -> Vec<Vec<Value>> {
        let mut rows: Vec<Vec<Value>> = (0..count)
            .map(|_| {
                let value = |(of, is_nullable): &(Type, bool)| {
                    (!is_nullable || random.below(3) > 0).then(|| of.value(random, long))
                };
                self.columns.iter().map(value).collect()
            })
            .collect();
        if self.key > 0 {
            let padded = |(i, value): (usize, &Value)| {
                let mut value = value.clone().unwrap();
                if let AsciiVarchar(most) = self.columns[i].0 {
                    value.resize(most, b' ');
                }
                value
            };
            let key = |row: &Vec<Value>| -> Vec<Vec<u8>> {
                row[..self.key].iter().enumerate().map(padded).collect()
            };
            rows.sort_by_key(key);
            rows.dedup_by_key(|row| key(row));
        }
        rows
    }
}

/// A tablespace of rows.
pub(crate) fn write<R: AsRef<[Value]>>(
    template: &Template,
    layout: &Layout,
    rows: impl IntoIterator<Item = R>,
) -> (Vec<u8>, Summary) {
    let mut file = Vec::new();
    let mut tablespace = Tablespace::new(template, layout, &mut file);
    let mut wire = Vec::new();
    let mut encoder = Encoder::new(layout);
    for row in rows {
        wire.clear();
        encode(&mut encoder, row.as_ref(), &mut wire).unwrap();
        records(&wire).try_for_each(|record| tablespace.push(record)).unwrap();
    }
    let summary = tablespace.finish().unwrap();
    file.resize(summary.pages as usize * PAGE_BYTES, 0);
    (file, summary)
}

pub(crate) fn encode(
    encoder: &mut Encoder,
    row: &[Value],
    wire: &mut Vec<u8>,
) -> Result<(), RecordError> {
    let fields: Vec<Option<&[u8]>> = row.iter().map(Option::as_deref).collect();
    encoder.encode(&fields, wire)
}

/// What is said about a row behind others.
pub(crate) fn push_error(
    template: &Template,
    layout: &Layout,
    rows: &[Vec<Value>],
) -> Option<PushError<std::convert::Infallible>> {
    let (mut wire, mut encoder) = (Vec::new(), Encoder::new(layout));
    rows.iter().for_each(|row| encode(&mut encoder, row, &mut wire).unwrap());
    let mut tablespace = Tablespace::new(template, layout, Vec::new());
    records(&wire).find_map(|record| tablespace.push(record).err())
}
