//! `planwright import`: take in what was exported, or what another program wrote. Nothing is run.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use super::guard::refuse_model;
use super::{Exit, Out, Problem, Shared};
use crate::app::App;
use planwright_model::SessionId;
use planwright_model::event::{FORMAT, Record};
use planwright_store::exchange::incoming::Made;
use planwright_store::exchange::jsonl::Export;
use planwright_store::exchange::secrets::Secrets;
use planwright_store::exchange::{ImportError, foreign, traces};
use planwright_store::{NewSession, Provenance, SessionSummary, Store, StoreError};
use planwright_text as text;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// An export (.jsonl, .jsonl.zst), traces (.json or a directory), a Codex rollout or a Claude Code transcript
    file: PathBuf,
    /// Give the session a new id, if its own is taken
    #[arg(long)]
    new_id: bool,
    /// Take out what looks like a secret instead of refusing the file
    #[arg(long)]
    redact: bool,
}

pub(super) fn import(shared: &Shared, args: &ImportArgs) -> anyhow::Result<Exit> {
    refuse_model("import a session")?;
    let app = App::settings_only(shared)?;
    let read = read(&args.file, &app).map_err(|error| told_apart(&args.file, &error))?;
    let read = match read {
        Read::Export(export) => {
            let redactor = app.redactor();
            let secrets =
                if args.redact { Secrets::TakenOut(redactor) } else { Secrets::Refused(redactor) };
            let export = export.watching(secrets).map_err(|error| problem(&error))?;
            Read::Export(Box::new(export))
        }
        told @ Read::Told { .. } => told,
    };
    let store = app.open_store()?;
    let (id, from) = take_in(&store, read, args.new_id)?;
    store.index(&id)?;
    let info = store.session(&id)?;
    let mut out = Out::new();
    if shared.json {
        let line = serde_json::json!({
            "id": id, "title": info.summary.title, "events": info.head, "source": from,
        });
        out.line(&line.to_string())?;
    } else {
        out.line(&format!(
            "imported {} from {from}: {} events, {}",
            id.short(),
            info.head,
            text::clean_line(&info.summary.title)
        ))?;
        out.line(&format!("planwright replay {} shows it; nothing in it was run", id.short()))?;
    }
    Ok(Exit::Success)
}

/// What a file turned out to be.
pub(super) enum Read {
    Export(Box<Export>),
    Told { source: String, records: Vec<Record> },
}

/// Looks at a file and reads it, whatever it is.
pub(super) fn read(path: &Path, app: &App) -> Result<Read, ImportError> {
    if path.is_dir() || path.extension().is_some_and(|ending| ending == "json") {
        let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let found = traces::read(path, &app.redactor())?;
        let records = traces::session(&found, &title.unwrap_or_default())?;
        return Ok(Read::Told { source: "traces".to_owned(), records });
    }
    if let Some(export) = Export::open(path)? {
        return Ok(Read::Export(Box::new(export)));
    }
    let (program, records) = foreign::read(path, &app.redactor())?;
    Ok(Read::Told { source: program.name().to_owned(), records })
}

fn take_in(store: &Store, read: Read, new_id: bool) -> anyhow::Result<(SessionId, String)> {
    let fresh = || SessionId::from_uuid(uuid::Uuid::now_v7());
    let (id, source, outcome) = match read {
        Read::Export(export) => {
            let id = if new_id { fresh() } else { SessionId::new(&*export.header.session) };
            let (new, from, bookmarks, incoming) = export.into_parts(id.clone());
            let source = from.source.clone();
            (id, source, store.import(new, from, bookmarks, incoming))
        }
        Read::Told { source, records } => {
            let id = fresh();
            let new = NewSession {
                id: id.clone(),
                created_at: records.first().map_or_else(Timestamp::now, |record| record.at),
                format: FORMAT,
                parent: None,
                summary: SessionSummary::default(),
            };
            let from = Provenance { source: source.clone(), header: String::new() };
            (id, source, store.import(new, from, Vec::new(), Made::new(records)))
        }
    };
    match outcome {
        Ok(Ok(())) => Ok((id, source)),
        Ok(Err(refused)) => Err(problem(&refused)),
        Err(StoreError::SessionExists { session }) => {
            Err(Problem::failed(format!("there is a session {} already", session.short()))
                .remedy("add --new-id to import it beside that one")
                .into())
        }
        Err(error) => Err(error.into()),
    }
}

/// A plan is no session: whoever tries to import one is told how to run it.
fn told_apart(file: &Path, error: &ImportError) -> anyhow::Error {
    let unknown = !matches!(error, ImportError::Unreadable { .. } | ImportError::NotAFile { .. });
    if !unknown || planwright_plan::plan_file::read(file).is_err() {
        return problem(error);
    }
    let name = file.display();
    Problem::failed(format!("{name} is a plan, and only sessions are imported"))
        .remedy(format!(
            "planwright run {name} shows it and asks; planwright check {name} reads it"
        ))
        .into()
}

pub(super) fn problem(error: &ImportError) -> anyhow::Error {
    let hint = error.hint();
    let what = match error {
        ImportError::Unreadable { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let problem = match error {
        ImportError::Unreadable { .. } | ImportError::NotAFile { .. } => Problem::usage(what),
        _ => Problem::failed(format!("the file was not imported: {what}")),
    };
    problem.remedy(hint).into()
}
