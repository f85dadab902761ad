//! `planwright doctor`: what works here, and what to do about the rest.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use crate::diagnostics::requested_filter;
use crate::doctor::machine::{self, TerminalFacts};
use crate::doctor::provider::{self, ProbeMode};
use crate::doctor::report::ReportParts;
use crate::doctor::{CheckStatus, DoctorCheck, tools};
use planwright_llm::Secret;
use planwright_state::journal_verification::JournalVerification;
use planwright_store::{OpenMode, Store};

/// How many sessions are read from beginning to end; `sessions verify` reads all of them.
const JOURNALS: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Call the model as well: one token, and two small calls if it is not known what it can do
    #[arg(long)]
    live: bool,
    /// Write everything a bug report needs to one redacted text file, and print where it is
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "not asked for, asked for, asked for with a name")]
    report: Option<Option<PathBuf>>,
}

/// Coding agents that are set up or installed.
fn found_agents(app: &App) -> Vec<tools::FoundAgent> {
    let listed = app.listed_agents().into_iter();
    listed
        .map(|agent| tools::FoundAgent {
            title: agent.title().to_owned(),
            name: agent.name,
            is_on: agent.is_on,
            missing: agent.missing,
        })
        .collect()
}

pub(super) fn execute_doctor(shared: &SharedArgs, args: &DoctorArgs) -> anyhow::Result<CliExit> {
    let mut checks = machine::check_terminal(&terminal_facts(shared));
    let (app, config) = load_settings(shared)?;
    checks.push(config);
    checks.extend(check_data_dir(shared, &app));
    let app = check_here(app, &mut checks);
    checks.push(tools::check_sandbox(&planwright_tools::sandbox::Sandbox::with_current_program()));
    checks.push(tools::check_agents(&found_agents(&app)));
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
    match &args.report {
        None => print_checks(shared, &checks, &models.redactor())?,
        Some(file) => {
            let loaded = models.loaded_keys();
            let redactor = app.redactor_with(loaded.iter().map(Secret::expose));
            write_report(&app, file.as_deref(), &checks, &redactor)?;
        }
    }
    let failed = checks.iter().any(|check| check.status == CheckStatus::Fail);
    Ok(if failed { CliExit::Failed } else { CliExit::Success })
}

/// The settings, or the built-in ones and what is wrong with the config.
fn load_settings(shared: &SharedArgs) -> anyhow::Result<(App, DoctorCheck)> {
    match App::settings_only(shared) {
        Ok(app) => {
            let check = check_config(&app);
            Ok((app, check))
        }
        Err(error) => {
            let why: Vec<String> = error.chain().map(ToString::to_string).collect();
            let next = "fix that line; planwright config init --print shows every setting";
            Ok((App::without_config(shared)?, DoctorCheck::fail("config", why.join(": "), next)))
        }
    }
}

/// The store, the clock and the log, which are all below one directory.
fn check_data_dir(shared: &SharedArgs, app: &App) -> Vec<DoctorCheck> {
    match app.require_data_dir() {
        Ok(dir) => {
            let zone = crate::config::time_zone();
            let mut checks = machine::check_store(dir);
            checks.extend(verify_journals(dir));
            checks.push(machine::check_clock(dir, jiff::Timestamp::now(), zone.iana_name()));
            checks.push(machine::check_log(dir, requested_filter(shared.verbose).ok().as_ref()));
            checks
        }
        Err(error) => {
            let next = "name a directory with --data-dir";
            vec![DoctorCheck::fail("store", error.to_string(), next)]
        }
    }
}

/// The workspace and the settings of its project, which count from here on if they can be read.
fn check_here(mut app: App, checks: &mut Vec<DoctorCheck>) -> App {
    let here = match std::env::current_dir() {
        Ok(here) => here,
        Err(error) => {
            tracing::debug!(%error, "the current directory cannot be found");
            return app;
        }
    };
    checks.push(tools::check_workspace(&here));
    // That the store cannot be opened has a check of its own.
    let store = app.read_store().ok().flatten();
    match app.in_workspace(&here, store.as_ref()) {
        Ok(with_project) => app = with_project,
        Err(error) => {
            let next = "fix or remove that file";
            checks.push(DoctorCheck::fail("project", error.to_string(), next));
        }
    }
    checks.extend(app.project.as_ref().map(tools::check_project));
    app
}

/// Writes the report for the owner alone, never over a file that is there, and prints where it is.
fn write_report(
    app: &App,
    file: Option<&Path>,
    checks: &[DoctorCheck],
    redactor: &planwright_text::Redactor,
) -> anyhow::Result<()> {
    let now = jiff::Timestamp::now();
    let usual = || PathBuf::from(now.strftime("planwright-report-%Y%m%d-%H%M%S.txt").to_string());
    let path = file.map_or_else(usual, Path::to_owned);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let text = ReportParts {
        now,
        settings: &app.settings.rows(),
        checks,
        terminal_size: crossterm::terminal::size().ok(),
        data_dir: app.data_dir(),
        home: home.as_deref(),
        redactor,
    }
    .to_text();
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let mut out = opened.map_err(|error| {
        let what = format!("cannot write the report to {}: {error}", path.display());
        CliProblem::usage(what).with_remedy("name another file: planwright doctor --report FILE")
    })?;
    out.write_all(text.as_bytes()).with_context(|| format!("writing {}", path.display()))?;
    let place = path.canonicalize().unwrap_or(path);
    StdoutWriter::new().write_line(&format!(
        "wrote {}; secrets are redacted, read it before you send it",
        place.display()
    ))?;
    Ok(())
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
            (warn, fail) => format!("{fail} to fix, {warn} to look at"),
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
                "fix theme and keys there",
            )
        }
    }
}

/// Reads the last sessions from beginning to end. That the store cannot be read has a check of its own.
fn verify_journals(dir: &Path) -> Option<DoctorCheck> {
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

/// Draws a line, asks where the cursor is then, and takes it back. A terminal that does not answer leaves the width
/// unknown, which its check says.
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
        // Drawing worked a moment ago; at worst the line stays.
        let _ = execute!(
            out,
            cursor::MoveToColumn(0),
            terminal::Clear(terminal::ClearType::CurrentLine)
        );
        Some(column)
    };
    let width = ask(&mut out);
    // A terminal that is gone has no mode.
    let _ = terminal::disable_raw_mode();
    width
}
