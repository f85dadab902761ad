//! Completions and the man page, generated from the same definition that parses the command line.

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
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands() {
        let name = format!("planwright {}", subcommand.get_name());
        let man = clap_mangen::Man::new(subcommand.clone().name(name));
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    Out::new().text(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Success)
}
