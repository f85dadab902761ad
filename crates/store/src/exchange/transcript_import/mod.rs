//! Converts transcripts of coding agents to sessions: Codex CLI, Claude Code, Gemini CLI, opencode and goose, each as it keeps
//! its sessions and as it prints them for scripts.
//!
//! Each prompt becomes a task and each subagent another one, with what was thought, called and answered as steps. Records
//! of kinds that no known version wrote are kept as unknown events and displayed as such; bookkeeping that repeats what
//! other records say is left out. Secrets are redacted on import.

mod claude;
mod codex;
mod gemini;
mod goose;
mod item;
mod opencode;
mod session_builder;
mod todo;
mod turns;

use std::path::Path;

use serde_json::Value;

use super::import_limits::{BoundedLines, ImportError, MAX_VALUES, read_json};
use super::secret_policy::redact_value;
use crate::Bookmark;
use item::{ReadTranscript, text_field};
use planwright_model::event::{Event, Record};
use planwright_text::Redactor;
pub(in crate::exchange) use session_builder::ImportedTranscript;

/// The program that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptProgram {
    Codex,
    ClaudeCode,
    GeminiCli,
    Opencode,
    Goose,
}

impl TranscriptProgram {
    pub fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::ClaudeCode => "claude-code",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
        }
    }

    /// Detects from one line which program wrote it.
    pub fn detect_from_line(value: &Value) -> Option<Self> {
        let kind = text_field(value, "type");
        let has = |name: &str| value.get(name).is_some();
        if has("projectHash") || (kind == Some("init") && has("session_id")) {
            return Some(Self::GeminiCli);
        }
        if has("sessionID") {
            return Some(Self::Opencode);
        }
        let goose = kind == Some("message") && value.pointer("/message/created").is_some();
        if goose || (kind == Some("complete") && has("total_tokens")) {
            return Some(Self::Goose);
        }
        if has("sessionId")
            || (has("uuid") && (has("message") || has("session_id")))
            || kind == Some("file-history-snapshot")
        {
            return Some(Self::ClaudeCode);
        }
        let codex = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
        let bare = ["message", "reasoning", "function_call", "function_call_output"];
        let printed = ["thread.started", "turn.started", "item.started", "item.completed"];
        let known = kind.is_some_and(|kind| {
            codex.contains(&kind) || bare.contains(&kind) || printed.contains(&kind)
        });
        (known || (has("instructions") && has("timestamp"))).then_some(Self::Codex)
    }

    /// Detects from a document which program wrote it.
    fn detect_from_document(value: &Value) -> Option<Self> {
        let has = |name: &str| value.get(name).is_some();
        if has("info") && has("messages") {
            Some(Self::Opencode)
        } else if has("conversation") && has("working_dir") {
            Some(Self::Goose)
        } else if has("sessionId") && has("projectHash") && has("messages") {
            Some(Self::GeminiCli)
        } else {
            None
        }
    }

    fn read(self, values: &[Value]) -> ReadTranscript {
        match self {
            Self::Codex => codex::read_codex(values),
            Self::ClaudeCode => claude::read_claude(values),
            Self::GeminiCli => gemini::read_gemini(values),
            Self::Opencode => opencode::read_opencode(values),
            Self::Goose => goose::read_goose(values),
        }
    }
}

/// The longest transcript that is read.
const MAX_TRANSCRIPT_BYTES: u64 = 64 << 20;

/// How many transcripts of subagents beside a transcript are read.
const MAX_SUBAGENTS: usize = 200;

/// How many lines that are no JSON may stand before a transcript: what a program prints when it starts.
const MAX_BANNER_LINES: usize = 20;

/// How many failed steps are marked, and how long the words of a mark are.
const MAX_BOOKMARKS: usize = 200;
const MAX_NOTE_CHARS: usize = 120;

/// Reads a transcript and converts it to a session. Beside it lie those of its subagents; they are read as well.
pub fn read_transcript(
    path: &Path,
    redactor: &Redactor,
) -> Result<(TranscriptProgram, Vec<Record>), ImportError> {
    let mut budget = TranscriptBudget::default();
    let values = budget.read_lines(path, redactor)?;
    let Some(program) = values.iter().find_map(TranscriptProgram::detect_from_line) else {
        let message = "this is neither an export of Planwright nor a transcript of a known program";
        return Err(ImportError::Other(message.to_owned()));
    };
    let mut read = program.read(&values);
    for (file, name) in subagent_files(path, program, &values) {
        let values = budget.read_lines(&file, redactor)?;
        read.merge(match program {
            TranscriptProgram::ClaudeCode => {
                let about = std::fs::metadata(file.with_extension("meta.json")).is_ok();
                let about = if about {
                    read_json(&file.with_extension("meta.json"), 1 << 16)?
                } else {
                    Value::Null
                };
                claude::read_claude_subagent(&values, &name, &about)
            }
            _ => gemini::read_gemini_subagent(&values, &name),
        });
    }
    finish_transcript(path, program, &read)
}

/// Reads a transcript that is one JSON document, if it is one.
pub fn read_transcript_document(
    path: &Path,
    redactor: &Redactor,
) -> Result<Option<(TranscriptProgram, Vec<Record>)>, ImportError> {
    let mut value = read_json(path, MAX_TRANSCRIPT_BYTES)?;
    let Some(program) = TranscriptProgram::detect_from_document(&value) else { return Ok(None) };
    redact_value(redactor, &mut value);
    let read = program.read(std::slice::from_ref(&value));
    finish_transcript(path, program, &read).map(Some)
}

/// The steps of a transcript that failed, as bookmarks: their turn may have gone on, so that nothing else marks them.
pub fn failure_bookmarks(records: &[Record]) -> Vec<Bookmark> {
    let failed = |record: &Record| {
        let Event::Agent(event) = &record.event else { return None };
        let step = event.react_step()?;
        let is_error = step.metadata.foreign.get("is_error").and_then(Value::as_bool) == Some(true);
        let line = step.content.lines().map(str::trim).find(|line| !line.is_empty())?;
        let tool = step.tool_used.as_deref().map(|tool| format!("{tool}: ")).unwrap_or_default();
        let note: String = format!("failed: {tool}{line}").chars().take(MAX_NOTE_CHARS).collect();
        is_error.then_some(Bookmark { seq: record.seq, note, at: record.at })
    };
    records.iter().filter_map(failed).take(MAX_BOOKMARKS).collect()
}

fn finish_transcript(
    path: &Path,
    program: TranscriptProgram,
    read: &ReadTranscript,
) -> Result<(TranscriptProgram, Vec<Record>), ImportError> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let records = session_builder::session_from_transcript(program.name(), &stem, read)?;
    Ok((program, records))
}

/// What may still be read: all files of a transcript share one limit.
#[derive(Debug, Default)]
struct TranscriptBudget {
    values: usize,
    bytes: u64,
}

impl TranscriptBudget {
    fn read_lines(&mut self, path: &Path, redactor: &Redactor) -> Result<Vec<Value>, ImportError> {
        let mut lines = BoundedLines::open(path)?;
        let (mut values, mut banner) = (Vec::new(), None);
        let mut skipped = 0;
        while let Some(text) = lines.next_line()? {
            if text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str::<Value>(&text) {
                Ok(mut value) => {
                    redact_value(redactor, &mut value);
                    values.push(value);
                }
                Err(error) => {
                    let error = ImportError::at_line(
                        lines.line_number(),
                        format!("not valid JSON: {error}"),
                    );
                    skipped += 1;
                    if !values.is_empty()
                        || text.starts_with(['{', '['])
                        || skipped > MAX_BANNER_LINES
                    {
                        return Err(error);
                    }
                    banner.get_or_insert(error);
                }
            }
            // All of it is in memory at once, because the subject of a transcript may be anywhere in it.
            if self.values + lines.value_count() > MAX_VALUES {
                let what = "the number of values in a transcript".to_owned();
                return Err(ImportError::TooMuch { what, limit: MAX_VALUES as u64 });
            }
            if self.bytes + lines.bytes_read() > MAX_TRANSCRIPT_BYTES {
                let what = "the length of a transcript".to_owned();
                return Err(ImportError::TooMuch { what, limit: MAX_TRANSCRIPT_BYTES });
            }
        }
        self.values += lines.value_count();
        self.bytes += lines.bytes_read();
        match banner.filter(|_| values.is_empty()) {
            Some(error) => Err(error),
            None => Ok(values),
        }
    }
}

/// The transcripts of subagents, which two programs keep in a directory named after the session, and their names.
fn subagent_files(
    path: &Path,
    program: TranscriptProgram,
    values: &[Value],
) -> Vec<(std::path::PathBuf, String)> {
    let dir = match program {
        TranscriptProgram::ClaudeCode => path.with_extension("").join("subagents"),
        TranscriptProgram::GeminiCli => {
            let session = values.first().and_then(|value| text_field(value, "sessionId"));
            // The id comes from the file: it must not lead anywhere else.
            let named = |id: &&str| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            match (path.parent(), session.filter(named)) {
                (Some(parent), Some(session)) => parent.join(session),
                _ => return Vec::new(),
            }
        }
        _ => return Vec::new(),
    };
    // Most sessions have no subagents and no such directory.
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"))
        .filter_map(|file| {
            let name = file.file_stem()?.to_string_lossy().into_owned();
            Some((file, name))
        })
        .collect();
    files.sort();
    files.truncate(MAX_SUBAGENTS);
    files
}
