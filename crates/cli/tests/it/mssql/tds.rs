//! The protocol as the server's side writes and reads it: packets, tokens, types, values
//! (<https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/b46a581a-39de-4745-b076-ec4dbb7d13ec>).

use std::io::{self, Read, Write};

pub(super) const BATCH: u8 = 0x01;
pub(super) const BULK: u8 = 0x07;
pub(super) const LOGIN7: u8 = 0x10;
pub(super) const PRELOGIN: u8 = 0x12;
const ANSWER: u8 = 0x04;

/// Reads a message of one or several packets: its type, and its bytes; `None` at the end.
pub(super) fn receive(stream: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut message = Vec::new();
    loop {
        let mut header = [0; 8];
        match stream.read_exact(&mut header) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && message.is_empty() => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let length = usize::from(u16::from_be_bytes([header[2], header[3]])) - 8;
        let at = message.len();
        message.resize(at + length, 0);
        stream.read_exact(&mut message[at..])?;
        if header[1] & 1 == 1 {
            return Ok(Some((header[0], message)));
        }
    }
}

/// Sends an answer in packets of this size.
pub(super) fn send(stream: &mut impl Write, bytes: &[u8], packet_size: usize) -> io::Result<()> {
    let pieces: Vec<&[u8]> = bytes.chunks(packet_size - 8).collect();
    let mut packets = Vec::with_capacity(bytes.len() + 8 * pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        let [high, low] = ((piece.len() + 8) as u16).to_be_bytes();
        let status = u8::from(index + 1 == pieces.len());
        packets.extend_from_slice(&[ANSWER, status, high, low, 0, 1, index as u8, 0]);
        packets.extend_from_slice(piece);
    }
    stream.write_all(&packets)?;
    stream.flush()
}

/// The bytes of a message, read from the front; whatever is missing is the client's mistake.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn take(&mut self, length: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap()
    }

    pub(super) fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// A number of so many bytes.
    fn number(&mut self, length: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(self.take(length));
        u64::from_le_bytes(bytes)
    }

    pub(super) fn utf16(&mut self, units: usize) -> String {
        utf16(self.take(units * 2))
    }

    pub(super) fn name(&mut self) -> String {
        let units = self.u8();
        self.utf16(units.into())
    }
}

pub(super) fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> =
        bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    String::from_utf16(&units).expect("UTF-16")
}

fn put_utf16(text: &str, out: &mut Vec<u8>) {
    out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
}

fn put_short(text: &str, out: &mut Vec<u8>) {
    out.push(text.encode_utf16().count() as u8);
    put_utf16(text, out);
}

fn put_long(text: &str, out: &mut Vec<u8>) {
    out.extend((text.encode_utf16().count() as u16).to_le_bytes());
    put_utf16(text, out);
}

/// What a server answers.
#[derive(Default)]
pub(super) struct Answer(pub(super) Vec<u8>);

impl Answer {
    fn token(&mut self, token: u8, body: &[u8]) {
        self.0.push(token);
        self.0.extend((body.len() as u16).to_le_bytes());
        self.0.extend_from_slice(body);
    }

    /// LOGINACK, and the size of packets from here on.
    pub(super) fn login(&mut self, packet_size: usize) {
        let mut body = vec![1, 0x74, 0, 0, 4];
        put_short("Microsoft SQL Server", &mut body);
        body.extend([16, 0, 0x10, 0x04]);
        self.token(0xad, &body);
        let mut body = vec![4];
        put_short(&packet_size.to_string(), &mut body);
        put_short("4096", &mut body);
        self.token(0xe3, &body);
    }

    /// ENVCHANGE: a transaction begins (8), is committed (9) or rolled back (10).
    pub(super) fn transaction(&mut self, kind: u8) {
        const DESCRIPTOR: [u8; 9] = [8, 1, 2, 3, 4, 5, 6, 7, 8];
        let mut body = vec![kind];
        if kind == 8 {
            body.extend(DESCRIPTOR);
            body.push(0);
        } else {
            body.push(0);
            body.extend(DESCRIPTOR);
        }
        self.token(0xe3, &body);
    }

    pub(super) fn error(&mut self, number: u32, class: u8, message: &str) {
        let mut body = number.to_le_bytes().to_vec();
        body.extend([1, class]);
        put_long(message, &mut body);
        put_short("double", &mut body);
        put_short("", &mut body);
        body.extend(1_u32.to_le_bytes());
        self.token(0xaa, &body);
    }

    /// The end of a statement; whether others follow, and of how many rows it speaks.
    pub(super) fn done(&mut self, more: bool, failed: bool, rows: Option<u64>) {
        let status = u16::from(more) | u16::from(failed) << 1 | u16::from(rows.is_some()) << 4;
        self.0.push(0xfd);
        self.0.extend(status.to_le_bytes());
        self.0.extend(0_u16.to_le_bytes());
        self.0.extend(rows.unwrap_or(0).to_le_bytes());
    }

    pub(super) fn columns(&mut self, columns: &[(String, u16, TypeInfo)]) {
        self.0.push(0x81);
        self.0.extend((columns.len() as u16).to_le_bytes());
        for (name, flags, info) in columns {
            self.0.extend(0_u32.to_le_bytes());
            self.0.extend(flags.to_le_bytes());
            info.put(&mut self.0);
            put_short(name, &mut self.0);
        }
    }

    /// A row; every other one in the form that has a bit for each NULL.
    pub(super) fn row(&mut self, infos: &[TypeInfo], values: &[Value], with_bits: bool) {
        if !with_bits {
            self.0.push(0xd1);
            for (info, value) in infos.iter().zip(values) {
                info.put_value(value, &mut self.0);
            }
            return;
        }
        self.0.push(0xd2);
        let mut bits = vec![0; values.len().div_ceil(8)];
        for (index, value) in values.iter().enumerate() {
            bits[index / 8] |= u8::from(*value == Value::Null) << (index % 8);
        }
        self.0.extend_from_slice(&bits);
        for (info, value) in infos.iter().zip(values).filter(|(_, value)| **value != Value::Null) {
            info.put_value(value, &mut self.0);
        }
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Float(f64),
    /// In units of its scale.
    Decimal(i128),
    Text(String),
    Bytes(Vec<u8>),
    /// In the order in which it is written.
    Guid([u8; 16]),
    /// Days since 0001-01-01.
    Date(i64),
    /// Units of its scale since midnight.
    Time(u64),
    /// Days since 0001-01-01, and units.
    Moment(i64, u64),
    /// The same in UTC, and minutes from there.
    Offset(i64, u64, i16),
    /// Days since 1900-01-01, and three hundredths of a second.
    DateTime(i32, u32),
    /// Days since then, and minutes.
    SmallDateTime(u16, u16),
}

/// A type on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TypeInfo {
    pub(super) id: u8,
    /// Bytes at most; 0xffff for without end.
    pub(super) length: usize,
    pub(super) precision: u8,
    pub(super) scale: u8,
    pub(super) collation: Option<[u8; 5]>,
}

/// SQL_Latin1_General_CP1_CI_AS.
const LATIN1: [u8; 5] = [0x09, 0x04, 0xd0, 0x00, 0x34];

const MAX: usize = 0xffff;

const GUID: u8 = 0x24;
const INTN: u8 = 0x26;
const DATE: u8 = 0x28;
const TIME: u8 = 0x29;
const DATETIME2: u8 = 0x2a;
const DATETIMEOFFSET: u8 = 0x2b;
const BITN: u8 = 0x68;
const DECIMAL: u8 = 0x6a;
const NUMERIC: u8 = 0x6c;
const FLOATN: u8 = 0x6d;
const MONEYN: u8 = 0x6e;
const DATETIMEN: u8 = 0x6f;
const VARBINARY: u8 = 0xa5;
const VARCHAR: u8 = 0xa7;
const BINARY: u8 = 0xad;
const CHAR: u8 = 0xaf;
const NVARCHAR: u8 = 0xe7;
const NCHAR: u8 = 0xef;
const XML: u8 = 0xf1;

/// Types without a length in front of their values, with what they are besides.
const FIXED: [(u8, u8, usize); 10] = [
    (0x32, BITN, 1),
    (0x30, INTN, 1),
    (0x34, INTN, 2),
    (0x38, INTN, 4),
    (0x7f, INTN, 8),
    (0x3b, FLOATN, 4),
    (0x3e, FLOATN, 8),
    (0x3c, MONEYN, 8),
    (0x7a, MONEYN, 4),
    (0x3d, DATETIMEN, 8),
];

fn time_bytes(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

impl TypeInfo {
    fn new(id: u8, length: usize) -> Self {
        Self { id, length, precision: 0, scale: 0, collation: None }
    }

    /// Of a type as SQL has it; one that takes no NULL often has another form.
    pub(super) fn of(sql: &str, nullable: bool) -> Self {
        let (name, inner) = sql.split_once('(').unwrap_or((sql, ""));
        let inner = inner.trim_end_matches(')');
        let numbers: Vec<usize> =
            inner.split(',').filter_map(|part| part.trim().parse().ok()).collect();
        let length = |unit: usize| match inner {
            "max" => MAX,
            _ => numbers.first().copied().unwrap_or(1) * unit,
        };
        let scale = numbers.first().copied().unwrap_or(7) as u8;
        let text = |id, length| Self { collation: Some(LATIN1), ..Self::new(id, length) };
        let moment = |id| Self { scale, ..Self::new(id, 0) };
        let info = match name {
            "bit" => Self::new(BITN, 1),
            "tinyint" => Self::new(INTN, 1),
            "smallint" => Self::new(INTN, 2),
            "int" => Self::new(INTN, 4),
            "bigint" => Self::new(INTN, 8),
            "real" => Self::new(FLOATN, 4),
            "float" => Self::new(FLOATN, 8),
            "money" => Self::new(MONEYN, 8),
            "smallmoney" => Self::new(MONEYN, 4),
            "datetime" => Self::new(DATETIMEN, 8),
            "smalldatetime" => return Self::new(DATETIMEN, 4),
            "decimal" | "numeric" => {
                let precision = numbers[0] as u8;
                let length = match precision {
                    0..=9 => 5,
                    10..=19 => 9,
                    20..=28 => 13,
                    _ => 17,
                };
                let id = if name == "decimal" { DECIMAL } else { NUMERIC };
                Self {
                    precision,
                    scale: numbers.get(1).copied().unwrap_or(0) as u8,
                    ..Self::new(id, length)
                }
            }
            "date" => Self::new(DATE, 3),
            "time" => moment(TIME),
            "datetime2" => moment(DATETIME2),
            "datetimeoffset" => moment(DATETIMEOFFSET),
            "uniqueidentifier" => Self::new(GUID, 16),
            "nvarchar" => text(NVARCHAR, length(2)),
            "nchar" => text(NCHAR, length(2)),
            "varchar" => text(VARCHAR, length(1)),
            "char" => text(CHAR, length(1)),
            "varbinary" => Self::new(VARBINARY, length(1)),
            "binary" => Self::new(BINARY, length(1)),
            "xml" => Self::new(XML, MAX),
            other => panic!("no such type: {other}"),
        };
        let fixed = FIXED.iter().find(|(_, id, length)| (*id, *length) == (info.id, info.length));
        match fixed {
            Some((id, _, length)) if !nullable => Self::new(*id, *length),
            _ => info,
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.id);
        match self.id {
            id if FIXED.iter().any(|(fixed, _, _)| *fixed == id) => {}
            DATE => {}
            TIME | DATETIME2 | DATETIMEOFFSET => out.push(self.scale),
            DECIMAL | NUMERIC => out.extend([self.length as u8, self.precision, self.scale]),
            XML => out.push(0),
            VARBINARY | VARCHAR | BINARY | CHAR | NVARCHAR | NCHAR => {
                out.extend((self.length as u16).to_le_bytes());
            }
            _ => out.push(self.length as u8),
        }
        out.extend(self.collation.iter().flatten());
    }

    fn read(bytes: &mut Bytes<'_>) -> Self {
        let id = bytes.u8();
        if let Some((_, _, length)) = FIXED.iter().find(|(fixed, _, _)| *fixed == id) {
            return Self::new(id, *length);
        }
        match id {
            DATE => Self::new(id, 3),
            TIME | DATETIME2 | DATETIMEOFFSET => Self { scale: bytes.u8(), ..Self::new(id, 0) },
            DECIMAL | NUMERIC => {
                let length = bytes.u8().into();
                Self { precision: bytes.u8(), scale: bytes.u8(), ..Self::new(id, length) }
            }
            XML => {
                assert_eq!(bytes.u8(), 0, "no schema");
                Self::new(id, MAX)
            }
            VARBINARY | BINARY => Self::new(id, bytes.u16().into()),
            VARCHAR | CHAR | NVARCHAR | NCHAR => {
                let length = bytes.u16().into();
                Self { collation: Some(bytes.array()), ..Self::new(id, length) }
            }
            GUID | INTN | BITN | FLOATN | MONEYN | DATETIMEN => Self::new(id, bytes.u8().into()),
            other => panic!("a type that nobody sends: {other:#x}"),
        }
    }

    /// The type that it is when it takes NULL.
    fn variable(&self) -> u8 {
        FIXED.iter().find(|(id, _, _)| *id == self.id).map_or(self.id, |(_, id, _)| *id)
    }

    fn is_fixed(&self) -> bool {
        self.variable() != self.id
    }

    fn put_value(&self, value: &Value, out: &mut Vec<u8>) {
        let at = out.len();
        let has_long_length =
            matches!(self.id, VARBINARY | VARCHAR | BINARY | CHAR | NVARCHAR | NCHAR);
        if *value == Value::Null {
            match self.length {
                MAX => out.extend([0xff; 8]),
                _ if has_long_length => out.extend([0xff; 2]),
                _ => out.push(0),
            }
            return;
        }
        let mut body = Vec::new();
        match (self.variable(), value) {
            (BITN, Value::Integer(number)) => body.push(*number as u8),
            (INTN, Value::Integer(number)) => body.extend(&number.to_le_bytes()[..self.length]),
            (FLOATN, Value::Float(number)) if self.length == 4 => {
                body.extend((*number as f32).to_le_bytes());
            }
            (FLOATN, Value::Float(number)) => body.extend(number.to_le_bytes()),
            (MONEYN, Value::Integer(units)) if self.length == 4 => {
                body.extend((*units as i32).to_le_bytes());
            }
            (MONEYN, Value::Integer(units)) => {
                body.extend(((units >> 32) as i32).to_le_bytes());
                body.extend((*units as u32).to_le_bytes());
            }
            (DECIMAL | NUMERIC, Value::Decimal(units)) => {
                body.push(u8::from(*units >= 0));
                body.extend(&units.unsigned_abs().to_le_bytes()[..self.length - 1]);
            }
            (GUID, Value::Guid(bytes)) => body.extend(swapped(*bytes)),
            (DATE, Value::Date(days)) => body.extend(&days.to_le_bytes()[..3]),
            (TIME, Value::Time(units)) => {
                body.extend(&units.to_le_bytes()[..time_bytes(self.scale)]);
            }
            (DATETIME2, Value::Moment(days, units)) => {
                body.extend(&units.to_le_bytes()[..time_bytes(self.scale)]);
                body.extend(&days.to_le_bytes()[..3]);
            }
            (DATETIMEOFFSET, Value::Offset(days, units, offset)) => {
                body.extend(&units.to_le_bytes()[..time_bytes(self.scale)]);
                body.extend(&days.to_le_bytes()[..3]);
                body.extend(offset.to_le_bytes());
            }
            (DATETIMEN, Value::DateTime(days, units)) => {
                body.extend(days.to_le_bytes());
                body.extend(units.to_le_bytes());
            }
            (DATETIMEN, Value::SmallDateTime(days, minutes)) => {
                body.extend(days.to_le_bytes());
                body.extend(minutes.to_le_bytes());
            }
            (NVARCHAR | NCHAR | XML, Value::Text(text)) => put_utf16(text, &mut body),
            (VARBINARY | BINARY, Value::Bytes(bytes)) => body.extend_from_slice(bytes),
            (id, value) => panic!("{value:?} as {id:#x}"),
        }
        match self.length {
            MAX => {
                out.extend((body.len() as u64).to_le_bytes());
                // In pieces.
                for piece in body.chunks(1000) {
                    out.extend((piece.len() as u32).to_le_bytes());
                    out.extend_from_slice(piece);
                }
                out.extend(0_u32.to_le_bytes());
                return;
            }
            _ if has_long_length => out.extend((body.len() as u16).to_le_bytes()),
            _ if self.is_fixed() => {}
            _ => out.push(body.len() as u8),
        }
        debug_assert!(out.len() >= at);
        out.extend(body);
    }

    fn read_value(&self, bytes: &mut Bytes<'_>) -> Value {
        let body = match self.id {
            VARBINARY | VARCHAR | BINARY | CHAR | NVARCHAR | NCHAR | XML if self.length == MAX => {
                const NULL: u64 = u64::MAX;
                const UNKNOWN: u64 = u64::MAX - 1;
                let whole = bytes.u64();
                if whole == NULL {
                    return Value::Null;
                }
                let mut pieces = Vec::new();
                loop {
                    let length = bytes.u32() as usize;
                    if length == 0 {
                        break;
                    }
                    pieces.extend_from_slice(bytes.take(length));
                }
                assert!(whole == UNKNOWN || whole == pieces.len() as u64);
                pieces
            }
            VARBINARY | VARCHAR | BINARY | CHAR | NVARCHAR | NCHAR => {
                let length = bytes.u16();
                if length == u16::MAX {
                    return Value::Null;
                }
                assert!(usize::from(length) <= self.length, "longer than declared");
                bytes.take(length.into()).to_vec()
            }
            _ if self.is_fixed() => bytes.take(self.length).to_vec(),
            _ => {
                let length = bytes.u8();
                if length == 0 {
                    return Value::Null;
                }
                bytes.take(length.into()).to_vec()
            }
        };
        let mut body = Bytes(&body);
        let value = match self.variable() {
            BITN => Value::Integer(body.u8().into()),
            // The smallest has no sign.
            INTN => match self.length {
                1 => Value::Integer(body.u8().into()),
                2 => Value::Integer((body.u16() as i16).into()),
                4 => Value::Integer((body.u32() as i32).into()),
                _ => Value::Integer(body.u64() as i64),
            },
            FLOATN if self.length == 4 => Value::Float(f32::from_le_bytes(body.array()).into()),
            FLOATN => Value::Float(f64::from_le_bytes(body.array())),
            MONEYN if self.length == 4 => Value::Integer((body.u32() as i32).into()),
            MONEYN => {
                let (high, low) = (body.u32(), body.u32());
                Value::Integer((u64::from(high) << 32 | u64::from(low)) as i64)
            }
            DECIMAL | NUMERIC => {
                let positive = body.u8() == 1;
                let mut digits = [0; 16];
                let rest = body.0.len();
                digits[..rest].copy_from_slice(body.take(rest));
                let units = i128::from_le_bytes(digits);
                assert!(units < 10_i128.pow(self.precision.into()), "too many digits");
                Value::Decimal(if positive { units } else { -units })
            }
            GUID => Value::Guid(swapped(body.array())),
            DATE => Value::Date(body.number(3) as i64),
            TIME => Value::Time(body.number(time_bytes(self.scale))),
            DATETIME2 => {
                let units = body.number(time_bytes(self.scale));
                Value::Moment(body.number(3) as i64, units)
            }
            DATETIMEOFFSET => {
                let units = body.number(time_bytes(self.scale));
                Value::Offset(body.number(3) as i64, units, body.u16() as i16)
            }
            DATETIMEN if self.length == 8 => Value::DateTime(body.u32() as i32, body.u32()),
            DATETIMEN => Value::SmallDateTime(body.u16(), body.u16()),
            NVARCHAR | NCHAR | XML => {
                let rest = body.0.len();
                Value::Text(utf16(body.take(rest)))
            }
            VARCHAR | CHAR => {
                let rest = body.0.len();
                // Enough of its code page for the tests: the euro is at another place than in latin1.
                let character =
                    |byte: &u8| if *byte == 0x80 { '\u{20ac}' } else { char::from(*byte) };
                Value::Text(body.take(rest).iter().map(character).collect())
            }
            VARBINARY | BINARY => {
                let rest = body.0.len();
                Value::Bytes(body.take(rest).to_vec())
            }
            other => panic!("{other:#x}"),
        };
        assert!(body.0.is_empty(), "bytes left of {self:?}");
        value
    }
}

/// A GUID's first three numbers are written the other way round on the wire.
fn swapped(bytes: [u8; 16]) -> [u8; 16] {
    let mut swapped = bytes;
    swapped[..4].reverse();
    swapped[4..6].reverse();
    swapped[6..8].reverse();
    swapped
}

/// What a bulk load brings: columns with their types, and rows.
pub(super) fn bulk(message: &[u8]) -> (Vec<(String, TypeInfo)>, Vec<Vec<Value>>) {
    let mut bytes = Bytes(message);
    assert_eq!(bytes.u8(), 0x81, "COLMETADATA");
    let columns: Vec<(String, TypeInfo)> = (0..bytes.u16())
        .map(|_| {
            let (_user_type, _flags) = (bytes.u32(), bytes.u16());
            let info = TypeInfo::read(&mut bytes);
            (bytes.name(), info)
        })
        .collect();
    let mut rows = Vec::new();
    loop {
        match bytes.u8() {
            0xd1 => {
                rows.push(columns.iter().map(|(_, info)| info.read_value(&mut bytes)).collect());
            }
            0xfd => break,
            token => panic!("token {token:#x} among rows"),
        }
    }
    bytes.take(12);
    assert!(bytes.0.is_empty(), "nothing follows DONE");
    (columns, rows)
}
