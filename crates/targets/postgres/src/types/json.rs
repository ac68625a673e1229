//! Documents for `jsonb`, which takes them apart: what it would lose, and what it doesn't take.

use std::borrow::Cow;

use inrush_core::value::digits::Digits;

use super::numeric::Numerics;

/// An object or an array that isn't closed yet.
struct Open {
    is_object: bool,
    /// Where its own keys start among all.
    keys: usize,
}

/// Whether `jsonb` keeps all of a JSON document: no key comes twice in an object, each escape is a character, each number is one
/// that `numeric` holds. <https://www.postgresql.org/docs/current/datatype-json.html>
pub(super) fn is_kept(document: &[u8]) -> bool {
    let mut open: Vec<Open> = Vec::new();
    let mut keys: Vec<Cow<'_, [u8]>> = Vec::new();
    let mut wants_key = false;
    let mut at = 0;
    while let Some(byte) = document.get(at) {
        let rest = &document[at..];
        let mut len = 1;
        match byte {
            b'{' | b'[' => {
                open.push(Open { is_object: *byte == b'{', keys: keys.len() });
                wants_key = *byte == b'{';
            }
            b'}' | b']' => {
                let Some(closed) = open.pop() else { return false };
                if has_twins(&mut keys[closed.keys..]) {
                    return false;
                }
                keys.truncate(closed.keys);
                wants_key = false;
            }
            b',' => wants_key = open.last().is_some_and(|open| open.is_object),
            b'"' => {
                let Some((text, end)) = string(&rest[1..]) else { return false };
                if wants_key {
                    keys.push(text);
                    wants_key = false;
                }
                len = end + 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part =
                    |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                len = rest.iter().take_while(is_part).count();
                let number = Digits::parse(&rest[..len]);
                let fits = |number: Digits<'_>| {
                    Numerics::ANY.scale(&number, number.significant()).is_some()
                };
                if !number.is_some_and(fits) {
                    return false;
                }
            }
            _ => {}
        }
        at += len;
    }
    true
}

fn has_twins(keys: &mut [Cow<'_, [u8]>]) -> bool {
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

/// The text of a string behind its first quote, and the length up to and with the last. `None` where an escape is no character.
fn string(b: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let mut at = memchr::memchr2(b'"', b'\\', b)?;
    if b[at] == b'"' {
        return Some((Cow::Borrowed(&b[..at]), at + 1));
    }
    let mut text = b[..at].to_vec();
    loop {
        let (character, len) = match b.get(at..)? {
            [b'"', ..] => return Some((Cow::Owned(text), at + 1)),
            [b'\\', b'u', rest @ ..] => {
                let (character, len) = unicode(rest)?;
                (character, len + 2)
            }
            [b'\\', b'b', ..] => ('\u{8}', 2),
            [b'\\', b'f', ..] => ('\u{c}', 2),
            [b'\\', b'n', ..] => ('\n', 2),
            [b'\\', b'r', ..] => ('\r', 2),
            [b'\\', b't', ..] => ('\t', 2),
            [b'\\', byte, ..] => (char::from(*byte), 2),
            rest => {
                let len = memchr::memchr2(b'"', b'\\', rest)?;
                text.extend_from_slice(&rest[..len]);
                at += len;
                continue;
            }
        };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at += len;
    }
}

/// The character that hexadecimal digits stand for, of which a second escape may have the other half. `None` for half a character,
/// and for NUL, which no text of the server's has.
fn unicode(b: &[u8]) -> Option<(char, usize)> {
    let unit = |b: &[u8]| {
        let digits = std::str::from_utf8(b.get(..4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(b)?;
    let second = b.get(4..6).filter(|between| between == b"\\u").and_then(|_| unit(&b[6..]));
    let mut characters = char::decode_utf16([first].into_iter().chain(second));
    let character = characters.next()?.ok().filter(|character| *character != '\0')?;
    Some((character, if character.len_utf16() == 2 { 10 } else { 4 }))
}
