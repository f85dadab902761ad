//! `planwright import`: take in what was exported, or what another program wrote. Nothing is run.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;

use super::guard::refuse_model;
use super::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use crate::app::App;
use planwright_model::SessionId;
use planwright_model::event::{FORMAT, Record};
use planwright_store::exchange::event_source::ImportedSession;
use planwright_store::exchange::jsonl::ExportReader;
use planwright_store::exchange::secret_policy::SecretPolicy;
use planwright_store::exchange::{ImportError, seed_traces, transcript_import};
use planwright_store::{NewSession, SessionProvenance, SessionSummary, Store, StoreError};
use planwright_text as text;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// An export (.jsonl, .jsonl.zst), traces (.json or a directory), or a transcript of Codex, Claude Code, Gemini CLI, opencode
    /// or goose
    file: PathBuf,
    /// Give the session a new id, if its own is taken
    #[arg(long)]
    new_id: bool,
    /// Redact what looks like a secret instead of refusing the file
    #[arg(long)]
    redact: bool,
}

pub(super) fn execute_import(shared: &SharedArgs, args: &ImportArgs) -> anyhow::Result<CliExit> {
    refuse_model("import a session")?;
    let app = App::settings_only(shared)?;
    let read =
        read_import(&args.file, &app).map_err(|error| explain_plan_file(&args.file, &error))?;
    let read = match read {
        ImportedFile::Export(export) => {
            let redactor = app.redactor();
            let secrets = if args.redact {
                SecretPolicy::Redacted(redactor)
            } else {
                SecretPolicy::Refused(redactor)
            };
            let export =
                export.with_secret_policy(secrets).map_err(|error| import_problem(&error))?;
            ImportedFile::Export(Box::new(export))
        }
        told @ ImportedFile::Records { .. } => told,
    };
    let store = app.open_store()?;
    let (id, from) = store_import(&store, read, args.new_id)?;
    store.index_session(&id)?;
    let info = store.session_info(&id)?;
    let mut out = StdoutWriter::new();
    if shared.json {
        let line = serde_json::json!({
            "id": id, "title": info.summary.title, "events": info.head, "source": from,
        });
        out.write_line(&line.to_string())?;
    } else {
        out.write_line(&format!(
            "imported {} from {from}: {} events, {}",
            id.short_id(),
            info.head,
            text::clean_line(&info.summary.title)
        ))?;
        out.write_line(&format!(
            "planwright replay {} shows it; nothing in it was run",
            id.short_id()
        ))?;
    }
    Ok(CliExit::Success)
}

/// What a file turned out to be.
pub(super) enum ImportedFile {
    Export(Box<ExportReader>),
    Records { source: String, records: Vec<Record> },
}

/// Looks at a file and reads it, whatever it is.
pub(super) fn read_import(path: &Path, app: &App) -> Result<ImportedFile, ImportError> {
    if path.is_dir() || path.extension().is_some_and(|ending| ending == "json") {
        if !path.is_dir()
            && let Some((program, records)) =
                transcript_import::read_transcript_document(path, &app.redactor())?
        {
            return Ok(ImportedFile::Records { source: program.name().to_owned(), records });
        }
        let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let found = seed_traces::read_traces(path, &app.redactor())?;
        let records = seed_traces::session_from_traces(&found, &title.unwrap_or_default())?;
        return Ok(ImportedFile::Records { source: "traces".to_owned(), records });
    }
    if let Some(export) = ExportReader::open(path)? {
        return Ok(ImportedFile::Export(Box::new(export)));
    }
    let (program, records) = transcript_import::read_transcript(path, &app.redactor())?;
    Ok(ImportedFile::Records { source: program.name().to_owned(), records })
}

fn store_import(
    store: &Store,
    read: ImportedFile,
    new_id: bool,
) -> anyhow::Result<(SessionId, String)> {
    let fresh = || SessionId::from_uuid(uuid::Uuid::now_v7());
    let (id, source, outcome) = match read {
        ImportedFile::Export(export) => {
            let id = if new_id { fresh() } else { SessionId::new(&*export.header.session) };
            let (new, from, bookmarks, incoming) = export.into_parts(id.clone());
            let source = from.source.clone();
            (id, source, store.import_session(new, from, bookmarks, incoming))
        }
        ImportedFile::Records { source, records } => {
            let id = fresh();
            let new = NewSession {
                id: id.clone(),
                created_at: records.first().map_or_else(Timestamp::now, |record| record.at),
                format: FORMAT,
                parent: None,
                summary: SessionSummary::default(),
            };
            let from = SessionProvenance { source: source.clone(), header: String::new() };
            let marks = transcript_import::failure_bookmarks(&records);
            (id, source, store.import_session(new, from, marks, ImportedSession::new(records)))
        }
    };
    match outcome {
        Ok(Ok(())) => Ok((id, source)),
        Ok(Err(refused)) => Err(import_problem(&refused)),
        Err(StoreError::SessionExists { session }) => {
            Err(CliProblem::failed(format!("there is a session {} already", session.short_id()))
                .with_remedy("add --new-id to import it beside that one")
                .into())
        }
        Err(error) => Err(error.into()),
    }
}

/// A plan is no session: whoever tries to import one is told how to run it.
fn explain_plan_file(file: &Path, error: &ImportError) -> anyhow::Error {
    let unknown = !matches!(error, ImportError::Unreadable { .. } | ImportError::NotAFile { .. });
    if !unknown || crate::plan_source::read_plan_outline(file).is_err() {
        return import_problem(error);
    }
    let name = file.display();
    CliProblem::failed(format!("{name} is a plan, and only sessions are imported"))
        .with_remedy(format!(
            "planwright run {name} shows it and asks; planwright check {name} reads it"
        ))
        .into()
}

pub(super) fn import_problem(error: &ImportError) -> anyhow::Error {
    let hint = error.hint();
    let what = match error {
        ImportError::Unreadable { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let problem = match error {
        ImportError::Unreadable { .. } | ImportError::NotAFile { .. } => CliProblem::usage(what),
        _ => CliProblem::failed(format!("the file was not imported: {what}")),
    };
    problem.with_remedy(hint).into()
}
