//! Completions and the man page, generated from the same definition that parses the command line.

use std::io::Write;

use clap::CommandFactory;

use super::{Cli, Exit, Out};

pub(super) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "planwright", &mut text);
    Out::new().text(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Success)
}

pub(super) fn man() -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    // One page for everything: each subcommand as a section of its own.
    for subcommand in command.get_subcommands() {
        let man = clap_mangen::Man::new(subcommand.clone());
        writeln!(page, ".SH \"PLANWRIGHT {}\"", subcommand.get_name().to_uppercase())?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Out::new().text(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Success)
}
