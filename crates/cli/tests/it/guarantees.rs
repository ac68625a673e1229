//! What is promised to users has tests, and `docs/guarantees.md` says which.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fixture::repository;

/// All files of Rust below.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => {
                Vec::from_iter(Some(path).filter(|path| path.extension() == Some("rs".as_ref())))
            }
        })
        .collect()
}

fn has_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let test = format!("fn {name}(");
    text.split("#[test]").skip(1).any(|behind| {
        // Other attributes may stand between.
        behind
            .lines()
            .find(|line| line.trim_start().starts_with("fn "))
            .is_some_and(|line| line.trim().starts_with(&test))
    })
}

/// The folder of a crate of the workspace.
fn folder_of(package: &str) -> Option<PathBuf> {
    let line = format!("name = \"{package}\"");
    let crates = [repository("crates"), repository("crates/targets")];
    let folders = crates.iter().flat_map(|all| fs::read_dir(all).unwrap());
    folders.map(|entry| entry.unwrap().path()).find(|folder| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().find(|it| it.starts_with("name")) == Some(&line)
    })
}

/// Whether there is a test of this name, as `docs/guarantees.md` writes it.
fn exists(test: &str) -> bool {
    if let Some((file, name)) = test.strip_prefix("python/").and_then(|test| test.split_once("::"))
    {
        let text = fs::read_to_string(repository("python/tests").join(file)).unwrap_or_default();
        return text.lines().any(|line| line.starts_with(&format!("def {name}(")));
    }
    let (module, name) = test.rsplit_once("::").expect("a test has a module");
    let root = repository("crates/cli/tests/it");
    if module == "contract::TARGET" {
        let list = fs::read_to_string(root.join("contract/mod.rs")).unwrap();
        return list.lines().any(|line| line.trim().ends_with(&format!("::{name},")));
    }
    if let Some(file) = module.strip_prefix("python::") {
        let file = repository("python/tests").join(format!("{file}.py"));
        let text = fs::read_to_string(file).unwrap_or_default();
        return text.lines().any(|line| line.starts_with(&format!("def {name}(")));
    }
    let package = module.split("::").next().unwrap();
    if let Some(folder) = folder_of(package) {
        return sources(&folder).iter().any(|file| has_test(file, name));
    }
    let path = module.replace("::", "/");
    [format!("{path}.rs"), format!("{path}/mod.rs")].iter().any(|it| has_test(&root.join(it), name))
}

#[test]
fn every_promise_has_its_test() {
    let text = fs::read_to_string(repository("docs/guarantees.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    let tests: Vec<&str> = rows.map(|line| line.rsplit('`').nth(1).expect("a test")).collect();
    assert!(tests.len() > 50, "{tests:?}");
    let missing: Vec<_> = tests.into_iter().filter(|test| !exists(test)).collect();
    assert!(missing.is_empty(), "promised, and tested by nothing: {missing:#?}");
    assert!(exists("guarantees::every_promise_has_its_test") && !exists("guarantees::exists"));
}
