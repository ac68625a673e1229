//! Objects of S3, Google Cloud Storage and Azure Blob Storage, by the settings in the environment.

use std::fmt;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use inrush_core::error::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpResponseBody, HttpService,
};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    Attribute, ClientOptions, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _,
    RetryConfig,
};
use tokio::runtime::Runtime;

use super::client::{CONNECT_MAX, exchange};
use super::listing;
use super::settings::{is_yes, settings};
use super::trouble::{Again, Trouble};
use super::{Address, Answer, Remote, Version, Wanted, charset, packed};
use crate::pattern::Pattern;
use crate::stop::Stop;
use crate::stored::Fault;

/// Bytes of a body that are handed on at a time.
const BLOCK_BYTES: usize = 64 << 10;

/// How long a store is asked again after an answer that it is too busy.
const RETRY_MAX: Duration = Duration::from_secs(30);
const RETRIES_MAX: usize = 6;

/// Whose store it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    S3,
    Google,
    Azure,
}

impl Kind {
    fn of(source: &str) -> Option<Self> {
        let (scheme, _) = source.split_once("://")?;
        match scheme.to_ascii_lowercase().as_str() {
            "s3" => Some(Self::S3),
            "gs" => Some(Self::Google),
            "az" => Some(Self::Azure),
            _ => None,
        }
    }

    fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
        }
    }

    /// How the names of its variables begin.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::S3 => "AWS",
            Self::Google => "GOOGLE",
            Self::Azure => "AZURE",
        }
    }

    /// What names the one who asks.
    fn credentials(self) -> &'static str {
        match self {
            Self::S3 => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION; AWS_SKIP_SIGNATURE=true is for a public bucket"
            }
            Self::Google => {
                "set GOOGLE_APPLICATION_CREDENTIALS=FILE; GOOGLE_SKIP_SIGNATURE=true is for a public bucket"
            }
            Self::Azure => {
                "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY; AZURE_SKIP_SIGNATURE=true is for a public container"
            }
        }
    }
}

/// What a source names in a store.
#[derive(Debug)]
pub struct Found {
    /// Its objects, in the order of their names.
    pub objects: Vec<Remote>,
    /// The folder, where it names one; those of its objects whose names tell no format are among them.
    pub folder: Option<String>,
    /// Objects that are meant as well, and whose names can't be asked for.
    pub left_out: Vec<String>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Remote({})", self.0.name())
    }
}

/// A bucket, or a container.
struct Bucket {
    kind: Kind,
    name: String,
    store: Arc<dyn ObjectStore>,
    /// Objects of listings whose names can't be asked for.
    odd: Odd,
}

/// Names that listings left out, which were answers to another layer's requests.
type Odd = Arc<Mutex<Vec<String>>>;

/// What a listing says.
#[derive(Default)]
struct Listed {
    metas: Vec<ObjectMeta>,
    /// Names that can't be asked for.
    odd: Vec<String>,
}

impl Listed {
    fn retain(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.metas.retain(|meta| is_meant(meta.location.as_ref()));
        self.odd.retain(|key| is_meant(key));
    }
}

impl Found {
    /// Looks an object up, the objects that fit a pattern, or those of a folder.
    ///
    /// # Errors
    /// When the store can't be reached, or has none of that name.
    pub fn of(source: &str, stop: &Stop) -> Result<Self> {
        let wrong = |why: &str, kind: Kind| {
            let scheme = kind.scheme();
            Err(Error::usage(format!("{scheme}:... {why}")).advise(format!(
                "write {scheme}://BUCKET/NAME: who asks is said by variables of the environment"
            )))
        };
        let Some((kind, (_, rest))) = Kind::of(source).zip(source.split_once("://")) else {
            return Err(Error::usage("no store is named"));
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return wrong("names no bucket", kind);
        }
        // What else may stand there is no part of a host's name, and may be a password.
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-._$".contains(c);
        if !bucket.chars().all(is_of_name) {
            return wrong("is no name of a bucket", kind);
        }
        let bucket = Arc::new(Bucket::open(kind, bucket)?);
        bucket.find(key, stop)
    }
}

impl Bucket {
    fn open(kind: Kind, name: &str) -> Result<Self> {
        let retry = RetryConfig {
            max_retries: RETRIES_MAX,
            retry_timeout: RETRY_MAX,
            ..RetryConfig::default()
        };
        let odd = Odd::default();
        let connector = Connector { kind, odd: Arc::clone(&odd) };
        let store: object_store::Result<Arc<dyn ObjectStore>> = match kind {
            Kind::S3 => settings::<AmazonS3ConfigKey>(kind)?
                .into_iter()
                .fold(AmazonS3Builder::new(), |builder, (key, value)| {
                    builder.with_config(key, value)
                })
                .with_bucket_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
            Kind::Google => settings::<GoogleConfigKey>(kind)?
                .into_iter()
                .fold(GoogleCloudStorageBuilder::new(), |builder, (key, value)| {
                    builder.with_config(key, value)
                })
                .with_bucket_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
            Kind::Azure => settings::<AzureConfigKey>(kind)?
                .into_iter()
                .fold(MicrosoftAzureBuilder::new(), |builder, (key, value)| {
                    builder.with_config(key, value)
                })
                .with_container_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Arc::new(store) as _),
        };
        let store = store.map_err(|error| {
            let why = match in_words(&error) {
                // A decoder would name what it stumbled on, and where that stands in the key.
                why if why.starts_with("Invalid ") => "the key is not in base64".to_owned(),
                why => why,
            };
            Error::source(format!("{}://{name} cannot be opened: {why}", kind.scheme()))
                .advise(kind.credentials())
        })?;
        Ok(Self { kind, name: name.to_owned(), store, odd })
    }

    fn shown(&self, key: &str) -> String {
        format!("{}://{}/{key}", self.kind.scheme(), self.name)
    }

    fn find(self: &Arc<Self>, key: &str, stop: &Stop) -> Result<Found> {
        let deep = key == "**" || key.ends_with("/**");
        let folder = if deep { key.strip_suffix("**").unwrap_or(key) } else { key };
        if !folder.is_empty() && !folder.ends_with('/') {
            let is_pattern = Pattern::is_one(key);
            let object = self.remote(key, Version::default())?;
            match object.look(stop) {
                Ok(()) => {
                    return Ok(Found { objects: vec![object], folder: None, left_out: Vec::new() });
                }
                Err(error) => {
                    let fault = Fault::within(&error).cloned();
                    let fault = fault.unwrap_or_else(|| Fault::new(error.to_string()));
                    let is_absent = fault.what.ends_with(ABSENT);
                    if is_absent && is_pattern {
                        return self.matching(key, stop);
                    }
                    let inside = match is_absent {
                        true => self.inside(&format!("{key}/"), false, stop)?,
                        false => Listed::default(),
                    };
                    if inside.metas.is_empty() {
                        return Err(fault.about(&self.shown(key)));
                    }
                    return self.found(inside, Some(key));
                }
            }
        }
        let inside = self.inside(folder, deep, stop)?;
        if inside.metas.is_empty() {
            let what = format!("there is nothing in {}", self.shown(folder));
            return Err(self
                .nothing(what, &inside.odd)
                .advise("check the spelling; a folder's folders are meant by '/**'"));
        }
        let name = folder.trim_end_matches('/');
        self.found(inside, Some(if name.is_empty() { &self.name } else { name }))
    }

    /// Objects that a pattern fits.
    fn matching(self: &Arc<Self>, pattern: &str, stop: &Stop) -> Result<Found> {
        let shown = self.shown(pattern);
        let wanted = Pattern::new(pattern)?;
        let plain = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
        let prefix = pattern[..plain].rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_flat = !pattern[plain..].contains('/') && !pattern.contains("**");
        let mut listed = self.list(prefix, !is_flat, stop)?;
        listed.retain(|key| wanted.fits(key));
        if listed.metas.is_empty() {
            return Err(self.nothing(format!("'{shown}' matches no object"), &listed.odd));
        }
        self.found(listed, None)
    }

    /// Objects of a folder, and with `deep` those of its folders, hidden ones left out.
    fn inside(self: &Arc<Self>, folder: &str, deep: bool, stop: &Stop) -> Result<Listed> {
        let prefix = folder.trim_end_matches('/');
        let mut listed = self.list(prefix, deep, stop)?;
        listed.retain(|key| {
            let own = key.strip_prefix(prefix).unwrap_or(key);
            let is_hidden =
                own.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."));
            !is_hidden && !own.trim_matches('/').is_empty()
        });
        Ok(listed)
    }

    fn found(self: &Arc<Self>, listed: Listed, folder: Option<&str>) -> Result<Found> {
        let Listed { mut metas, odd } = listed;
        metas.sort_by(|a, b| a.location.cmp(&b.location));
        let objects: Result<Vec<Remote>> =
            metas.iter().map(|meta| self.remote(meta.location.as_ref(), version(meta))).collect();
        let left_out = odd.iter().map(|key| self.shown(key)).collect();
        Ok(Found { objects: objects?, folder: folder.map(str::to_owned), left_out })
    }

    /// The error that nothing is found, which names what can't be asked for.
    fn nothing(&self, what: String, odd: &[String]) -> Error {
        Error::source(match odd {
            [] => what,
            [one] => format!("{what} but {}, whose name {ODD}", self.shown(one)),
            [one, ..] => {
                format!("{what} but {} and others, of which each name {ODD}", self.shown(one))
            }
        })
    }

    fn remote(self: &Arc<Self>, key: &str, listed: Version) -> Result<Remote> {
        // What is asked for by another name is another object.
        let path = Path::parse(key).ok().filter(|path| path.as_ref() == key);
        let path = path.ok_or_else(|| {
            Error::usage(format!("the name of {} {ODD}", self.shown(key)))
                .advise("give the object another name, or fetch it first")
        })?;
        Ok(Remote::of(Object { bucket: Arc::clone(self), path }, listed))
    }

    /// What is below a prefix.
    fn list(self: &Arc<Self>, prefix: &str, deep: bool, stop: &Stop) -> Result<Listed> {
        let shown = self.shown(prefix);
        let path = (!prefix.is_empty())
            .then(|| Path::parse(prefix))
            .transpose()
            .map_err(|_| Error::usage(format!("the name of {shown} {ODD}")))?;
        self.odd.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let bucket = Arc::clone(self);
        let listed = super::waiting(stop, move || {
            runtime()?.block_on(async {
                if !deep {
                    let listed = bucket.store.list_with_delimiter(path.as_ref()).await;
                    return listed
                        .map(|listed| listed.objects)
                        .map_err(|error| bucket.trouble(&error, &shown));
                }
                let mut listed = Vec::new();
                let mut more = bucket.store.list(path.as_ref());
                while let Some(meta) = more.next().await {
                    listed.push(meta.map_err(|error| bucket.trouble(&error, &shown))?);
                }
                Ok(listed)
            })
        });
        let metas = listed.and_then(|listed| listed).map_err(|trouble| trouble.fault.refused())?;
        let mut odd = std::mem::take(&mut *self.odd.lock().unwrap_or_else(PoisonError::into_inner));
        odd.sort();
        odd.dedup();
        Ok(Listed { metas, odd })
    }

    /// What to try after an answer that is neither the object nor a plain no.
    fn advice(&self, why: &str) -> String {
        let prefix = self.kind.prefix();
        match why.strip_prefix(ANSWERS).and_then(|rest| rest.get(..3)) {
            Some("400" | "401" | "403") => self.kind.credentials().to_owned(),
            Some("404") => format!(
                "check the spelling of the bucket, and the variables {prefix}_... that say whose store it is"
            ),
            Some("408" | "429") => "try again later".to_owned(),
            Some("501") => {
                "the store has no such request: fetch the object, and load that file".to_owned()
            }
            Some(status) if status.starts_with('5') => "try again later".to_owned(),
            _ if why.contains("incorrectly configured region") => {
                format!("set {prefix}_REGION to the region of the bucket")
            }
            _ if why.contains("non-partial response") => {
                "the store gives no parts of an object: fetch it, and load that file".to_owned()
            }
            _ => format!("check the variables {prefix}_... that say whose store it is"),
        }
    }

    fn trouble(&self, error: &object_store::Error, name: &str) -> Trouble {
        use object_store::Error as Why;
        match error {
            Why::NotFound { .. } => Trouble::never(
                Fault::new(format!("{name}: {ABSENT}"))
                    .advise("check the spelling, and the region"),
            ),
            Why::Precondition { .. } => Trouble::never(Fault::changed(name, None)),
            Why::PermissionDenied { .. } | Why::Unauthenticated { .. } => Trouble::never(
                Fault::new(format!("{name}: the store refuses it: {}", in_words(error)))
                    .advise(self.kind.credentials()),
            ),
            // The store has been asked again already, as often as it may be.
            _ => {
                let fault = match Fault::within(error) {
                    Some(Fault { what, advice }) => {
                        Fault { what: format!("{name}: {what}"), advice: advice.clone() }
                    }
                    None => {
                        let why = in_words(error);
                        let advice = self.advice(&why);
                        Fault::new(format!("{name}: {why}")).advise(advice)
                    }
                };
                Trouble::new(fault, Again::OnceAnswered)
            }
        }
    }
}

/// What is wrong with a name that the client of stores can't ask for.
pub const ODD: &str = "has an empty part between slashes, a part '.' or '..', or a control character, and cannot be asked for";

/// How a fault ends that says that there is no such object.
const ABSENT: &str = "there is no such object";

/// The innermost reason in one line, without queries of URLs: they hold signatures.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let text = inner.to_string();
    let text = text.replace("Server returned non-2xx status code: ", ANSWERS);
    // Stores say in XML what is wrong, and beside that what was signed, and who asks; pages are not theirs.
    let text = match text.split_once('<') {
        Some((status, xml)) => {
            let message = xml.split_once("Message>").and_then(|(_, rest)| rest.split_once('<'));
            format!("{status}{}", message.map_or("no word of why", |(message, _)| message))
        }
        None => text,
    };
    let words = text.split_whitespace().map(|word| match word.split_once('?') {
        Some((url, _)) if url.contains("://") => url,
        _ => word,
    });
    let mut text = words.collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = text.char_indices().nth(WORDS_MAX) {
        text.truncate(at);
        text.push_str("...");
    }
    text
}

/// How the words begin with which a store refuses, before its status.
const ANSWERS: &str = "the store answers ";

/// Characters of a store's own words that are shown.
const WORDS_MAX: usize = 400;

fn runtime() -> std::result::Result<Runtime, Trouble> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| Trouble::never(Fault::new(format!("no requests can be made: {error}"))))
}

fn version(meta: &ObjectMeta) -> Version {
    // Azure leaves the quotes out where it lists.
    let quoted = |tag: &String| match tag.ends_with('"') {
        true => tag.clone(),
        false => format!("\"{tag}\""),
    };
    Version {
        bytes: Some(meta.size),
        etag: meta.e_tag.as_ref().map(quoted),
        modified: Some(meta.last_modified.to_rfc3339()),
    }
}

/// An object of a store.
struct Object {
    bucket: Arc<Bucket>,
    path: Path,
}

impl Address for Object {
    fn name(&self) -> String {
        self.bucket.shown(self.path.as_ref())
    }

    fn file_name(&self) -> String {
        self.path.filename().unwrap_or(&self.bucket.name).to_owned()
    }

    fn identity(&self) -> String {
        self.name()
    }

    fn get(&self, wanted: &Wanted) -> std::result::Result<Answer, Trouble> {
        let range = match (wanted.from, wanted.to) {
            (0, None) => None,
            (from, None) => Some(GetRange::Offset(from)),
            (from, Some(to)) => Some(GetRange::Bounded(from..to)),
        };
        let options = GetOptions { if_match: wanted.etag.clone(), range, ..GetOptions::default() };
        let runtime = runtime()?;
        let fail = |error: object_store::Error| self.bucket.trouble(&error, &self.name());
        let got = match runtime.block_on(self.bucket.store.get_opts(&self.path, options)) {
            Ok(got) => got,
            Err(error) if !matches!(error, object_store::Error::Generic { .. }) => {
                return Err(fail(error));
            }
            Err(error) => {
                // Of an empty object no part can be had.
                let head = runtime.block_on(self.bucket.store.head(&self.path));
                match head {
                    Ok(meta) if meta.size == 0 && wanted.from == 0 => {
                        return Ok(Answer {
                            version: version(&meta),
                            from: 0,
                            is_part: true,
                            is_page: false,
                            coding: None,
                            charset: None,
                            body: Box::new(io::empty()),
                        });
                    }
                    _ => return Err(fail(error)),
                }
            }
        };
        let (version, from) = (version(&got.meta), got.range.start);
        let coding = got.attributes.get(&Attribute::ContentEncoding);
        let coding = coding.and_then(|coding| packed(coding.as_ref()));
        let sort = got.attributes.get(&Attribute::ContentType);
        let charset = sort.and_then(|sort| charset(sort.as_ref()));
        let body = Objects {
            runtime: Some(runtime),
            stream: got.into_stream(),
            block: Bytes::new(),
            name: self.name(),
        };
        let body = Box::new(body);
        Ok(Answer { version, from, is_part: true, is_page: false, coding, charset, body })
    }

    fn now(&self, _: bool) -> Option<Version> {
        // One answer is of one version, and those that follow ask for that.
        None
    }
}

/// An object as it comes.
struct Objects {
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    /// Where its pauses are taken.
    runtime: Option<Runtime>,
    block: Bytes,
    name: String,
}

impl Read for Objects {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.block.is_empty() {
            let Some(runtime) = &self.runtime else { return Ok(0) };
            match runtime.block_on(self.stream.next()) {
                Some(Ok(block)) => self.block = block,
                Some(Err(error)) => {
                    let what = format!("{}: {}", self.name, in_words(&error));
                    return Err(Fault::new(what).advise("try again later").into());
                }
                None => self.runtime = None,
            }
        }
        let length = self.block.len().min(out.len());
        out[..length].copy_from_slice(&self.block.split_to(length));
        Ok(length)
    }
}

/// Sends the stores' requests by the client that all have.
#[derive(Debug)]
struct Connector {
    kind: Kind,
    odd: Odd,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allow = options.get_config_value(&ClientConfigKey::AllowHttp);
        let allows_http = allow.is_some_and(|allow| is_yes(&allow));
        // What asks the machine for its role is to find out soon that it has none.
        let connect_max = options.get_config_value(&ClientConfigKey::ConnectTimeout);
        let connect_max = connect_max.and_then(|max| max.strip_suffix('s')?.parse().ok());
        let connect_max = connect_max.map_or(CONNECT_MAX, Duration::from_secs);
        let (kind, odd) = (self.kind, Arc::clone(&self.odd));
        Ok(HttpClient::new(Service { kind, odd, allows_http, connect_max }))
    }
}

#[derive(Debug)]
struct Service {
    kind: Kind,
    odd: Odd,
    allows_http: bool,
    connect_max: Duration,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let asks_for_role = is_of_machine(request.uri());
        let lists = listing::is_one(request.uri());
        let failed = |mut trouble: Trouble| {
            if asks_for_role {
                let what = "nothing says who asks: no variables, and no role of this machine";
                trouble.fault = Fault::new(what).advise(self.kind.credentials());
            }
            let kind = match trouble.again {
                Again::Never | Again::OnceAnswered => HttpErrorKind::Unknown,
                Again::Always => HttpErrorKind::Interrupted,
            };
            HttpError::new(kind, trouble.fault)
        };
        if !self.allows_http && request.uri().scheme_str() == Some("http") {
            let fault =
                Fault::new("the store is at http:, where everybody on the way can read along")
                    .advise(format!("{}_ALLOW_HTTP=true allows it", self.kind.prefix()));
            return Err(HttpError::new(HttpErrorKind::Unknown, fault));
        }
        let (parts, body) = request.into_parts();
        let mut bytes = Vec::new();
        let mut body = Box::pin(body);
        while let Some(frame) =
            std::future::poll_fn(|context| http_body::Body::poll_frame(body.as_mut(), context))
                .await
        {
            if let Ok(data) = frame?.into_data() {
                bytes.extend_from_slice(&data);
            }
        }
        let answer = match bytes.is_empty() {
            true => exchange(http::Request::from_parts(parts, ()), self.connect_max),
            false => exchange(http::Request::from_parts(parts, bytes), self.connect_max),
        };
        let (parts, body) = answer.map_err(failed)?.into_parts();
        if lists && parts.status.is_success() {
            let mut xml = String::new();
            let read = body.into_reader().read_to_string(&mut xml);
            read.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
            let mut odd = self.odd.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = listing::readable(&xml, &mut odd);
            return Ok(http::Response::from_parts(parts, HttpResponseBody::from(kept)));
        }
        let body = Flow { reader: Mutex::new(Box::new(body.into_reader())) };
        Ok(http::Response::from_parts(parts, HttpResponseBody::new(body)))
    }
}

/// Whether it is the service that tells a machine of a cloud who it is.
fn is_of_machine(uri: &http::Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    host == "metadata.google.internal"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|host| host.is_link_local())
}

/// A body that is read where it is wanted: each request has a thread of its own, so nothing else waits for it.
struct Flow {
    reader: Mutex<Box<dyn Read + Send>>,
}

impl http_body::Body for Flow {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<http_body::Frame<Bytes>, HttpError>>> {
        let mut block = vec![0; BLOCK_BYTES];
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        Poll::Ready(match reader.read(&mut block) {
            Ok(0) => None,
            Ok(got) => {
                block.truncate(got);
                Some(Ok(http_body::Frame::data(block.into())))
            }
            Err(error) => Some(Err(HttpError::new(HttpErrorKind::Interrupted, error))),
        })
    }
}
