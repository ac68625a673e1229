//! `inrush man`.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Command;
use clap_mangen::Man;

use crate::help;

/// The manual: one page on standard output, or a page for the command and one for each subcommand in a folder, as packages have them.
pub(crate) fn man(folder: Option<&Path>) -> Result<u64> {
    let mut command = help::command().disable_help_subcommand(true);
    command.build();
    let command = command;
    match folder {
        Some(folder) => pages(&command, folder)?,
        None => super::print(&String::from_utf8(one_page(&command)?)?)?,
    }
    Ok(0)
}

/// The commands below one, each followed by those below itself.
fn shown(command: &Command) -> Vec<&Command> {
    let is_shown = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    let subs = command.get_subcommands().filter(is_shown);
    subs.flat_map(|sub| [vec![sub], shown(sub)].concat()).collect()
}

/// The command's own page, then what each subcommand takes.
fn one_page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for sub in shown(command) {
        let man = Man::new(sub.clone());
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    Ok(page)
}

/// Writes `inrush.1`, `inrush-load.1`, `inrush-job-begin.1` and so on, and says which.
fn pages(command: &Command, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut written = String::new();
    for one in std::iter::once(command).chain(shown(command)) {
        let man = Man::new(one.clone());
        let path = folder.join(man.get_filename());
        let mut page = Vec::new();
        man.render(&mut page)?;
        File::create(&path)
            .and_then(|mut file| file.write_all(&page))
            .with_context(|| path.display().to_string())?;
        written += &format!("{}\n", path.display());
    }
    super::print(&written)
}
