//! Service files: connections that have a name (<https://www.postgresql.org/docs/current/libpq-pgservice.html>).

use std::path::{Path, PathBuf};

use super::Surroundings;

/// The parameters of a service, in the order of the file.
///
/// # Errors
/// When no file has it, or the one that has it makes no sense; without quoting the file, which may hold a password.
pub(super) fn settings(
    service: &str,
    file: Option<&str>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<(String, String)>, String> {
    let of_user = match file {
        Some(path) => Some(PathBuf::from(path)),
        None => surroundings.home().map(|home| home.join(".pg_service.conf")),
    };
    let of_system = surroundings.variable("PGSYSCONFDIR").map(PathBuf::from);
    let of_system = of_system.map(|directory| directory.join("pg_service.conf"));
    for path in [of_user, of_system].into_iter().flatten() {
        // A file that isn't there says nothing; one that the user names has to be.
        match std::fs::read(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                if let Some(settings) = section(service, &text, &path)? {
                    return Ok(settings);
                }
            }
            Err(error) if file.is_some_and(|file| Path::new(file) == path) => {
                return Err(format!("service file {}: {error}", path.display()));
            }
            Err(_) => {}
        }
    }
    Err(format!(
        "there is no service {service} in ~/.pg_service.conf, PGSERVICEFILE or PGSYSCONFDIR"
    ))
}

/// The lines below `[service]`. As in libpq, only the first section of that name counts, and blanks around a `=` belong to what
/// they are next to.
fn section(
    service: &str,
    text: &str,
    path: &Path,
) -> Result<Option<Vec<(String, String)>>, String> {
    let mut found: Option<Vec<(String, String)>> = None;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let wrong = |why| format!("service file {}, line {number}: {why}", path.display());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            let is_it = name.strip_prefix(service).is_some_and(|rest| rest.starts_with(']'));
            found = is_it.then(Vec::new);
        } else if let Some(settings) = &mut found {
            if line.starts_with("ldap") {
                return Err(wrong("services in LDAP are not supported"));
            }
            let (name, value) = line.split_once('=').ok_or_else(|| wrong("there is no ="))?;
            if matches!(name, "service" | "servicefile") {
                return Err(wrong("a service can't name another one"));
            }
            settings.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_where_the_next_one_begins() {
        let text =
            "# c\n[ab]\nhost=x\n[a]\n\n  host=h\r\npassword= p=w\n#no\n[b]\nuser=u\n[a]\nport=1\n";
        let path = Path::new("f");
        let found = section("a", text, path).unwrap().unwrap();
        let expected = [("host", "h"), ("password", " p=w")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(section("c", text, path), Ok(None));
    }

    #[test]
    fn a_line_that_makes_no_sense_is_not_quoted() {
        for text in ["[a]\nsecret", "[a]\nservice=secret", "[a]\nldap://secret"] {
            let error = section("a", text, Path::new("f")).unwrap_err();
            assert!(error.contains("line 2") && !error.contains("secret"), "{error}");
        }
    }
}
