//! Geometries: text (WKT), and bytes (WKB), as themselves or in hexadecimal digits, become the bytes that the server keeps, its SRID in
//! four bytes and WKB with the least byte first (<https://dev.mysql.com/doc/refman/8.0/en/gis-data-formats.html>).
//!
//! They are read to their end here, for what a server is sent as bytes it hardly looks at, and MariaDB makes NULL of a text that is none.

use inrush_core::flow::Code;
use inrush_core::value::hex;

use super::declared::Declared;
use super::store::{Kept, Misfit, settle};

const POINT: u32 = 1;
const LINE: u32 = 2;
const POLYGON: u32 = 3;
const COLLECTION: u32 = 7;

/// By their numbers in WKB, from 1 on.
const NAMES: [&str; 7] = [
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
];

/// What MySQL 8.0 calls a collection.
const SHORT_COLLECTION: &str = "geomcollection";

/// Geometries within each other.
const DEPTH_MAX: usize = 32;

const FLAT: Misfit<'static> = (Code::Type, "a geometry of x and y, which is what the server keeps");
const FEW: Misfit<'static> =
    (Code::Type, "a geometry with at least 2 points in a line, 4 in a ring and 1 in any other");
const CLOSED: Misfit<'static> = (Code::Type, "a polygon whose rings end where they begin");
const DEEP: Misfit<'static> = (Code::Type, "a geometry of at most 32 levels");
const EARTHLY: Misfit<'static> =
    (Code::Type, "a geometry of latitudes from -90 to 90 and longitudes above -180 to 180");
const AMBIGUOUS: Misfit<'static> = (
    Code::Type,
    "WKB with its SRID (EWKB, or HEX() of a column), without which latitude or longitude may come first",
);

/// A column of geometries.
#[derive(Clone, Debug)]
pub(super) struct Geometries {
    /// The only type that it takes.
    only: Option<u32>,
    /// The only SRID that it takes.
    srid: Option<u32>,
    /// Whether the server's texts have latitude first; what it keeps has longitude first.
    latitude_first: bool,
    /// Whether its numbers are degrees of the globe.
    degrees: bool,
}

impl Geometries {
    /// `None` for other types. Behind the type may be the column's SRID and what its numbers are, see [`axes`](crate::facts).
    pub(super) fn of(declared: &Declared<'_>) -> Option<Self> {
        let only = match declared.name.as_str() {
            "geometry" => None,
            name => Some(sort(name)?),
        };
        Some(Self {
            only,
            srid: declared.srid,
            latitude_first: declared.latitude_first,
            degrees: declared.degrees,
        })
    }

    /// What a column takes, in words.
    pub(super) fn wanted(&self) -> String {
        let sort = self.only.and_then(name).unwrap_or("geometry");
        let of = self.srid.map(|srid| format!(" of SRID {srid}")).unwrap_or_default();
        format!("a {sort}{of} as text (WKT) or hexadecimal digits (WKB)")
    }

    /// Appends what the server keeps.
    pub(super) fn keep<'a>(
        &self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        let start = out.len();
        let digits = value.strip_prefix(b"0x").unwrap_or(value);
        let read = match unhexed(digits) {
            Some(bytes) => self.binary(&bytes, wanted, out),
            None if Wkb::begins(value) || is_stored(value) => self.binary(value, wanted, out),
            None => self.text(value, wanted, out),
        };
        match read {
            Ok(()) => Ok(settle(value, start, out)),
            Err(misfit) => {
                out.truncate(start);
                Err(misfit)
            }
        }
    }

    /// WKT: as the server's functions read it, or as PostGIS writes it, with a SRID and longitude first.
    fn text<'a>(&self, value: &[u8], wanted: &'a str, out: &mut Vec<u8>) -> Result<(), Misfit<'a>> {
        let mut text = Wkt { rest: value, wanted };
        let srid = text.srid()?;
        self.put_srid(srid, wanted, out)?;
        let writer = Writer { column: self, swaps: self.latitude_first && srid.is_none(), wanted };
        writer.whole(&mut text, out)?;
        text.skip_blanks();
        if text.rest.is_empty() { Ok(()) } else { Err((Code::Type, wanted)) }
    }

    /// WKB: with the SRID in front, as the server keeps it; with one in it, as PostGIS has it (EWKB); or without.
    fn binary<'a>(
        &self,
        bytes: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let mut bytes = Reader { wkb: Wkb { rest: bytes, big: false }, srid: None, wanted };
        if is_stored(bytes.wkb.rest) {
            bytes.srid = bytes.wkb.number();
        }
        let srid_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let writer = Writer { column: self, swaps: false, wanted };
        writer.whole(&mut bytes, out)?;
        if !bytes.wkb.rest.is_empty() {
            return Err((Code::Type, wanted));
        }
        if bytes.srid.is_none() && self.latitude_first {
            return Err(AMBIGUOUS);
        }
        let mut srid = Vec::with_capacity(4);
        self.put_srid(bytes.srid, wanted, &mut srid)?;
        out[srid_at..srid_at + 4].copy_from_slice(&srid);
        Ok(())
    }

    fn put_srid<'a>(
        &self,
        srid: Option<u32>,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        if srid.is_some_and(|srid| self.srid.is_some_and(|only| only != srid)) {
            return Err((Code::Type, wanted));
        }
        out.extend_from_slice(&srid.or(self.srid).unwrap_or_default().to_le_bytes());
        Ok(())
    }
}

fn sort(name: &str) -> Option<u32> {
    let at = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
    let short = name.eq_ignore_ascii_case(SHORT_COLLECTION).then_some(COLLECTION);
    at.map(|at| at as u32 + 1).or(short)
}

fn name(sort: u32) -> Option<&'static str> {
    NAMES.get(sort.checked_sub(1)? as usize).copied()
}

/// The bytes of hexadecimal digits, where there is nothing else.
fn unhexed(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, odd) = digits.as_chunks::<2>();
    if pairs.is_empty() || !odd.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(hex::digit(*high)? << 4 | hex::digit(*low)?)).collect()
}

/// Whether WKB begins behind four bytes of a SRID. They may look like WKB of a point in the other order of bytes, which has 21.
fn is_stored(bytes: &[u8]) -> bool {
    bytes.len() != 21 && bytes.get(4..).is_some_and(Wkb::begins)
}

/// Writes what it reads as the server keeps it.
struct Writer<'c, 'a> {
    column: &'c Geometries,
    /// Latitude is read first.
    swaps: bool,
    wanted: &'a str,
}

impl<'a> Writer<'_, 'a> {
    fn whole<R: Read<'a>>(&self, from: &mut R, out: &mut Vec<u8>) -> Result<(), Misfit<'a>> {
        let sort = self.geometry(from, COLLECTION, 0, out)?;
        let is_fit = match self.column.only {
            None => true,
            // Those of points, lines and polygons are collections, too.
            Some(COLLECTION) => sort > POLYGON,
            Some(only) => sort == only,
        };
        if is_fit { Ok(()) } else { Err((Code::Type, self.wanted)) }
    }

    /// One geometry, and what it is.
    fn geometry<R: Read<'a>>(
        &self,
        from: &mut R,
        within: u32,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<u32, Misfit<'a>> {
        if depth > DEPTH_MAX {
            return Err(DEEP);
        }
        let sort = from.begin(within)?;
        out.push(1);
        out.extend_from_slice(&sort.to_le_bytes());
        match sort {
            POINT => {
                let position = from.point(within)?;
                self.position(position, out)?;
            }
            LINE => self.list(from, 2, out, |from, out| self.position(from.position()?, out))?,
            POLYGON => self.list(from, 1, out, |from, out| self.ring(from, out))?,
            sort => {
                let least = u32::from(sort != COLLECTION);
                self.list(from, least, out, |from, out| {
                    self.geometry(from, sort, depth + 1, out).map(drop)
                })?;
            }
        }
        Ok(sort)
    }

    fn ring<R: Read<'a>>(&self, from: &mut R, out: &mut Vec<u8>) -> Result<(), Misfit<'a>> {
        let start = out.len() + 4;
        self.list(from, 4, out, |from, out| self.position(from.position()?, out))?;
        let (positions, _) = out[start..].as_chunks::<8>();
        let number = |bytes: &[u8; 8]| f64::from_le_bytes(*bytes);
        let same = match positions {
            [x, y, .., end_x, end_y] => number(x) == number(end_x) && number(y) == number(end_y),
            _ => false,
        };
        if same { Ok(()) } else { Err(CLOSED) }
    }

    /// How many items there are, and the items.
    fn list<R: Read<'a>>(
        &self,
        from: &mut R,
        least: u32,
        out: &mut Vec<u8>,
        item: impl Fn(&mut R, &mut Vec<u8>) -> Result<(), Misfit<'a>>,
    ) -> Result<(), Misfit<'a>> {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        let (mut items, mut count) = (from.open()?, 0_u32);
        while from.next(&mut items)? {
            item(from, out)?;
            count += 1;
        }
        if count < least {
            return Err(FEW);
        }
        out[at..at + 4].copy_from_slice(&count.to_le_bytes());
        Ok(())
    }

    fn position(&self, (x, y): (f64, f64), out: &mut Vec<u8>) -> Result<(), Misfit<'a>> {
        let (x, y) = if self.swaps { (y, x) } else { (x, y) };
        if !x.is_finite() || !y.is_finite() {
            return Err((Code::Type, self.wanted));
        }
        if self.column.degrees && !(y.abs() <= 90.0 && x > -180.0 && x <= 180.0) {
            return Err(EARTHLY);
        }
        out.extend_from_slice(&x.to_le_bytes());
        out.extend_from_slice(&y.to_le_bytes());
        Ok(())
    }
}

/// A notation of geometries.
trait Read<'a> {
    /// What remains of a list.
    type Items;

    /// What the next geometry is. `within`: what it is a part of, which says it already unless that is a collection.
    fn begin(&mut self, within: u32) -> Result<u32, Misfit<'a>>;

    fn open(&mut self) -> Result<Self::Items, Misfit<'a>>;

    /// Whether there is another item.
    fn next(&mut self, items: &mut Self::Items) -> Result<bool, Misfit<'a>>;

    fn position(&mut self) -> Result<(f64, f64), Misfit<'a>>;

    /// What a point is besides its name.
    fn point(&mut self, within: u32) -> Result<(f64, f64), Misfit<'a>>;
}

/// The parts of a multipoint, a multilinestring or a multipolygon.
fn part_of(within: u32) -> Option<u32> {
    (within != COLLECTION).then(|| within - 3)
}

/// Text.
struct Wkt<'v, 'a> {
    rest: &'v [u8],
    wanted: &'a str,
}

/// Where a list of text is.
#[derive(PartialEq, Eq)]
enum Listed {
    Empty,
    Opened,
    Within,
}

impl<'v, 'a> Wkt<'v, 'a> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.rest.strip_prefix(&[byte]);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn must(&mut self, byte: u8) -> Result<(), Misfit<'a>> {
        if self.eat(byte) { Ok(()) } else { Err((Code::Type, self.wanted)) }
    }

    fn while_is(&mut self, is: impl Fn(u8) -> bool) -> &'v [u8] {
        self.skip_blanks();
        let end = self.rest.iter().position(|byte| !is(*byte)).unwrap_or(self.rest.len());
        let (found, rest) = self.rest.split_at(end);
        self.rest = rest;
        found
    }

    fn word(&mut self) -> &'v [u8] {
        self.while_is(|byte| byte.is_ascii_alphabetic())
    }

    /// `SRID=4326;`, where it is there.
    fn srid(&mut self) -> Result<Option<u32>, Misfit<'a>> {
        let mut ahead = Self { rest: self.rest, wanted: self.wanted };
        if !ahead.word().eq_ignore_ascii_case(b"SRID") {
            return Ok(None);
        }
        ahead.must(b'=')?;
        let digits = std::str::from_utf8(ahead.while_is(|byte| byte.is_ascii_digit()));
        let srid = digits.ok().and_then(|digits| digits.parse().ok());
        ahead.must(b';')?;
        *self = ahead;
        srid.map(Some).ok_or((Code::Type, self.wanted))
    }

    fn number(&mut self) -> Result<f64, Misfit<'a>> {
        let token =
            self.while_is(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        inrush_scan::float(token).map_err(|_| (Code::Type, self.wanted))
    }
}

impl<'a> Read<'a> for Wkt<'_, 'a> {
    type Items = Listed;

    fn begin(&mut self, within: u32) -> Result<u32, Misfit<'a>> {
        if let Some(sort) = part_of(within) {
            return Ok(sort);
        }
        let word = std::str::from_utf8(self.word()).unwrap_or_default();
        let sort = sort(word).ok_or_else(|| {
            let upper = word.to_ascii_uppercase();
            let known = ["ZM", "Z", "M"].iter().find_map(|end| sort(upper.strip_suffix(end)?));
            if known.is_some() { FLAT } else { (Code::Type, self.wanted) }
        })?;
        self.skip_blanks();
        if matches!(self.rest, [b'z' | b'Z' | b'm' | b'M', ..]) { Err(FLAT) } else { Ok(sort) }
    }

    fn open(&mut self) -> Result<Listed, Misfit<'a>> {
        if self.eat(b'(') {
            return Ok(Listed::Opened);
        }
        match self.word().eq_ignore_ascii_case(b"EMPTY") {
            true => Ok(Listed::Empty),
            false => Err((Code::Type, self.wanted)),
        }
    }

    fn next(&mut self, items: &mut Listed) -> Result<bool, Misfit<'a>> {
        match std::mem::replace(items, Listed::Within) {
            Listed::Empty => Ok(false),
            Listed::Opened => Ok(!self.eat(b')')),
            Listed::Within if self.eat(b',') => Ok(true),
            Listed::Within => self.must(b')').map(|()| false),
        }
    }

    fn position(&mut self) -> Result<(f64, f64), Misfit<'a>> {
        let position = (self.number()?, self.number()?);
        self.skip_blanks();
        // A third number.
        match self.rest.first() {
            Some(b',' | b')') => Ok(position),
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => Err(FLAT),
            _ => Err((Code::Type, self.wanted)),
        }
    }

    fn point(&mut self, within: u32) -> Result<(f64, f64), Misfit<'a>> {
        let opened = self.eat(b'(');
        // Those of a multipoint may have none of their own.
        if !opened && within == COLLECTION {
            let is_empty = self.word().eq_ignore_ascii_case(b"EMPTY");
            return Err(if is_empty { FEW } else { (Code::Type, self.wanted) });
        }
        let position = self.position()?;
        if opened {
            self.must(b')')?;
        }
        Ok(position)
    }
}

/// Bytes.
struct Wkb<'v> {
    rest: &'v [u8],
    /// The greatest byte is first.
    big: bool,
}

impl Wkb<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (found, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        let mut found = *found;
        if self.big {
            found.reverse();
        }
        Some(found)
    }

    fn number(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn double(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// The order of bytes, and the number of the type with its marks.
    fn head(&mut self) -> Option<u32> {
        let [order] = self.take()?;
        self.big = match order {
            0 => true,
            1 => false,
            _ => return None,
        };
        self.number()
    }

    /// Whether a geometry begins here, of whatever dimensions.
    fn begins(bytes: &[u8]) -> bool {
        Wkb { rest: bytes, big: false }.head().is_some_and(
            |found| matches!(found & !MARKS, 1..=7 | 1001..=1007 | 2001..=2007 | 3001..=3007),
        )
    }
}

/// Marks of PostGIS: z, m, and that a SRID follows.
const MARKS: u32 = HAS_Z | HAS_M | HAS_SRID;
const HAS_Z: u32 = 0x8000_0000;
const HAS_M: u32 = 0x4000_0000;
const HAS_SRID: u32 = 0x2000_0000;

struct Reader<'v, 'a> {
    wkb: Wkb<'v>,
    srid: Option<u32>,
    wanted: &'a str,
}

impl<'a> Reader<'_, 'a> {
    fn found<T>(&self, found: Option<T>) -> Result<T, Misfit<'a>> {
        found.ok_or((Code::Type, self.wanted))
    }
}

impl<'a> Read<'a> for Reader<'_, 'a> {
    type Items = u32;

    fn begin(&mut self, within: u32) -> Result<u32, Misfit<'a>> {
        let head = self.wkb.head();
        let head = self.found(head)?;
        if head & HAS_SRID != 0 {
            let srid = self.wkb.number();
            let srid = self.found(srid)?;
            if self.srid.is_some_and(|outer| outer != srid) {
                return Err((Code::Type, self.wanted));
            }
            self.srid = Some(srid);
        }
        let sort = head & !MARKS;
        if head & (HAS_Z | HAS_M) != 0 || (1001..=3007).contains(&sort) {
            return Err(FLAT);
        }
        let is_one = name(sort).is_some() && part_of(within).is_none_or(|part| part == sort);
        if is_one { Ok(sort) } else { Err((Code::Type, self.wanted)) }
    }

    fn open(&mut self) -> Result<u32, Misfit<'a>> {
        let count = self.wkb.number();
        self.found(count)
    }

    fn next(&mut self, items: &mut u32) -> Result<bool, Misfit<'a>> {
        let is_next = *items > 0;
        *items = items.saturating_sub(1);
        Ok(is_next)
    }

    fn position(&mut self) -> Result<(f64, f64), Misfit<'a>> {
        let (x, y) = (self.wkb.double(), self.wkb.double());
        self.found(x.zip(y))
    }

    fn point(&mut self, _within: u32) -> Result<(f64, f64), Misfit<'a>> {
        self.position()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a column of `declared` keeps of `value`, in hexadecimal digits, or what it wants instead.
    fn kept(declared: &str, value: &[u8]) -> Result<String, String> {
        let column = Geometries::of(&Declared::parse(declared)).unwrap();
        let (wanted, mut out) = (column.wanted(), Vec::new());
        let stored = match column.keep(value, &wanted, &mut out) {
            Ok(Kept::AsIs) => value.to_vec(),
            Ok(Kept::Written) => out,
            Err((_, wanted)) => {
                assert_eq!(out, b"", "a misfit leaves nothing");
                return Err(wanted.to_owned());
            }
        };
        let mut digits = Vec::new();
        hex::put(&stored, &mut digits);
        Ok(String::from_utf8(digits).unwrap())
    }

    const ONE_TWO: &str = "0101000000000000000000f03f0000000000000040";

    fn point(srid: u32) -> String {
        format!("{:08x}{ONE_TWO}", srid.swap_bytes())
    }

    #[test]
    fn text_and_bytes_become_what_the_server_keeps() {
        let big = "00000000013ff00000000000004000000000000000";
        let ewkb = "0101000020e6100000000000000000f03f0000000000000040";
        for value in [
            "POINT(1 2)",
            " point ( +1.0\t2e0 ) ",
            ONE_TWO,
            &format!("0x{}", ONE_TWO.to_uppercase()),
            big,
            &point(0),
        ] {
            assert_eq!(kept("point", value.as_bytes()), Ok(point(0)), "{value}");
        }
        for value in ["SRID=4326;POINT(1 2)", "srid = 4326 ; Point(1 2)", ewkb, &point(4326)] {
            assert_eq!(kept("geometry", value.as_bytes()), Ok(point(4326)), "{value}");
        }
        assert_eq!(kept("point", &unhexed(point(4326).as_bytes()).unwrap()), Ok(point(4326)));
        assert_eq!(kept("point", &unhexed(ONE_TWO.as_bytes()).unwrap()), Ok(point(0)));
        let parts = format!("00000000010400000002000000{ONE_TWO}{ONE_TWO}");
        for value in ["MULTIPOINT(1 2,1 2)", "MULTIPOINT ((1 2), (1 2))"] {
            assert_eq!(kept("multipoint", value.as_bytes()), Ok(parts.clone()), "{value}");
        }
        let none = "00000000010700000000000000";
        for value in ["GEOMETRYCOLLECTION EMPTY", "GEOMETRYCOLLECTION()", "GeomCollection()", none]
        {
            assert_eq!(kept("geomcollection", value.as_bytes()), Ok(none.to_owned()), "{value}");
        }
        assert!(kept("geometrycollection", b"MULTIPOINT(1 2)").is_ok());
        assert!(kept("geometrycollection", b"POINT(1 2)").is_err());
        for text in [
            "LINESTRING(0 0,1 1)",
            "POLYGON((0 0,9 0,9 9,0 0),(1 1,2 1,2 2,1 1))",
            "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
            "MULTIPOLYGON(((0 0,9 0,9 9,0 0)))",
            "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(LINESTRING(0 0,1 1)))",
        ] {
            let stored = kept("geometry", text.as_bytes()).unwrap();
            assert_eq!(kept("geometry", stored.as_bytes()), Ok(stored.clone()), "{text}");
            assert_eq!(kept("geometry", &stored.as_bytes()[8..]), Ok(stored.clone()), "{text}");
        }
    }

    #[test]
    fn what_a_column_does_not_keep_is_said() {
        let deep = "GEOMETRYCOLLECTION(".repeat(40) + &")".repeat(40);
        for (value, wanted) in [
            ("POINT Z (1 2 3)", FLAT.1),
            ("POINTZM(1 2 3 4)", FLAT.1),
            ("POINT(1 2 3)", FLAT.1),
            ("01e9030000000000000000f03f00000000000000400000000000000840", FLAT.1),
            ("LINESTRING(1 1)", FEW.1),
            ("LINESTRING EMPTY", FEW.1),
            ("POINT EMPTY", FEW.1),
            ("POLYGON((0 0,1 1,0 0))", FEW.1),
            ("POLYGON((0 0,1 1,1 0,0 1))", CLOSED.1),
            (&deep, DEEP.1),
        ] {
            assert_eq!(kept("geometry", value.as_bytes()), Err(wanted.to_owned()), "{value}");
        }
        let wanted = "a geometry as text (WKT) or hexadecimal digits (WKB)";
        let nan = "0101000000000000000000f87f000000000000f87f";
        let many = "0000000001020000 00ffffffff".replace(' ', "");
        for value in [
            "",
            "x",
            "POINT",
            "POINT(1)",
            "POINT(1 x)",
            "POINT(1 2",
            "POINT(1 2)x",
            "POINT(1e400 2)",
            "POINT(1,2)",
            "BOX(1 2)",
            "SRID=;POINT(1 2)",
            "SRID=4294967296;POINT(1 2)",
            "ff",
            "0101",
            &ONE_TWO[2..],
            &ONE_TWO[..40],
            &format!("{ONE_TWO}00"),
            nan,
            &many,
            "POLYGON((0 0,1 0,1 1,0 0),)",
        ] {
            assert_eq!(kept("geometry", value.as_bytes()), Err(wanted.to_owned()), "{value}");
        }
        let wanted = "a polygon as text (WKT) or hexadecimal digits (WKB)";
        assert_eq!(kept("polygon", b"POINT(1 2)"), Err(wanted.to_owned()));
        let within = format!("00000000010500000001000000{ONE_TWO}");
        assert!(kept("geometry", within.as_bytes()).is_err(), "a point is no line");
    }

    /// MySQL's texts have the order of the SRID's axes, its bytes longitude first; so has what PostGIS writes.
    #[test]
    fn latitude_is_first_where_the_server_has_it_so() {
        let column = "point srid 4326 /* latitude first */ /* degrees */";
        let longitude_first = "point srid 7035 /* degrees */";
        assert_eq!(kept(column, b"POINT(2 1)"), Ok(point(4326)));
        assert_eq!(kept(column, b"SRID=4326;POINT(1 2)"), Ok(point(4326)));
        assert_eq!(kept(column, point(4326).as_bytes()), Ok(point(4326)));
        assert_eq!(kept(longitude_first, b"POINT(1 2)"), Ok(point(7035)));
        assert_eq!(kept("point srid 3857", b"POINT(1 2)"), Ok(point(3857)));
        assert_eq!(kept("point srid 3857", ONE_TWO.as_bytes()), Ok(point(3857)));
        assert_eq!(kept(column, ONE_TWO.as_bytes()), Err(AMBIGUOUS.1.to_owned()));
        assert_eq!(kept(column, b"POINT(100 2)"), Err(EARTHLY.1.to_owned()));
        assert_eq!(kept(column, b"SRID=4326;POINT(-180 2)"), Err(EARTHLY.1.to_owned()));
        let wanted = "a point of SRID 4326 as text (WKT) or hexadecimal digits (WKB)";
        for value in ["SRID=3857;POINT(1 2)", &point(0)] {
            assert_eq!(kept(column, value.as_bytes()), Err(wanted.to_owned()), "{value}");
        }
    }
}
