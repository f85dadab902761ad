//! Completions and the man page, generated from the same definition that parses the command line.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory};

use super::help::without_shared_options;
use super::help_examples::examples_of;
use super::{Cli, CliExit, CliProblem, StdoutWriter};

pub(super) fn print_completions(shell: clap_complete::Shell) -> anyhow::Result<CliExit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "planwright", &mut text);
    StdoutWriter::new().write_text(&String::from_utf8_lossy(&text))?;
    Ok(CliExit::Success)
}

/// Prints the page of the program or of one command; with a directory, writes a page for each command there.
pub(super) fn print_man_page(
    command: &[String],
    directory: Option<&Path>,
) -> anyhow::Result<CliExit> {
    if let Some(directory) = directory {
        return write_man_pages(directory);
    }
    let page = if command.is_empty() { man_page()? } else { command_page(command)? };
    StdoutWriter::new().write_text(&page)?;
    Ok(CliExit::Success)
}

fn write_man_pages(directory: &Path) -> anyhow::Result<CliExit> {
    let failed = || format!("can't write manual pages to {}", directory.display());
    std::fs::create_dir_all(directory).with_context(failed)?;
    let mut root = Cli::command();
    root.build();
    let mut pages = vec![("planwright".to_owned(), man_page()?)];
    collect_pages(&root, &[], &mut pages)?;
    for (name, page) in &pages {
        std::fs::write(directory.join(format!("{name}.1")), page).with_context(failed)?;
    }
    StdoutWriter::new().write_text(&format!(
        "wrote {} manual pages to {}\n",
        pages.len(),
        directory.display()
    ))?;
    Ok(CliExit::Success)
}

fn collect_pages(
    command: &Command,
    path: &[String],
    pages: &mut Vec<(String, String)>,
) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let path = [path, &[subcommand.get_name().to_owned()]].concat();
        pages.push((format!("planwright-{}", path.join("-")), page_of(subcommand, &path)?));
        collect_pages(subcommand, &path, pages)?;
    }
    Ok(())
}

fn command_page(path: &[String]) -> anyhow::Result<String> {
    let mut command = Cli::command();
    command.build();
    for word in path {
        let Some(found) = command.find_subcommand(word) else {
            return Err(CliProblem::usage(format!("there is no command `{}`", path.join(" ")))
                .with_remedy("planwright --help lists the commands")
                .into());
        };
        command = found.clone();
    }
    Ok(page_of(&command, path)?)
}

/// The page of one command: its own options, its examples, and where the global options are described.
fn page_of(command: &Command, path: &[String]) -> io::Result<String> {
    let mut page = Vec::new();
    let own = without_shared_options(command.clone());
    let man = clap_mangen::Man::new(own);
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    writeln!(page, ".SH EXAMPLES")?;
    for example in examples_of(path) {
        writeln!(
            page,
            ".TP\n\\fB{}\\fR\n{}",
            escape_roff(example.line),
            escape_roff(example.effect)
        )?;
    }
    writeln!(
        page,
        ".SH SEE ALSO\n\\fBplanwright\\fR(1) describes the global options and the exit codes."
    )?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn escape_roff(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}

/// One page for everything: each subcommand as a section of its own.
fn man_page() -> io::Result<String> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let man = clap_mangen::Man::new(command.clone().after_long_help(super::help::ENVIRONMENT));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    write_sections(&command, "planwright", &mut page)?;
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_sections(command: &Command, name: &str, page: &mut Vec<u8>) -> io::Result<()> {
    for subcommand in command.get_subcommands() {
        let name = format!("{name} {}", subcommand.get_name());
        // What every command understands is described once, at the beginning.
        let man = clap_mangen::Man::new(without_shared_options(subcommand.clone()));
        writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        write_sections(subcommand, &name, page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_man_page_has_every_command_and_what_all_share_once() {
        let page = man_page().unwrap();
        for section in ["PLANWRIGHT PLAN", "PLANWRIGHT SESSIONS SEARCH", "PLANWRIGHT TODAY MOVE"] {
            assert!(page.contains(&format!(".SH \"{section}\"")), "{section}");
        }
        assert_eq!(page.matches("Directory in which sessions are stored").count(), 1);
        assert_eq!(page.matches("Exit codes:").count(), 1);
        assert!(page.contains("Plan around the events of a calendar file"));
    }

    #[test]
    fn a_page_of_a_command_has_its_examples_and_not_the_global_options() {
        let page = command_page(&["today".to_owned(), "move".to_owned()]).unwrap();
        assert!(page.contains("planwright today move 1 tomorrow"), "{page}");
        assert!(!page.contains("data\\-dir"), "{page}");
        let unknown = command_page(&["dance".to_owned()]).unwrap_err();
        assert!(unknown.to_string().contains("there is no command `dance`"));
    }
}
