//! Completions and the man page, generated from the same definition that parses the command line.

use std::io::{self, Write};

use clap::{Command, CommandFactory};

use super::{Cli, CliExit, StdoutWriter};

pub(super) fn print_completions(shell: clap_complete::Shell) -> anyhow::Result<CliExit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "planwright", &mut text);
    StdoutWriter::new().write_text(&String::from_utf8_lossy(&text))?;
    Ok(CliExit::Success)
}

pub(super) fn print_man_page() -> anyhow::Result<CliExit> {
    StdoutWriter::new().write_text(&man_page()?)?;
    Ok(CliExit::Success)
}

/// One page for everything: each subcommand as a section of its own.
fn man_page() -> io::Result<String> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let man = clap_mangen::Man::new(command.clone());
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
        // What every command understands is told once, at the beginning.
        let own = subcommand.clone().mut_args(|arg| {
            let shared = arg.is_global_set();
            arg.hide(shared)
        });
        let man = clap_mangen::Man::new(own);
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
    fn the_man_page_tells_every_command_and_what_all_share_once() {
        let page = man_page().unwrap();
        for section in ["PLANWRIGHT PLAN", "PLANWRIGHT SESSIONS SEARCH", "PLANWRIGHT TODAY MOVE"] {
            assert!(page.contains(&format!(".SH \"{section}\"")), "{section}");
        }
        assert_eq!(page.matches("Directory of the store").count(), 1);
        assert_eq!(page.matches("Exit codes:").count(), 1);
        assert!(page.contains("Plan around the events of a calendar file"));
    }

    #[test]
    fn help_fits_eighty_columns() {
        for line in super::super::EXAMPLES.lines() {
            assert!(line.len() < 80, "{line}");
        }
    }
}
