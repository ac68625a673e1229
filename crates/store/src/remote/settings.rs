//! What the environment says of a store, looked at before anything is asked: the client of stores takes for granted that it makes sense,
//! and panics where it doesn't.

use std::env;
use std::str::FromStr;

use inrush_core::error::{Error, Result, reason};
use object_store::client::ClientConfigKey;
use url::Url;

use super::bucket::Kind;

/// Variables that name a server.
const ADDRESSES: [&str; 13] = [
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AZURE_AUTHORITY_HOST",
    "AZURE_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "AZURE_STORAGE_AUTHORITY_HOST",
    "AZURE_STORAGE_ENDPOINT",
    "GOOGLE_BASE_URL",
];

/// Variables that name a file.
const FILES: [&str; 7] = [
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_FEDERATED_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "SERVICE_ACCOUNT",
];

/// How writes are done, which reads know nothing of.
const UNUSED: [&str; 2] = ["AWS_CONDITIONAL_PUT", "AWS_COPY_IF_NOT_EXISTS"];

/// Variables that hold a document of JSON.
const DOCUMENTS: [&str; 1] = ["GOOGLE_SERVICE_ACCOUNT_KEY"];

/// Variables of stores that do not begin as the others do.
const OTHERS: [(Kind, &str); 2] =
    [(Kind::Google, "SERVICE_ACCOUNT"), (Kind::Azure, "IDENTITY_ENDPOINT")];

/// The settings of a store's sort. A variable that is empty is one that is not set.
///
/// # Errors
/// When one can't be what its name says. Its value is in no message: it may be a secret.
pub(super) fn settings<K: FromStr>(kind: Kind) -> Result<Vec<(K, String)>> {
    let mut found = Vec::new();
    for (name, value) in env::vars_os() {
        let Some(name) = name.to_str().filter(|name| is_of(name, kind)) else { continue };
        let Ok(key) = name.to_ascii_lowercase().parse() else { continue };
        let value = value.into_string();
        let value = value.map_err(|_| Error::usage(format!("{name} is no text in UTF-8")))?;
        check(name, &value)?;
        if !value.is_empty() {
            found.push((key, value));
        }
    }
    Ok(found)
}

fn is_of(name: &str, kind: Kind) -> bool {
    let rest = name.strip_prefix(kind.prefix());
    rest.is_some_and(|rest| rest.starts_with('_')) || OTHERS.contains(&(kind, name))
}

fn check(name: &str, value: &str) -> Result<()> {
    let wrong = |why: &str| Err(Error::usage(format!("{name} {why}")));
    if ADDRESSES.contains(&name) || name == "IDENTITY_ENDPOINT" {
        return match Url::parse(value) {
            // What is meant is not the store that a variable which isn't set means.
            _ if value.is_empty() => wrong("is empty, and should be the address of a server")
                .map_err(|error| error.advise(format!("unset {name}, or write http://HOST"))),
            Ok(url) if is_plain(value) && is_server(&url) => Ok(()),
            _ => wrong("is no address of a server")
                .map_err(|error| error.advise("write https://HOST, or http://HOST:PORT")),
        };
    }
    if value.is_empty() || DOCUMENTS.contains(&name) || UNUSED.contains(&name) {
        return Ok(());
    }
    if FILES.contains(&name) {
        return match std::fs::File::open(value) {
            Ok(_) => Ok(()),
            Err(error) => {
                let why = reason(&error);
                Err(Error::source(format!("the file that {name} names cannot be read: {why}"))
                    .advise(format!("check the path in {name}")))
            }
        };
    }
    let ends = value.trim() != value;
    let (_, option) = name.split_once('_').unwrap_or_default();
    let is_of_client = option.to_ascii_lowercase().parse::<ClientConfigKey>().is_ok();
    if ends || !is_of_client && !is_plain(value) {
        let wrong = wrong(match ends {
            true => "begins or ends with a blank or a line break",
            false => "holds a blank, or a character that is not in ASCII",
        });
        return wrong.map_err(|error| error.advise(format!("set {name} once more without it")));
    }
    Ok(())
}

/// Whether a text can stand in a URL, and in a header of HTTP.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_server(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Whether a variable says yes, in the words that the client of stores takes.
pub(super) fn is_yes(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_makes_no_sense_is_named_and_not_shown() {
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "tiger:5123"),
            ("AWS_ENDPOINT_URL", ""),
            ("AWS_ENDPOINT_URL_S3", "http://"),
            ("AWS_ENDPOINT", "http://tiger "),
            ("AZURE_ENDPOINT", "tiger.blob.core.windows.net"),
            ("GOOGLE_BASE_URL", "ftp://tiger"),
            ("AWS_SESSION_TOKEN", "tiger\n"),
            ("AWS_ACCESS_KEY_ID", "tiger\r\n"),
            ("AWS_SECRET_ACCESS_KEY", " tiger"),
            ("AWS_REGION", "us-tiger-1\n"),
            ("AWS_REGION", "us tiger 1"),
            ("AWS_SESSION_TOKEN", "tigér"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "tiger\n"),
            ("AZURE_STORAGE_ACCOUNT_KEY", "tiger\t"),
            ("AWS_ALLOW_HTTP", "true\n"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/tiger"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "/no/such/tiger"),
        ] {
            let error = check(name, value).unwrap_err();
            let text = format!("{error:?} {:?}", error.advice());
            assert!(error.what().contains(name), "{text}");
            assert!(!text.contains("tig"), "{text}");
        }
    }

    #[test]
    fn a_variable_that_makes_sense_is_taken() {
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "http://localhost:5123"),
            ("AWS_ENDPOINT_URL_S3", "https://[::1]/minio"),
            ("AWS_SESSION_TOKEN", ""),
            ("AWS_SESSION_TOKEN", "a/b+c=="),
            ("AWS_REGION", "us-east-1"),
            ("AWS_CONNECT_TIMEOUT", "5 seconds"),
            ("AWS_USER_AGENT", "my program"),
            ("GOOGLE_SERVICE_ACCOUNT_KEY", "{\"a\": 1}\n"),
            ("GOOGLE_APPLICATION_CREDENTIALS", ""),
            ("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com"),
            ("IDENTITY_ENDPOINT", "http://127.0.0.1:1/token"),
        ] {
            check(name, value).unwrap();
        }
        assert!(is_of("AWS_REGION", Kind::S3) && !is_of("AWSX_REGION", Kind::S3));
        assert!(is_of("SERVICE_ACCOUNT", Kind::Google) && !is_of("SERVICE_ACCOUNT", Kind::S3));
        assert!(is_yes("1") && is_yes("Yes") && is_yes("TRUE") && !is_yes("0") && !is_yes(""));
    }
}
