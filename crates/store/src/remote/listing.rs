//! Listings of stores, without names that can't be asked for: the client of stores gives none of a page that has one.
//!
//! A listing is XML: `<Contents><Key>NAME</Key>...</Contents>` and `<CommonPrefixes><Prefix>NAME/</Prefix></CommonPrefixes>` of S3 and
//! Google, `<Blob><Name>NAME</Name>...</Blob>` and `<BlobPrefix><Name>NAME/</Name></BlobPrefix>` of Azure.

use std::borrow::Cow;

use object_store::path::Path;

/// Elements of a listing: what each is called, and which of its elements names it.
const ELEMENTS: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];

/// Elements that are objects; the others are folders.
const OBJECTS: [&str; 2] = ["Contents", "Blob"];

/// Whether a request is one for a listing.
pub(super) fn is_one(request: &http::Uri) -> bool {
    let mut pairs = request.query().unwrap_or_default().split('&');
    pairs.any(|pair| pair == "list-type=2" || pair == "comp=list")
}

/// The listing without what can't be asked for. `left_out` takes the names of those that are objects, but for what consoles make of a
/// folder's name.
pub(super) fn readable(xml: &str, left_out: &mut Vec<String>) -> String {
    let mut out = String::new();
    let mut rest = xml;
    while let Some((at, element, name)) = next(rest) {
        let end_tag = format!("</{element}>");
        let Some(end) = rest[at..].find(&end_tag).map(|end| at + end + end_tag.len()) else {
            break;
        };
        let key = text_of(&rest[at..end], name);
        let is_object = OBJECTS.contains(&element);
        let shown = if is_object { key.as_ref() } else { key.strip_suffix('/').unwrap_or(&key) };
        // What is asked for by another name is another object.
        let is_readable = Path::parse(shown).is_ok_and(|path| path.as_ref() == shown);
        out.push_str(&rest[..at]);
        if is_readable {
            out.push_str(&rest[at..end]);
        } else if is_object && !key.ends_with('/') {
            left_out.push(key.into_owned());
        }
        rest = &rest[end..];
    }
    out + rest
}

/// Where the next element begins, and what it is.
fn next(xml: &str) -> Option<(usize, &'static str, &'static str)> {
    let starts = xml.match_indices('<');
    starts
        .filter_map(|(at, _)| {
            let tag = &xml[at + 1..];
            let is_it = |(element, _): &&(&str, &str)| {
                tag.strip_prefix(element).is_some_and(|rest| rest.starts_with('>'))
            };
            ELEMENTS.iter().find(is_it).map(|(element, name)| (at, *element, *name))
        })
        .next()
}

/// The text of the first element of this name.
fn text_of<'a>(xml: &'a str, name: &str) -> Cow<'a, str> {
    let text = xml.split_once(&format!("<{name}>")).map_or("", |(_, rest)| rest);
    let text = text.split_once('<').map_or(text, |(text, _)| text);
    match text.contains('&') {
        true => Cow::Owned(unescaped(text)),
        false => Cow::Borrowed(text),
    }
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').unwrap_or((part, ""));
        let number = entity.strip_prefix('#').and_then(|number| {
            let hexadecimal =
                number.strip_prefix('x').map(|digits| u32::from_str_radix(digits, 16));
            hexadecimal.unwrap_or_else(|| number.parse()).ok().and_then(char::from_u32)
        });
        out.extend(match entity {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number,
        });
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_asked_for_are_left_out() {
        let object = |key: &str| format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>");
        let folder = |key: &str| format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>");
        let whole = |parts: &[String]| {
            let parts = parts.concat();
            format!(
                "<ListBucketResult><Prefix>odd/</Prefix>{parts}<KeyCount>9</KeyCount></ListBucketResult>"
            )
        };
        let listed = whole(&[
            object("a.csv"),
            object("odd//dbl.csv"),
            object("odd/a&amp;b.csv"),
            object("/lead.csv"),
            object("x/./b.csv"),
            object("tab&#x9;.csv"),
            object("marker/"),
            folder("odd//"),
            folder("odd/"),
        ]);
        let mut left_out = Vec::new();
        let kept = readable(&listed, &mut left_out);
        assert_eq!(kept, whole(&[object("a.csv"), object("odd/a&amp;b.csv"), folder("odd/")]));
        assert_eq!(left_out, ["odd//dbl.csv", "/lead.csv", "x/./b.csv", "tab\t.csv"]);
    }

    #[test]
    fn listings_of_azure_are_read_the_same() {
        let listed = "<EnumerationResults><Blobs><Blob><Name>a//b.csv</Name></Blob><Blob><Name>c.csv</Name></Blob>\
                      <BlobPrefix><Name>a//</Name></BlobPrefix></Blobs><NextMarker/></EnumerationResults>";
        let mut left_out = Vec::new();
        let kept = readable(listed, &mut left_out);
        let expected = "<EnumerationResults><Blobs><Blob><Name>c.csv</Name></Blob></Blobs><NextMarker/></EnumerationResults>";
        assert_eq!((kept.as_str(), left_out), (expected, vec!["a//b.csv".to_owned()]));
    }

    #[test]
    fn a_listing_is_told_by_its_request() {
        let is_one = |uri: &str| super::is_one(&uri.parse().unwrap());
        assert!(is_one("http://h/b?list-type=2&prefix=x") && is_one("http://h/b?comp=list"));
        assert!(!is_one("http://h/b/list-type=2") && !is_one("http://h/b?prefix=list-type=2"));
    }
}
