//! Files of web servers (RFC 9110).

use std::io;

use base64::Engine as _;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    ETAG, HeaderName, IF_MATCH, LAST_MODIFIED, LOCATION, RANGE, RETRY_AFTER, TRANSFER_ENCODING,
};
use http::{Method, Request, Response, StatusCode};
use inrush_core::error::{Error, without_secrets};
use percent_encoding::percent_decode_str;
use ureq::Body;
use url::{Origin, Url};

use super::client::{CONNECT_MAX, exchange};
use super::trouble::{Again, Trouble};
use super::{Address, Answer, Version, Wanted, charset, packed};
use crate::stored::Fault;

/// Redirects that are followed one after the other.
const REDIRECTS_MAX: usize = 10;

/// A file of a web server.
pub(super) struct Web {
    /// With neither user name nor password.
    url: Url,
    authorization: Option<String>,
}

impl Web {
    pub(super) fn of(source: &str) -> Result<Self, Error> {
        let wrong = |why: String| {
            Error::usage(format!("'{}' is no URL: {why}", without_secrets(source)))
                .advise("write https://HOST/PATH")
        };
        let mut url = Url::parse(source).map_err(|error| wrong(error.to_string()))?;
        let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let (user, password) = (decoded(url.username()), url.password().map(decoded));
        let authorization = (!user.is_empty() || password.is_some()).then(|| {
            let pair = format!("{user}:{}", password.unwrap_or_default());
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
        });
        url.set_fragment(None);
        url.set_username("").map_err(|()| wrong("it has no host".to_owned()))?;
        url.set_password(None).map_err(|()| wrong("it has no host".to_owned()))?;
        Ok(Self { url, authorization })
    }

    /// The answer to a request, wherever it comes from.
    fn ask(
        &self,
        method: &Method,
        headers: &[(HeaderName, String)],
    ) -> Result<Response<Body>, Trouble> {
        let mut url = self.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let mut request = Request::builder()
                .method(method.clone())
                .uri(url.as_str())
                // Bytes as they are stored: what is compressed is told by its content.
                .header(ACCEPT_ENCODING, "identity");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            if let Some(authorization) = &self.authorization
                && keeps_secrets(&self.url, &url)
            {
                request = request.header(AUTHORIZATION, authorization);
            }
            let request = request.body(()).map_err(|error| {
                Trouble::never(Fault::new(format!("cannot ask for {}: {error}", shown(&url))))
            })?;
            let answer = exchange(request, CONNECT_MAX).map_err(|trouble| self.named(trouble))?;
            let is_redirect = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            let Some(to) = answer.headers().get(LOCATION).filter(|_| is_redirect) else {
                return Ok(answer);
            };
            let to = to.to_str().ok().and_then(|to| url.join(to).ok());
            let to = to.ok_or_else(|| {
                self.refused("redirects to what is no URL", "fetch it with a browser")
            })?;
            self.step(&url, &to)?;
            url = to;
            url.set_fragment(None);
        }
        Err(self.refused("redirects on and on", "look at it in a browser"))
    }

    /// Refuses a redirect that leaves the origin, other than from http to https. Where another server sends us the user says: it may be
    /// one that only this machine can reach.
    fn step(&self, from: &Url, to: &Url) -> Result<(), Trouble> {
        let advice = match to.query() {
            None => format!("name {} itself, if it is the one that is meant", shown(to)),
            // It may be a signature, which is a secret, and without which the address leads nowhere.
            Some(_) => format!(
                "name {} itself, with its query, which is left out here: curl -sI {} shows it",
                shown(to),
                self.name()
            ),
        };
        match (from.scheme(), to.scheme()) {
            (_, "http" | "https") if is_same_origin(from, to) => Ok(()),
            ("http", "https") if from.host() == to.host() => Ok(()),
            ("https", "http") => {
                Err(self.refused("redirects from https to http, which is not followed", &advice))
            }
            (_, "http" | "https") => {
                let what = format!("redirects to {}, another server: not followed", shown(to));
                Err(self.refused(&what, &advice))
            }
            (_, scheme) => {
                let what = format!("redirects to {scheme}:, which is not followed");
                Err(self.refused(&what, "fetch it with a browser"))
            }
        }
    }

    fn refused(&self, what: &str, advice: &str) -> Trouble {
        Trouble::never(Fault::new(format!("{}: the server {what}", self.name())).advise(advice))
    }

    fn named(&self, mut trouble: Trouble) -> Trouble {
        trouble.fault.what = format!("{}: {}", self.name(), trouble.fault.what);
        trouble
    }

    /// What an answer without the file means.
    fn no_file(&self, answer: &Response<Body>) -> Trouble {
        let status = answer.status();
        let (what, advice, again) = match status.as_u16() {
            401 => (
                "wants a user name and a password",
                "write https://USER:PASSWORD@HOST/PATH",
                Again::Never,
            ),
            403 => (
                "refuses the file",
                "check the address, and whether a signature in it has expired",
                Again::Never,
            ),
            404 | 410 => ("has no such file", "check the spelling of the address", Again::Never),
            501 => (
                "does not do what giving the file takes",
                "fetch it with curl, and load that file",
                Again::Never,
            ),
            408 | 429 | 500..=599 => ("cannot give the file now", "try again later", Again::Always),
            _ => ("does not give the file", "look at it in a browser", Again::Never),
        };
        let what = format!("{}: the server {what} ({status})", self.name());
        let wish =
            answer.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        let after = wish.map(std::time::Duration::from_secs);
        Trouble { after, ..Trouble::new(Fault::new(what).advise(advice), again) }
    }

    fn answer(&self, answer: Response<Body>) -> Result<Answer, Trouble> {
        let text = |name: HeaderName| {
            answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let number = |name: HeaderName| text(name).and_then(|value| value.trim().parse().ok());
        let (etag, modified) = (text(ETAG), text(LAST_MODIFIED));
        let range = range_of(&answer);
        let coding = text(CONTENT_ENCODING).and_then(|coding| packed(&coding));
        let sort = text(CONTENT_TYPE).unwrap_or_default();
        let (is_page, charset) = (sort.contains("html"), charset(&sort));
        let is_chunked = text(TRANSFER_ENCODING)
            .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
        let length: Option<u64> = number(CONTENT_LENGTH);
        let version = |bytes| Version { bytes, etag, modified };
        match (answer.status(), range) {
            (StatusCode::OK, _) if length.is_none() && !is_chunked => Err(self.refused(
                "says neither how long the file is nor where it ends: a connection that is cut could not be told from its end",
                "fetch it with curl, and load that file",
            )),
            (StatusCode::OK, _) => Ok(Answer {
                version: version(length),
                from: 0,
                is_part: false,
                is_page,
                coding,
                charset,
                body: Box::new(answer.into_body().into_reader()),
            }),
            (StatusCode::PARTIAL_CONTENT, Some((Some(from), bytes))) => Ok(Answer {
                version: version(bytes),
                from,
                is_part: true,
                is_page,
                coding,
                charset,
                body: Box::new(answer.into_body().into_reader()),
            }),
            (StatusCode::PARTIAL_CONTENT, _) => {
                Err(self.refused("gives a part of the file, and does not say which", "fetch it with curl, and load that file"))
            }
            // Of an empty file no part can be had.
            (StatusCode::RANGE_NOT_SATISFIABLE, Some((None, Some(0)))) => Ok(Answer {
                version: version(Some(0)),
                from: 0,
                is_part: true,
                is_page: false,
                coding: None,
                charset: None,
                body: Box::new(io::empty()),
            }),
            (StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PRECONDITION_FAILED, _) => {
                Err(Trouble::never(Fault::changed(&self.name(), None)))
            }
            _ => Err(self.no_file(&answer)),
        }
    }
}

impl Address for Web {
    fn name(&self) -> String {
        shown(&self.url)
    }

    fn file_name(&self) -> String {
        let last = self.url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or("");
        let name = percent_decode_str(last).decode_utf8_lossy().replace(['/', '\\', '\0'], "_");
        match name.is_empty() {
            true => self.url.host_str().unwrap_or_default().to_owned(),
            false => name,
        }
    }

    fn identity(&self) -> String {
        self.url.as_str().to_owned()
    }

    fn get(&self, wanted: &Wanted) -> Result<Answer, Trouble> {
        let mut headers = Vec::new();
        if wanted.from > 0 || wanted.to.is_some() {
            let to = wanted.to.map_or_else(String::new, |to| (to - 1).to_string());
            headers.push((RANGE, format!("bytes={}-{to}", wanted.from)));
        }
        if let Some(etag) = &wanted.etag {
            headers.push((IF_MATCH, etag.clone()));
        }
        let mut answer = self.ask(&Method::GET, &headers)?;
        let has_none = |answer: &Response<Body>| {
            answer.status() == StatusCode::RANGE_NOT_SATISFIABLE
                && range_of(answer) != Some((None, Some(0)))
        };
        // The first bytes of any version: a server that has none of a file that is not empty has no parts of it.
        if wanted.from == 0 && wanted.etag.is_none() && has_none(&answer) {
            answer = self.ask(&Method::GET, &[])?;
            if has_none(&answer) {
                return Err(self.no_file(&answer));
            }
        }
        self.answer(answer)
    }

    fn now(&self, has_parts: bool) -> Option<Version> {
        // A signature may be for GET alone.
        let (method, headers) = match has_parts {
            true => (Method::GET, vec![(RANGE, "bytes=0-0".to_owned())]),
            false => (Method::HEAD, Vec::new()),
        };
        let answer = self.ask(&method, &headers).ok()?;
        // Of what HEAD is answered with nothing follows, whatever length it says.
        self.answer(answer).ok().map(|answer| answer.version)
    }
}

/// A URL as messages show it: a query can hold a password as well.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Without a host there is none of both.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

fn is_same_origin(a: &Url, b: &Url) -> bool {
    let origin = a.origin();
    matches!(origin, Origin::Tuple(..)) && origin == b.origin()
}

/// Whether what is said to one server may be said to the other.
fn keeps_secrets(from: &Url, to: &Url) -> bool {
    is_same_origin(from, to)
        || (from.scheme(), to.scheme()) == ("http", "https") && from.host() == to.host()
}

/// The part that an answer says it is of.
fn range_of(answer: &Response<Body>) -> Option<(Option<u64>, Option<u64>)> {
    part_of(answer.headers().get(CONTENT_RANGE)?.to_str().ok()?)
}

/// Where a part begins, and the length of the whole: `bytes 0-99/1000`, `bytes */0`.
fn part_of(range: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (part, whole) = range.strip_prefix("bytes")?.trim_start().split_once('/')?;
    let from = match part {
        "*" => None,
        part => Some(part.split_once('-')?.0.trim().parse().ok()?),
    };
    Some((from, whole.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        let web =
            Web::of("https://ann:s3cret@example.org:8443/a%20b/c.csv?token=s3cret#s3cret").unwrap();
        assert_eq!(web.name(), "https://example.org:8443/a%20b/c.csv");
        assert_eq!(web.file_name(), "c.csv");
        assert_eq!(Web::of("https://example.org?x").unwrap().file_name(), "example.org");
        let wrong = Web::of("https://ann:s3cret@exa mple.org/").err().unwrap();
        assert!(!format!("{wrong:?}").contains("s3cret"), "{wrong:?}");
    }

    #[test]
    fn redirects_lead_to_no_other_scheme_and_to_no_other_server() {
        let web = Web::of("https://example.org/a.csv").unwrap();
        let step = |from: &str, to: &str| {
            web.step(&Url::parse(from).unwrap(), &Url::parse(to).unwrap())
                .map_err(|trouble| trouble.fault.what)
        };
        assert_eq!(step("https://example.org/a", "https://example.org/b"), Ok(()));
        assert_eq!(step("http://example.org/a", "https://example.org/a"), Ok(()));
        assert_eq!(step("http://127.0.0.1:1/a", "https://127.0.0.1:2/a"), Ok(()));
        assert!(step("http://127.0.0.1:1/a", "http://127.0.0.1:2/a").is_err());
        assert!(step("https://a.org/a", "https://b.org/a").is_err());
        assert!(step("http://a.org/a", "https://b.org/a").is_err());
        assert!(step("https://example.org/a", "http://example.org/a").is_err());
        assert!(step("https://example.org/a", "ftp://example.org/a").is_err());
        assert!(step("http://example.org/a", "file:///etc/passwd").is_err());
    }

    #[test]
    fn parts_are_told_by_their_range() {
        assert_eq!(part_of("bytes 5-9/10"), Some((Some(5), Some(10))));
        assert_eq!(part_of("bytes 5-9/*"), Some((Some(5), None)));
        assert_eq!(part_of("bytes */0"), Some((None, Some(0))));
        assert_eq!(part_of("lines 5-9/10"), None);
    }
}
