//! Characters, members, identifiers: what a column's character set and size let through.

use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use encoding_rs::Encoding;

use inrush_core::flow::Code;

use super::store::{Kept, Misfit, settle};

/// A character set, as far as it matters whether a text fits.
#[derive(Clone, Debug)]
pub(super) enum Charset {
    Utf8mb4,
    /// At most three bytes a character.
    Utf8mb3,
    Ascii,
    /// Two bytes a character, or four in UTF-16.
    Wide {
        pairs: bool,
    },
    Utf32,
    /// ASCII and these, one byte each; sorted.
    Single(Box<[char]>),
    /// Nothing is known but that no character takes less than a byte. The server warns of those that it doesn't have.
    Unknown,
}

impl Charset {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "utf8mb4" => Self::Utf8mb4,
            "utf8" | "utf8mb3" => Self::Utf8mb3,
            "ascii" => Self::Ascii,
            "ucs2" => Self::Wide { pairs: false },
            "utf16" | "utf16le" => Self::Wide { pairs: true },
            "utf32" => Self::Utf32,
            _ => single(name).map_or(Self::Unknown, Self::single),
        }
    }

    /// The upper half of an encoding of one byte a character.
    fn single(encoding: &'static Encoding) -> Self {
        let character = |byte: u8| {
            let bytes = [byte];
            let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes)?;
            text.chars().next()
        };
        let mut characters: Vec<char> = (0x80..=0xff).filter_map(character).collect();
        characters.sort_unstable();
        Self::Single(characters.into())
    }

    /// Bytes that a text takes at least, or `None` when it has a character that the set hasn't.
    fn bytes(&self, value: &[u8]) -> Option<usize> {
        let characters = || characters(value);
        let four_byte = || value.iter().filter(|byte| **byte >= 0xf0).count();
        match self {
            Self::Utf8mb4 => Some(value.len()),
            Self::Utf8mb3 => (four_byte() == 0).then_some(value.len()),
            Self::Ascii => value.is_ascii().then_some(value.len()),
            Self::Wide { pairs: false } => (four_byte() == 0).then(|| 2 * characters()),
            Self::Wide { pairs: true } => Some(2 * (characters() + four_byte())),
            Self::Utf32 => Some(4 * characters()),
            Self::Unknown => Some(characters()),
            Self::Single(known) => {
                let text = std::str::from_utf8(value).ok()?;
                let mut count = 0;
                for character in text.chars() {
                    if !character.is_ascii() && known.binary_search(&character).is_err() {
                        return None;
                    }
                    count += 1;
                }
                Some(count)
            }
        }
    }
}

/// The encodings that have all that the server's tables have. Others of the same name differ: a character that the server takes must
/// not be refused here.
fn single(name: &str) -> Option<&'static Encoding> {
    Some(match name {
        // Windows-1252, in which the bytes that have no character are control characters.
        "latin1" => encoding_rs::WINDOWS_1252,
        "latin2" => encoding_rs::ISO_8859_2,
        "latin7" => encoding_rs::ISO_8859_13,
        "koi8r" => encoding_rs::KOI8_R,
        "cp1250" => encoding_rs::WINDOWS_1250,
        "cp1251" => encoding_rs::WINDOWS_1251,
        "cp1256" => encoding_rs::WINDOWS_1256,
        "cp1257" => encoding_rs::WINDOWS_1257,
        "macroman" => encoding_rs::MACINTOSH,
        _ => return None,
    })
}

/// Characters of a text: bytes that don't continue one.
fn characters(value: &[u8]) -> usize {
    value.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

/// What a column of text takes.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    pub(super) charset: Charset,
    pub(super) max: usize,
    /// Whether `max` counts characters; else it counts bytes.
    pub(super) counts_characters: bool,
    /// CHAR, which loses trailing spaces.
    pub(super) trims: bool,
    /// The set's characters, in words.
    pub(super) known: Box<str>,
    /// Texts up to this length need no look at all.
    any_len_max: usize,
}

impl Texts {
    pub(super) fn new(
        charset: Charset,
        max: usize,
        counts_characters: bool,
        trims: bool,
        known: Box<str>,
    ) -> Self {
        let any = matches!(charset, Charset::Utf8mb4) && !trims;
        let any_len_max = if any { max } else { 0 };
        Self { charset, max, counts_characters, trims, known, any_len_max }
    }

    /// `false` says nothing; ask [`Texts::keep`].
    #[inline(always)]
    pub(super) fn is_plain(&self, value: &[u8]) -> bool {
        value.len() <= self.any_len_max
    }

    pub(super) fn keep<'a>(&'a self, value: &[u8], wanted: &'a str) -> Result<Kept, Misfit<'a>> {
        if self.trims && value.last() == Some(&b' ') {
            return Err((Code::Type, "a text without trailing spaces, which CHAR drops"));
        }
        let bytes = self.charset.bytes(value).ok_or((Code::Type, &*self.known))?;
        let long = if self.counts_characters {
            value.len() > self.max && characters(value) > self.max
        } else {
            bytes > self.max
        };
        if long { Err((Code::TooLong, wanted)) } else { Ok(Kept::AsIs) }
    }
}

/// The members of an enum or a set.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// As declared.
    members: Box<[Box<[u8]>]>,
    /// Their indexes, by their texts.
    order: Box<[u32]>,
    /// Whether the collation takes `A` for `a`.
    folds: bool,
}

impl Members {
    pub(super) fn new(members: Vec<Box<[u8]>>, folds: bool) -> Self {
        let mut order: Vec<u32> = (0..members.len() as u32).collect();
        order.sort_by_key(|index| &members[*index as usize]);
        Self { members: members.into(), order: order.into(), folds }
    }

    /// A short list of them, in words.
    pub(super) fn shown(&self) -> String {
        const SHOWN_MAX: usize = 8;
        let texts =
            self.members.iter().take(SHOWN_MAX).map(|member| inrush_core::error::shorten(member));
        let mut shown = texts.collect::<Vec<_>>().join(", ");
        if self.members.len() > SHOWN_MAX {
            shown.push_str(", ...");
        }
        shown
    }

    fn find(&self, value: &[u8]) -> Option<usize> {
        let exact =
            self.order.binary_search_by(|index| (*self.members[*index as usize]).cmp(value));
        match exact {
            Ok(place) => Some(self.order[place] as usize),
            Err(_) if self.folds => self.find_folded(value),
            Err(_) => None,
        }
    }

    /// The only member that differs in case alone.
    fn find_folded(&self, value: &[u8]) -> Option<usize> {
        fn lower(text: &[u8]) -> Option<impl Iterator<Item = char>> {
            Some(std::str::from_utf8(text).ok()?.chars().flat_map(char::to_lowercase))
        }
        let is_same = |member: &[u8]| match (lower(member), lower(value)) {
            (Some(member), Some(value)) => member.eq(value),
            _ => false,
        };
        let mut same = self.members.iter().enumerate().filter(|(_, member)| is_same(member));
        match (same.next(), same.next()) {
            (Some((index, _)), None) => Some(index),
            _ => None,
        }
    }

    /// A member.
    pub(super) fn keep_one<'a>(
        &self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        let index = self.find(value).ok_or((Code::Type, wanted))?;
        let start = out.len();
        out.extend_from_slice(&self.members[index]);
        Ok(settle(value, start, out))
    }

    /// Members with commas between them. The server shows each once, in the order of their declaration.
    pub(super) fn keep_set<'a>(
        &self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        if value.is_empty() {
            return Ok(Kept::AsIs);
        }
        let mut chosen = 0_u64;
        for member in value.split(|byte| *byte == b',') {
            chosen |= 1 << self.find(member).ok_or((Code::Type, wanted))?;
        }
        let start = out.len();
        for (index, member) in self.members.iter().enumerate() {
            if chosen & (1 << index) != 0 {
                if out.len() > start {
                    out.push(b',');
                }
                out.extend_from_slice(member);
            }
        }
        Ok(settle(value, start, out))
    }
}

/// A UUID: 32 hex digits, with or without hyphens. The server shows them in lower case and with hyphens.
pub(super) fn keep_uuid(value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'static>> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    let start = out.len();
    let hyphened = value.len() == 36 && HYPHENS.iter().all(|at| value[*at] == b'-');
    let digits = || {
        let all = value.iter().enumerate();
        all.filter(|(at, _)| !(hyphened && HYPHENS.contains(at))).map(|(_, byte)| byte)
    };
    if digits().count() != 32 || !digits().all(u8::is_ascii_hexdigit) {
        return Err((Code::Type, "a UUID"));
    }
    for digit in digits() {
        if HYPHENS.contains(&(out.len() - start)) {
            out.push(b'-');
        }
        out.push(digit.to_ascii_lowercase());
    }
    Ok(settle(value, start, out))
}

pub(super) fn keep_inet4(value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'static>> {
    let address: Ipv4Addr = parsed(value).ok_or((Code::Type, "an IPv4 address"))?;
    let start = out.len();
    out.extend_from_slice(address.to_string().as_bytes());
    Ok(settle(value, start, out))
}

pub(super) fn keep_inet6(value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'static>> {
    let address: Ipv6Addr = parsed(value).ok_or((Code::Type, "an IPv6 address"))?;
    let start = out.len();
    // Writing to memory doesn't fail.
    let _ = write_inet6(&address, out);
    Ok(settle(value, start, out))
}

/// Writes an address as the server does. Other than RFC 5952 has it, a single zero is left out too, and addresses that only end in
/// those of IPv4 (`::1.2.3.4`) look like them.
fn write_inet6(address: &Ipv6Addr, out: &mut Vec<u8>) -> std::io::Result<()> {
    let words = address.segments();
    // The first of the longest runs of zeros.
    let (mut gap, mut gap_len) = (words.len(), 0);
    for start in 0..words.len() {
        let zeros = words[start..].iter().take_while(|word| **word == 0).count();
        if zeros > gap_len {
            (gap, gap_len) = (start, zeros);
        }
    }
    if gap == 0 && (gap_len == 6 || (gap_len == 5 && words[5] == 0xffff)) {
        let [.., a, b, c, d] = address.octets();
        let prefix = if gap_len == 5 { "::ffff:" } else { "::" };
        return write!(out, "{prefix}{a}.{b}.{c}.{d}");
    }
    for (at, word) in words.iter().enumerate() {
        if at == gap {
            out.extend_from_slice(b"::");
        }
        if (gap..gap + gap_len).contains(&at) {
            continue;
        }
        if at > 0 && at != gap + gap_len {
            out.push(b':');
        }
        write!(out, "{word:x}")?;
    }
    Ok(())
}

fn parsed<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
