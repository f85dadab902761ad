//! `planwright doctor`: what works here, and what to do about the rest.

use std::io::{IsTerminal, Write as _};

use clap::Args;

use super::{CliExit, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::doctor::machine::{self, TerminalFacts};
use crate::doctor::provider::{self, ProbeMode};
use crate::doctor::{CheckStatus, DoctorCheck, tools};
use planwright_state::journal_verification::JournalVerification;
use planwright_store::{OpenMode, Store};

/// How many sessions are read from beginning to end; `sessions verify` reads all of them.
const JOURNALS: usize = 20;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Ask the provider: one token, and two small calls if it is not known what the model can do
    #[arg(long)]
    live: bool,
}

pub(super) fn execute_doctor(shared: &SharedArgs, args: &DoctorArgs) -> anyhow::Result<CliExit> {
    let mut checks = machine::check_terminal(&terminal_facts(shared));
    let (app, config) = match App::settings_only(shared) {
        Ok(app) => {
            let check = check_config(&app);
            (app, check)
        }
        Err(error) => {
            let why: Vec<String> = error.chain().map(ToString::to_string).collect();
            let next = "mend that line; planwright config init --print shows every setting";
            (App::without_config(shared)?, DoctorCheck::fail("config", why.join(": "), next))
        }
    };
    checks.push(config);
    match app.require_data_dir() {
        Ok(dir) => {
            let zone = crate::config::time_zone();
            checks.extend(machine::check_store(dir));
            checks.extend(verify_journals(dir));
            checks.push(machine::check_clock(dir, jiff::Timestamp::now(), zone.iana_name()));
        }
        Err(error) => {
            let next = "name a directory with --data-dir";
            checks.push(DoctorCheck::fail("store", error.to_string(), next));
        }
    }
    let mut app = app;
    if let Ok(here) = std::env::current_dir() {
        checks.push(tools::check_workspace(&here));
        let store = app.read_store().ok().flatten();
        match app.in_workspace(&here, store.as_ref()) {
            Ok(with_project) => app = with_project,
            Err(error) => {
                checks.push(DoctorCheck::fail(
                    "project",
                    error.to_string(),
                    "mend or remove that file",
                ));
            }
        }
        checks.extend(app.project.as_ref().map(tools::check_project));
    }
    checks.push(tools::check_sandbox(&planwright_tools::sandbox::Sandbox::with_current_program()));
    checks
        .push(tools::check_web_search(&crate::config::tool_settings::tool_settings(&app.settings)));
    super::descriptors::check_open_files()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let models = app.models();
    let env: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let asking = if args.live { ProbeMode::Live } else { ProbeMode::No };
    runtime.block_on(async {
        let servers = crate::config::tool_settings::mcp_servers(&app.settings);
        let (_, reports) = super::tools::load_registry(&servers).await;
        servers.stop_all().await;
        checks.extend(tools::check_servers(&reports));
        checks.extend(provider::check_models(&models, &env, asking).await);
    });
    print_checks(shared, &checks, &models.redactor())?;
    let failed = checks.iter().any(|check| check.status == CheckStatus::Fail);
    Ok(if failed { CliExit::Failed } else { CliExit::Success })
}

/// Keys that were loaded on the way must not show, whatever a check quotes.
fn print_checks(
    shared: &SharedArgs,
    checks: &[DoctorCheck],
    redactor: &planwright_text::Redactor,
) -> anyhow::Result<()> {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut out = StdoutWriter::new();
    for check in checks {
        if shared.json {
            out.write_line(&redactor.redact(&serde_json::to_string(check)?))?;
            continue;
        }
        for line in check.to_lines(width) {
            let clean = planwright_text::clean_line(&redactor.redact(&line)).into_owned();
            out.write_hanging(&clean, DoctorCheck::INDENT + width)?;
        }
    }
    if !shared.json {
        let count = |status| checks.iter().filter(|check| check.status == status).count();
        let (warn, fail) = (count(CheckStatus::Warn), count(CheckStatus::Fail));
        out.write_line(&match (warn, fail) {
            (0, 0) => "all is well".to_owned(),
            (warn, 0) => format!("it works; {warn} to look at"),
            (warn, fail) => format!("{fail} must be mended, {warn} to look at"),
        })?;
    }
    Ok(())
}

fn check_config(app: &App) -> DoctorCheck {
    let path = app.config_path.display();
    if !app.config_path.exists() {
        return DoctorCheck {
            next: Some("planwright config init writes one that explains every setting".to_owned()),
            ..DoctorCheck::ok("config", format!("no file; it would be {path}"))
        };
    }
    let looks =
        app.ui_settings().and_then(|settings| Ok(planwright_tui::check_keys(&settings.keys)?));
    match looks {
        Ok(()) => DoctorCheck::ok("config", path.to_string()),
        Err(error) => {
            let why: Vec<String> = error.chain().map(ToString::to_string).collect();
            DoctorCheck::fail(
                "config",
                format!("{path}: {}", why.join(": ")),
                "mend theme and keys there",
            )
        }
    }
}

/// Reads the last sessions from beginning to end.
fn verify_journals(dir: &std::path::Path) -> Option<DoctorCheck> {
    let store = Store::open(dir, OpenMode::ReadOnly).ok()?;
    let sessions = store.list_sessions().ok()?;
    let last = &sessions[..sessions.len().min(JOURNALS)];
    let mut problems = Vec::new();
    for info in last {
        let session = info.id.short_id().to_owned();
        match super::sessions::session_records(&store, &info.id) {
            Ok(records) => {
                let found = JournalVerification::verify_records(&records).problems.into_iter();
                problems.extend(found.map(|problem| (session.clone(), problem)));
            }
            Err(error) => problems.push((session, error.to_string())),
        }
    }
    (!last.is_empty()).then(|| machine::check_journals(&problems, last.len()))
}

fn terminal_facts(shared: &SharedArgs) -> TerminalFacts {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let is_terminal = std::io::stdout().is_terminal();
    TerminalFacts {
        is_terminal,
        size: crossterm::terminal::size().ok(),
        term: var("TERM"),
        true_color: crate::app::color_depth() == planwright_tui::ColorDepth::True,
        no_color: shared.no_color || var("NO_COLOR").is_some(),
        utf8: crate::app::utf8_locale(),
        line_width: if is_terminal && std::io::stdin().is_terminal() {
            measure_line_width()
        } else {
            None
        },
    }
}

/// Draws a line, asks where the cursor is then, and takes it back.
fn measure_line_width() -> Option<u16> {
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
