//! A password travels as a reference: a job's text goes to other machines, and into logs of schedulers.

use std::fs;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use inrush_core::error::{Error, Result, may_hold_password};

/// Refuses a URL that holds a password, or may hold one.
pub(super) fn refuse(url: &str) -> Result<()> {
    if may_hold_password(url) {
        return Err(Error::usage("no job takes a password in its URL, for that goes to other machines and into logs")
            .advise("leave it out of the URL, and say where each machine finds it: --password env:NAME or --password file:PATH"));
    }
    Ok(())
}

/// The URL with the password that `reference` names.
///
/// # Errors
/// When the reference is none, or this machine doesn't have what it names.
pub(super) fn resolve(url: &str, reference: Option<&str>) -> Result<String> {
    let Some(reference) = reference else { return Ok(url.to_owned()) };
    let password = match reference.split_once(':') {
        Some(("env", name)) => std::env::var(name).map_err(|_| {
            Error::usage(format!(
                "the job's password is in the environment variable {name}, which isn't set here"
            ))
            .advise("set it for every process that writes, and for the one that publishes")
        })?,
        Some(("file", path)) => {
            let text = fs::read_to_string(path).map_err(|error| {
                Error::usage(format!(
                    "the job's password is in the file {path}, which can't be read here: {error}"
                ))
            })?;
            text.trim_end_matches(['\r', '\n']).to_owned()
        }
        // What was meant as one may be the password itself.
        _ => {
            return Err(Error::usage("a job's password is said by a reference")
                .advise("write env:NAME for an environment variable, or file:PATH for a file"));
        }
    };
    let password = utf8_percent_encode(&password, NON_ALPHANUMERIC);
    let Some(start) = url.find("://").map(|at| at + 3) else { return Ok(url.to_owned()) };
    let authority = url[start..].split(['/', '?', '#']).next().unwrap_or_default();
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let rest = &url[start + authority.len()..];
    Ok(format!("{}{user}:{password}@{hosts}{rest}", &url[..start]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_refused() {
        for url in [
            "postgres://app:secret@db/shop",
            "mysql://app:@db/shop",
            "postgres://db/shop?user=a&password=b",
            "postgres://db/shop?user=a&pass%77ord=secret",
            "mysql://db/shop?user=a;PWD=secret",
            // Of these the login ends elsewhere to whoever reads URLs by the book.
            "postgres://app:#secret@db/shop",
            "postgres://app:?secret@db/shop",
            "postgres://app:?a=secret@db/shop",
            "postgres://app:secret#@db/shop",
            "postgres://app:se/cret@db/shop",
            "postgres://app:se@cret@db/shop",
            "mongodb://app:#secret@db/shop",
            "mysql://app@corp:#secret@db/shop",
        ] {
            let error = refuse(url).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        for url in [
            "postgres://app@db:5432/shop",
            "postgres:///shop?host=/run:x",
            "mysql://app@db/a?socket=/s@b:c",
            "mysql://app@db:3306/a?socket=/s@b",
            "postgres://app@db/shop?passfile=/home/app/pass",
        ] {
            refuse(url).unwrap();
        }
    }

    #[test]
    fn a_reference_becomes_a_password_of_the_url() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pw");
        std::fs::write(&path, "s3:c/r@t\n").unwrap();
        let reference = format!("file:{}", path.display());
        let with = |url| resolve(url, Some(&reference)).unwrap();
        assert_eq!(
            with("mysql://app@db:3306/shop?a=b"),
            "mysql://app:s3%3Ac%2Fr%40t@db:3306/shop?a=b"
        );
        assert_eq!(with("postgres:///shop"), "postgres://:s3%3Ac%2Fr%40t@/shop");
        assert_eq!(resolve("postgres:///shop", None).unwrap(), "postgres:///shop");
        for wrong in ["secret", "env:INRUSH_NO_SUCH_VARIABLE", "file:/nowhere/pw"] {
            let error = resolve("postgres:///shop", Some(wrong)).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
