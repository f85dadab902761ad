//! `planwright doctor`: what works here, and what to do about the rest.

use std::io::{IsTerminal, Write as _};

use clap::Args;

use super::{Exit, Out, Shared};
use crate::app::App;
use crate::doctor::machine::{self, TerminalFacts};
use crate::doctor::provider::{self, Asking};
use crate::doctor::{Check, Status, tools};
use planwright_state::verify::Verification;
use planwright_store::{OpenMode, Store};

/// How many sessions are read from beginning to end; `sessions verify` reads all of them.
const JOURNALS: usize = 20;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Ask the provider: one token, and two small calls if it is not known what the model can do
    #[arg(long)]
    live: bool,
}

pub(super) fn doctor(shared: &Shared, args: &DoctorArgs) -> anyhow::Result<Exit> {
    let mut checks = machine::terminal(&terminal_facts(shared));
    let (app, config) = match App::settings_only(shared) {
        Ok(app) => {
            let check = config(&app);
            (app, check)
        }
        Err(error) => {
            let why: Vec<String> = error.chain().map(ToString::to_string).collect();
            let next = "mend that line; planwright config init --print shows every setting";
            (App::without_config(shared)?, Check::fail("config", why.join(": "), next))
        }
    };
    checks.push(config);
    match app.dir() {
        Ok(dir) => {
            let zone = crate::config::time_zone();
            checks.extend(machine::store(dir));
            checks.extend(journals(dir));
            checks.push(machine::clock(dir, jiff::Timestamp::now(), zone.iana_name()));
        }
        Err(error) => {
            let next = "name a directory with --data-dir";
            checks.push(Check::fail("store", error.to_string(), next));
        }
    }
    let mut app = app;
    if let Ok(here) = std::env::current_dir() {
        checks.push(tools::workspace(&here));
        let store = app.read_store().ok().flatten();
        match app.in_workspace(&here, store.as_ref()) {
            Ok(with_project) => app = with_project,
            Err(error) => {
                checks.push(Check::fail("project", error.to_string(), "mend or remove that file"));
            }
        }
        checks.extend(app.project.as_ref().map(tools::project));
    }
    checks.push(tools::sandbox(&planwright_tools::sandbox::Sandbox::of_this_program()));
    checks.push(tools::tools(&crate::config::tool_settings::tool_settings(&app.settings)));
    super::descriptors::check_open_files()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let models = app.models();
    let env: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let asking = if args.live { Asking::Live } else { Asking::No };
    runtime.block_on(async {
        let servers = crate::config::tool_settings::servers(&app.settings);
        let (_, reports) = super::tools::registry(&servers).await;
        servers.stop().await;
        checks.extend(tools::servers(&reports));
        checks.extend(provider::checks(&models, &env, asking).await);
    });
    print(shared, &checks, &models.redactor())?;
    let failed = checks.iter().any(|check| check.status == Status::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Success })
}

/// Keys that were loaded on the way must not show, whatever a check quotes.
fn print(
    shared: &Shared,
    checks: &[Check],
    redactor: &planwright_text::Redactor,
) -> anyhow::Result<()> {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut out = Out::new();
    for check in checks {
        if shared.json {
            out.line(&redactor.redact(&serde_json::to_string(check)?))?;
            continue;
        }
        for line in check.lines(width) {
            let clean = planwright_text::clean_line(&redactor.redact(&line)).into_owned();
            out.hanging(&clean, Check::INDENT + width)?;
        }
    }
    if !shared.json {
        let count = |status| checks.iter().filter(|check| check.status == status).count();
        let (warn, fail) = (count(Status::Warn), count(Status::Fail));
        out.line(&match (warn, fail) {
            (0, 0) => "all is well".to_owned(),
            (warn, 0) => format!("it works; {warn} to look at"),
            (warn, fail) => format!("{fail} must be mended, {warn} to look at"),
        })?;
    }
    Ok(())
}

fn config(app: &App) -> Check {
    let path = app.config_path.display();
    if !app.config_path.exists() {
        return Check {
            next: Some("planwright config init writes one that explains every setting".to_owned()),
            ..Check::ok("config", format!("no file; it would be {path}"))
        };
    }
    let looks =
        app.ui_settings().and_then(|settings| Ok(planwright_tui::check_keys(&settings.keys)?));
    match looks {
        Ok(()) => Check::ok("config", path.to_string()),
        Err(error) => {
            let why: Vec<String> = error.chain().map(ToString::to_string).collect();
            Check::fail(
                "config",
                format!("{path}: {}", why.join(": ")),
                "mend theme and keys there",
            )
        }
    }
}

/// Reads the last sessions from beginning to end.
fn journals(dir: &std::path::Path) -> Option<Check> {
    let store = Store::open(dir, OpenMode::ReadOnly).ok()?;
    let sessions = store.list_sessions().ok()?;
    let last = &sessions[..sessions.len().min(JOURNALS)];
    let mut problems = Vec::new();
    for info in last {
        let session = info.id.short().to_owned();
        match super::sessions::records(&store, &info.id) {
            Ok(records) => {
                let found = Verification::of(&records).problems.into_iter();
                problems.extend(found.map(|problem| (session.clone(), problem)));
            }
            Err(error) => problems.push((session, error.to_string())),
        }
    }
    (!last.is_empty()).then(|| machine::journals(&problems, last.len()))
}

fn terminal_facts(shared: &Shared) -> TerminalFacts {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let is_terminal = std::io::stdout().is_terminal();
    TerminalFacts {
        is_terminal,
        size: crossterm::terminal::size().ok(),
        term: var("TERM"),
        true_color: crate::app::color_depth() == planwright_tui::ColorDepth::True,
        no_color: shared.no_color || var("NO_COLOR").is_some(),
        utf8: crate::app::utf8_locale(),
        line_width: if is_terminal && std::io::stdin().is_terminal() { line_width() } else { None },
    }
}

/// Draws a line, asks where the cursor is then, and takes it back.
fn line_width() -> Option<u16> {
    use crossterm::{cursor, execute, terminal};
    if matches!(std::env::var("TERM").as_deref(), Err(_) | Ok("dumb")) {
        return None;
    }
    terminal::enable_raw_mode().ok()?;
    let mut out = std::io::stdout();
    let ask = |out: &mut std::io::Stdout| {
        execute!(out, cursor::MoveToColumn(0)).ok()?;
        out.write_all("─".as_bytes()).and_then(|()| out.flush()).ok()?;
        let (column, _) = cursor::position().ok()?;
        let _ = execute!(
            out,
            cursor::MoveToColumn(0),
            terminal::Clear(terminal::ClearType::CurrentLine)
        );
        Some(column)
    };
    let width = ask(&mut out);
    let _ = terminal::disable_raw_mode();
    width
}
