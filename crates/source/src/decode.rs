//! Character encodings: whatever comes in, UTF-8 goes out.

use std::io::{self, Read};

use encoding_rs::{DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use inrush_core::error::{Error, Result, shorten};
use inrush_core::wording::shell_word;

/// The encoding of an input that begins so, where `label` is what the user says. A byte order mark decides: UTF-8's whatever is said, for
/// bad rows of an input in another encoding come back with one; UTF-16's, where no other encoding is said.
///
/// # Errors
/// When the label is no encoding, or another one than the mark's; and when it is UTF-16, and the input is UTF-8.
pub(crate) fn choose(name: &str, label: Option<&str>, head: &[u8]) -> Result<&'static Encoding> {
    let Some(label) = label else { return Ok(detect(head).unwrap_or(UTF_8)) };
    let said = by_label(label)?;
    let of_any_order = said == UTF_16LE && !label.trim().eq_ignore_ascii_case("utf-16le");
    match Encoding::for_bom(head) {
        Some((marked, _)) if marked == UTF_8 || marked == said || of_any_order => Ok(marked),
        Some((marked, _)) => {
            let marked = marked.name();
            Err(Error::source(format!(
                "{name} begins with the byte order mark of {marked}, and --encoding says {label}"
            ))
            .about(name)
            .advise("leave --encoding out: the mark says what it is"))
        }
        // As UTF-16 it would be one record of Chinese letters, which has no row.
        None if is_utf16(said) && !head.is_empty() && !head.contains(&0) && is_in_utf8(head) => {
            Err(Error::source(format!("{name} is text in UTF-8, and --encoding says {label}"))
                .about(name)
                .advise("leave --encoding out"))
        }
        None if of_any_order => Ok(detect(head).unwrap_or(said)),
        None => Ok(said),
    }
}

/// Whether an input that begins so may be text, where `label` is the encoding that the user says. UTF-16 shows by its zeros, and of any
/// other encoding that is said every byte may be a character.
pub(crate) fn may_be_text(head: &[u8], label: Option<&str>) -> bool {
    let said = label.and_then(|label| by_label(label).ok());
    said.is_some_and(|said| !is_utf8(said))
        || detect(head).is_some_and(is_utf16)
        || is_in_utf8(head)
}

/// Whether an input's first bytes are UTF-8; a character may be cut off at their end.
fn is_in_utf8(head: &[u8]) -> bool {
    str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// What to know of an input that is to be read in another encoding, and whose first bytes beyond ASCII are all characters of UTF-8, which
/// those of other encodings hardly ever are: an encoding of single bytes makes two or three letters of each.
pub(crate) fn doubt(name: &str, head: &[u8], encoding: &'static Encoding) -> Option<String> {
    let at = head.iter().position(|byte| !byte.is_ascii())?;
    if is_utf8(encoding) || is_utf16(encoding) || !is_in_utf8(head) {
        return None;
    }
    let is_of_word = |byte: &u8| !byte.is_ascii() || byte.is_ascii_alphanumeric();
    let before = head[..at].iter().rev().take_while(|byte| is_of_word(byte)).count();
    let behind = head[at..].iter().take_while(|byte| is_of_word(byte)).count();
    let word = &head[at - before..at + behind];
    let (made, _) = encoding.decode_without_bom_handling(word);
    Some(format!(
        "{name} seems to be UTF-8: --encoding makes {} of {} (leave it out if that is wrong)",
        shorten(made.as_bytes()),
        shorten(word)
    ))
}

/// What to know of a text that was read in another encoding than UTF-8, and has control characters beyond ASCII: no text is written with
/// them, and an encoding that has none for a byte makes one of it.
pub(crate) fn controls(name: &str, text: &[u8], encoding: &'static Encoding) -> Option<String> {
    if is_utf8(encoding) || is_utf16(encoding) {
        return None;
    }
    let is_control = |two: &[u8]| two[0] == 0xc2 && (0x80..0xa0).contains(&two[1]);
    let at = text.windows(2).position(is_control)?;
    let is_of_word = |byte: &u8| !byte.is_ascii() || byte.is_ascii_alphanumeric();
    let before = text[..at].iter().rev().take_while(|byte| is_of_word(byte)).count();
    let behind = text[at..].iter().take_while(|byte| is_of_word(byte)).count();
    Some(format!(
        "{name} seems to be in another encoding: {} makes the control character U+00{:02X} of a letter in {} (what DOS writes in Western \
         Europe is CP850: iconv -f CP850 -t UTF-8 converts it)",
        encoding.name(),
        text[at + 1],
        shorten(&text[at - before..at + behind])
    ))
}

/// The encoding that an input's first bytes show: a byte order mark, or the pattern of zeros that ASCII leaves in UTF-16.
pub fn detect(head: &[u8]) -> Option<&'static Encoding> {
    if has_mark_of_utf32(head) {
        return None;
    }
    if let Some((marked, _)) = Encoding::for_bom(head) {
        return Some(marked);
    }
    let head = &head[..head.len().min(4096) & !1];
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    // Latin text is at least half ASCII, and hardly any other character has a zero where ASCII has its letter; other binary
    // data has its zeros on both sides.
    let half = head.len() / 4;
    let one_sided = |many: usize, few: usize| many > 0 && many >= half && few * 8 <= many;
    if one_sided(odd, even) || even == 0 && ends_lines(head, [b'\n', 0]) {
        Some(UTF_16LE)
    } else if one_sided(even, odd) || odd == 0 && ends_lines(head, [0, b'\n']) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether lines end in this unit, and none in a newline of one byte. In other scripts than Latin a line may have no other
/// zeros than those beside delimiters and its end.
fn ends_lines(head: &[u8], newline: [u8; 2]) -> bool {
    let lines = head.chunks_exact(2).filter(|unit| *unit == newline).count();
    lines > 1 && memchr::memchr_iter(b'\n', head).count() == lines
}

fn has_mark_of_utf32(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff")
}

/// Whether it begins with the mark of UTF-32, or three of four bytes are zeros, always the same three: ASCII in UTF-32.
pub fn is_utf32(head: &[u8]) -> bool {
    if has_mark_of_utf32(head) {
        return true;
    }
    let head = &head[..head.len().min(4096) & !3];
    let zeros = |at: usize| head.iter().skip(at).step_by(4).filter(|b| **b == 0).count();
    let [first, second, third, last] = [0, 1, 2, 3].map(zeros);
    let all = head.len() / 4;
    let mostly = |zeros: usize| zeros * 10 > all * 9;
    all >= 2
        && (third == all && last == all && mostly(second)
            || first == all && second == all && mostly(third))
        && (first < all || last < all)
}

/// What other programs call UTF-8, and a part of it: the WHATWG standard has windows-1252 for ASCII, in which any byte is a letter.
const UTF_8_ELSEWHERE: [&str; 6] =
    ["ascii", "us-ascii", "ansi-x3.4-1968", "utf-8-sig", "utf8-sig", "utf8mb4"];

/// The encoding with this label in the WHATWG encoding standard (`latin1` is windows-1252 there, as in browsers and MySQL), ASCII aside.
pub fn by_label(label: &str) -> Result<&'static Encoding> {
    if UTF_8_ELSEWHERE.contains(&&*label.trim().to_ascii_lowercase().replace('_', "-")) {
        return Ok(UTF_8);
    }
    // Python writes latin-1 and euc_jp.
    let label_of = |spelling: &str| Encoding::for_label_no_replacement(spelling.as_bytes());
    let plain = label.trim();
    let found = label_of(plain)
        .or_else(|| label_of(&plain.replace('_', "-")))
        .or_else(|| label_of(&plain.replace(['_', '-'], "")));
    found.ok_or_else(|| {
        Error::usage(format!("'{label}' is no encoding that is read"))
            .advise("say utf-8, utf-16, latin1, or another label of the WHATWG encoding standard")
            .advise(format!(
                "or convert it first, if iconv -l has it: iconv -f {} -t UTF-8 FILE > UTF8.csv",
                shell_word(label)
            ))
    })
}

/// Reads UTF-8 out of another encoding. A sequence that is malformed there becomes the byte 0xFF, which is valid nowhere in
/// UTF-8: so the row it stands in is a bad row, instead of quietly holding a replacement character.
pub struct Decoder<R> {
    input: R,
    decoder: encoding_rs::Decoder,
    raw: Vec<u8>,
    raw_at: usize,
    raw_end: usize,
    ended: bool,
    text: Vec<u8>,
    text_at: usize,
}

const RAW_BYTES: usize = 64 << 10;

impl<R: Read> Decoder<R> {
    /// A reader of UTF-8 over one of `encoding`.
    pub fn new(input: R, encoding: &'static Encoding) -> Self {
        Self {
            input,
            // A byte order mark passes through, as U+FEFF; who reads the first line takes it off, whatever the encoding.
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: vec![0; RAW_BYTES],
            raw_at: 0,
            raw_end: 0,
            ended: false,
            text: Vec::new(),
            text_at: 0,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.text_at = 0;
        while self.text.is_empty() && !self.ended {
            if self.raw_at == self.raw_end {
                self.raw_at = 0;
                self.raw_end = self.input.read(&mut self.raw)?;
                self.ended = self.raw_end == 0;
            }
            let from = &self.raw[self.raw_at..self.raw_end];
            // Every encoding's unit of one byte makes at most three bytes of UTF-8.
            self.text.resize(from.len() * 3 + 16, 0);
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(from, &mut self.text, self.ended);
            self.raw_at += read;
            self.text.truncate(written);
            match result {
                DecoderResult::InputEmpty => {}
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    self.text.push(0xff);
                    // More input may follow in the buffer: the end is seen again after it.
                    self.ended = false;
                }
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.text_at == self.text.len() {
            self.refill()?;
        }
        let ready = &self.text[self.text_at..];
        let len = ready.len().min(out.len());
        out[..len].copy_from_slice(&ready[..len]);
        self.text_at += len;
        Ok(len)
    }
}

/// Whether bytes in this encoding are UTF-8 already.
pub fn is_utf8(encoding: &'static Encoding) -> bool {
    encoding == UTF_8
}

/// Whether ASCII has two bytes a character in it, one of them zero.
pub(crate) fn is_utf16(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// What a text's bytes beyond ASCII are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BeyondAscii {
    /// Those of characters of UTF-8.
    in_utf8: usize,
    /// The others; what is cut off at the end may be of either.
    malformed: usize,
    /// Those that stand side by side as in words of other letters than Latin ones.
    in_words: usize,
    /// Malformed ones that hardly stand in a text of Western Europe.
    unused: usize,
}

impl BeyondAscii {
    /// What they are in this text.
    pub fn of(text: &[u8]) -> Self {
        let mut seen = Self::default();
        for chunk in text.utf8_chunks() {
            seen.in_utf8 += chunk.valid().bytes().filter(|byte| !byte.is_ascii()).count();
            seen.malformed += chunk.invalid().len();
            seen.unused += chunk.invalid().iter().filter(|byte| UNUSED.contains(byte)).count();
        }
        let runs = text.split(u8::is_ascii).map(<[u8]>::len);
        seen.in_words = runs.filter(|length| *length >= WORD_MIN).sum();
        seen
    }

    /// What they are in an input that begins with a text of these, and has another text somewhere. That may stand in the beginning as
    /// well, and then is counted already.
    pub fn with(self, elsewhere: Self) -> Self {
        if self.malformed > 0 {
            return self;
        }
        Self {
            in_utf8: self.in_utf8 + elsewhere.in_utf8,
            malformed: elsewhere.malformed,
            in_words: self.in_words + elsewhere.in_words,
            unused: elsewhere.unused,
        }
    }

    /// What to say of the encoding, where some are not of UTF-8. Where they stand alone or in twos, have nothing of UTF-8, and windows-1252
    /// has letters or signs for all, it is what Excel writes in Western Europe; where most of them make up words, it is another one, of
    /// which only who reads the values can tell. Where it may as well be UTF-8 with a fault in it, nothing.
    pub fn words(self) -> Option<&'static str> {
        let Self { in_utf8, malformed, in_words, unused } = self;
        if malformed == 0 {
            return None;
        }
        if 2 * in_words > in_utf8 + malformed && malformed >= in_utf8 {
            return Some(
                "it seems to be in another encoding, such as windows-1251 or iso-8859-7: say which with --encoding, and look at the values",
            );
        }
        (in_utf8 == 0 && unused == 0).then_some(
            "if it is what Excel writes in Western Europe, --encoding windows-1252 reads it",
        )
    }

    /// Whether some are not of UTF-8, and none are.
    pub fn is_of_another(self) -> bool {
        self.malformed > 0 && !self.has_utf8()
    }

    /// Whether some are characters of UTF-8, which those of another encoding hardly ever are.
    pub fn has_utf8(self) -> bool {
        self.in_utf8 > 0
    }
}

/// Bytes that are nothing in windows-1252, or signs that hardly stand in a text: a florin, and accents by themselves.
const UNUSED: [u8; 8] = [0x81, 0x83, 0x88, 0x8d, 0x8f, 0x90, 0x98, 0x9d];

/// So many letters beyond ASCII in a row hardly stand in words of Latin letters.
const WORD_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], encoding: &'static Encoding) -> Vec<u8> {
        let mut out = Vec::new();
        Decoder::new(bytes, encoding).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn utf16_and_latin1_become_utf8() {
        let text = "id,name\n1,Zo\u{eb} \u{1f600}\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&le, UTF_16LE), text.as_bytes());
        assert_eq!(decode(&be, UTF_16BE), text.as_bytes());
        assert_eq!(detect(&le), Some(UTF_16LE));
        assert_eq!(detect(&be), Some(UTF_16BE));
        assert_eq!(detect(text.as_bytes()), None);
        assert_eq!(
            decode(b"Zo\xeb \x80", by_label("latin1").unwrap()),
            "Zo\u{eb} \u{20ac}".as_bytes()
        );
    }

    #[test]
    fn other_scripts_in_utf16_are_known_by_the_ends_of_their_lines() {
        let text = "\u{418}\u{43c}\u{44f}\t\u{426}\u{435}\u{43d}\u{430}\r\n\u{410}\u{43d}\u{43d}\u{430}\t\u{434}\u{430}\r\n".repeat(9);
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(detect(&le), Some(UTF_16LE));
        assert_eq!(detect(&be), Some(UTF_16BE));
        // Stray zeros in UTF-8, and no zero at all.
        for text in ["a,b\n1,\0\n", "a,b\n\n\0,2\n", "\u{418}\n\u{43c}\n"] {
            assert_eq!(detect(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn utf32_is_known_by_its_mark_or_its_zeros() {
        let text = "id,name\n1,Zo\u{eb} \u{20ac}\n".repeat(5);
        let le: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let be: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        for bytes in [&le, &be] {
            assert!(is_utf32(bytes));
            assert_eq!(detect(bytes), None);
        }
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [text.as_bytes(), &utf16, &[0; 64], b"", b"a\0\0\0"] {
            assert!(!is_utf32(bytes));
        }
        assert_eq!(detect(b"\xff\xfe\0\0a\0\0\0"), None);
        assert!(is_utf32(b"\xff\xfe\0\0a\0\0\0"));
    }

    #[test]
    fn a_mark_decides_what_utf16_is_and_contradicts_what_it_is_not() {
        let text = "id,name\n1,Zoe\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [[&b"\xff\xfe"[..], &le].concat(), [&b"\xfe\xff"[..], &be].concat()];
        let with_utf8 = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        for (label, wanted) in [
            ("utf-16", [Some(UTF_16LE), Some(UTF_16BE)]),
            ("UCS-2", [Some(UTF_16LE), Some(UTF_16BE)]),
            (" UTF-16le ", [Some(UTF_16LE), None]),
            ("utf-16be", [None, Some(UTF_16BE)]),
            ("utf-8", [None, None]),
            ("latin1", [None, None]),
        ] {
            let chosen = marked.each_ref().map(|head| choose("a", Some(label), head).ok());
            assert_eq!(chosen, wanted, "{label}");
            assert_eq!(choose("a", Some(label), &with_utf8).unwrap(), UTF_8, "{label}");
        }
        // Text in UTF-8 has no zeros, and is no UTF-16.
        for label in ["utf-16", "utf-16le", "utf-16be"] {
            for head in ["id,name\n1,Zoe\n", "id,name\n1,Zo\u{eb}\n"] {
                let error = choose("a", Some(label), head.as_bytes()).unwrap_err();
                assert!(error.what().contains("a is text in UTF-8"), "{label}: {}", error.what());
            }
            assert!(choose("a", Some(label), b"").is_ok(), "{label}");
        }
        // Without a mark, the zeros tell the order.
        for (head, wanted) in [(&le, UTF_16LE), (&be, UTF_16BE)] {
            assert_eq!(choose("a", Some("utf-16"), head).unwrap(), wanted);
        }
        for label in ["ascii", "US-ASCII", "utf_8_sig", "utf-8"] {
            assert_eq!(by_label(label).unwrap(), UTF_8, "{label}");
        }
        for label in ["latin-1", "latin_1", "iso8859_1", "cp_1252"] {
            assert_eq!(by_label(label).unwrap().name(), "windows-1252", "{label}");
        }
        assert!(by_label("cp850").is_err());
    }

    #[test]
    fn control_characters_beyond_ascii_are_of_another_encoding() {
        let of = |bytes: &[u8], label: &str| {
            let encoding = by_label(label).unwrap();
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            controls("a", text.as_bytes(), encoding)
        };
        let told = of(b"id,name\n1,M\x81ller\n", "latin1").unwrap();
        assert!(told.contains("windows-1252 makes the control character U+0081"), "{told}");
        assert!(of(b"1,\x9acek\n", "latin2").is_some_and(|told| told.contains("U+009A")));
        assert_eq!(of(b"1,M\xfcller \x80\n", "latin1"), None);
        assert_eq!(controls("a", "1,M\u{81}ller".as_bytes(), UTF_8), None);
    }

    #[test]
    fn what_is_utf8_is_doubted_in_another_encoding() {
        let of = |text: &[u8], label: &str| doubt("a", text, by_label(label).unwrap());
        let note = of("1,fine K\u{e4}se\n".as_bytes(), "latin1").unwrap();
        assert!(note.contains("makes 'K\u{c3}\u{a4}se' of 'K\u{e4}se'"), "{note}");
        // Cut off within a character.
        assert!(of(b"K\xc3\xa4se, M\xc3", "shift_jis").is_some());
        for (text, label) in [
            (&b"K\xe4se"[..], "latin1"),
            (b"K\xc3\xa4se, K\xe4se", "latin1"),
            (b"plain", "latin1"),
            ("K\u{e4}se".as_bytes(), "utf-8"),
            (b"\x83e\x83X\x83g", "shift_jis"),
        ] {
            assert_eq!(of(text, label), None, "{text:?}");
        }
    }

    #[test]
    fn a_text_elsewhere_is_judged_by_the_beginning() {
        let beyond = BeyondAscii::of;
        let words = |head: &[u8], row: &[u8]| beyond(head).with(beyond(row)).words();
        let row = b"3,M\xfcller";
        assert!(words(b"plain", row).is_some_and(|words| words.contains("windows-1252")));
        assert_eq!(words(b"1,M\xc3\xbcller", row), None);
        assert_eq!(words(b"1,M\xc3\xbcller\n3,M\xfcller", row), None);
    }

    #[test]
    fn long_inputs_cross_buffers_unharmed() {
        let text = "\u{20ac}\u{1f600}x\n".repeat(50_000);
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&le, UTF_16LE), text.as_bytes());
    }

    #[test]
    fn malformed_input_is_marked_not_replaced() {
        // A lone surrogate, good text, and half a unit at the end.
        let mut le: Vec<u8> = vec![0x00, 0xd8];
        le.extend("ab".encode_utf16().flat_map(u16::to_le_bytes));
        le.push(b'c');
        let out = decode(&le, UTF_16LE);
        assert_eq!(out.iter().filter(|b| **b == 0xff).count(), 2, "{out:?}");
        assert!(out.windows(2).any(|w| w == b"ab"));
    }

    #[test]
    fn letters_among_ascii_are_of_western_europe_and_words_of_others_of_elsewhere() {
        for (text, wanted) in [
            (&b"a;M\xfcller;\x80 5"[..], Some("windows-1252")),
            (b"Fu\xdfg\xe4nger\xfc\xdfe", Some("windows-1252")),
            (b"1,\xcf\xf0\xe8\xe2\xe5\xf2", Some("windows-1251")),
            // "Привет" of DOS, half of which is UTF-8 by accident.
            (b"1,\x8f\xe0\xa8\xa2\xa5\xe2", Some("windows-1251")),
            ("a;M\u{fc}ller".as_bytes(), None),
            ("\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}".as_bytes(), None),
            (b"M\xfcller and \xc3\xbc", None),
            (b"\x81", None),
            // Japanese.
            (b"1,\x83e\x83X\x83g", None),
            (b"plain", None),
            (b"", None),
        ] {
            let said = BeyondAscii::of(text).words();
            assert_eq!(said.is_some(), wanted.is_some(), "{text:?}: {said:?}");
            assert!(said.zip(wanted).is_none_or(|(said, name)| said.contains(name)), "{said:?}");
        }
    }
}
