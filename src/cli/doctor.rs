//! `planwright doctor`: what works here, and what to do about the rest.

use std::io::IsTerminal;

use anyhow::Context;
use clap::Args;

use super::{Exit, Out, Shared};
use crate::app::App;
use crate::doctor::machine::{self, TerminalFacts};
use crate::doctor::provider::{self, Asking};
use crate::doctor::tools;
use crate::doctor::{Check, Status};
use crate::kit;
use crate::tools::Registry;
use crate::tools::sandbox::Sandbox;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Ask the provider: one token, and two small calls if it is not known what the model can do
    #[arg(long)]
    live: bool,
}

pub(super) fn doctor(shared: &Shared, args: &DoctorArgs) -> anyhow::Result<Exit> {
    let app = App::settings_only(shared)?;
    let here = std::env::current_dir().context("finding the current directory")?;
    let reader = app.read_store().ok().flatten().and_then(|store| store.reader().ok());
    let app = app.in_workspace(&here, reader.as_ref())?;
    let mut checks = Vec::new();
    match app.dir() {
        Ok(dir) => {
            let zone = jiff::tz::TimeZone::system();
            checks.push(machine::store(dir));
            checks.push(machine::clock(
                dir,
                jiff::Timestamp::now(),
                zone.iana_name().unwrap_or("UTC"),
            ));
        }
        Err(error) => {
            checks.push(Check::fail(
                "store",
                error.to_string(),
                "name a directory with --data-dir",
            ));
        }
    }
    checks.push(machine::terminal(&terminal_facts()));
    checks.push(tools::sandbox(&Sandbox::of_this_program()));
    checks.push(tools::web_search(&kit::tool_settings(&app.settings)));
    checks.extend(app.project.as_ref().map(tools::project));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let models = app.models();
    let env: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    checks.extend(runtime.block_on(async {
        let servers = kit::servers(&app.settings);
        let reports = servers.register(&mut Registry::default()).await;
        servers.stop().await;
        tools::servers(&reports)
    }));
    let asking = if args.live { Asking::Live } else { Asking::No };
    checks.extend(runtime.block_on(provider::checks(&models, &env, asking)));

    // Keys that were loaded on the way must not show, whatever a check quotes.
    let redactor = models.redactor();
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut out = Out::new();
    for check in &checks {
        if shared.json {
            out.line(&redactor.redact(&serde_json::to_string(check)?))?;
            continue;
        }
        for line in check.lines(width) {
            out.line(crate::text::clean_line(&redactor.redact(&line)).trim_end())?;
        }
    }
    let failed = checks.iter().any(|check| check.status == Status::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Success })
}

fn terminal_facts() -> TerminalFacts {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    TerminalFacts {
        is_terminal: std::io::stdout().is_terminal(),
        size: crossterm::terminal::size().ok(),
        term: var("TERM"),
        true_color: crate::app::color_depth() == crate::tui::ColorDepth::True,
        utf8: crate::app::utf8_locale(),
    }
}
