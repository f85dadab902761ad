//! The lossless format: one header line, then one line per event with its payload byte for byte.

use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::event_source::CheckedExport;
use super::import_limits::{BoundedLines, ImportError, MAX_EVENTS};
use super::secret_policy::{SecretPolicy, redact_value};
use crate::{
    Bookmark, ForkPoint, JournalRow, NewSession, SessionProvenance, SessionSummary, StoreError,
    StoreReader,
};
use planwright_model::event::FORMAT;
use planwright_model::{Digest, Seq, SessionId};

/// The version of this file format.
const VERSION: u32 = 1;
/// The source name of sessions imported from this format.
pub const SOURCE: &str = "planwright";

/// The first line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportHeader {
    pub planwright_export: u32,
    /// The major version of the events.
    pub format: u32,
    pub session: String,
    pub created_at: Timestamp,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ExportParent>,
    pub events: u64,
    /// The last link of a hash chain over all lines, so that damage is detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bookmarks: Vec<Bookmark>,
}

/// Where a fork came from. The export itself contains all of its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportParent {
    pub session: String,
    pub seq: Seq,
}

#[derive(Serialize)]
struct ExportedLine<'a> {
    seq: Seq,
    at: Timestamp,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    event: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportedLine<'a> {
    seq: Seq,
    at: Timestamp,
    kind: String,
    #[serde(default)]
    task: Option<String>,
    #[serde(borrow)]
    event: &'a RawValue,
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("could not write the export")]
    Write(#[from] io::Error),
    #[error("event {0} is not valid JSON and can't be written as a line")]
    NotJson(Seq),
}

/// Writes a session including its inherited history. An imported one is written exactly as it was read.
pub fn write_export(
    reader: &StoreReader,
    id: &SessionId,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    writeln!(out, "{}", build_header(reader, id)?)?;
    for_each_line(reader, id, |line| Ok(out.write_all(line)?))?;
    Ok(out.flush()?)
}

/// Calls `take` with every event as its line, including the terminator.
fn for_each_line(
    reader: &StoreReader,
    id: &SessionId,
    mut take: impl FnMut(&[u8]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let head = reader.head(id)?;
    let (mut failed, mut line) = (None, Vec::new());
    reader.scan_rows(id, Seq(1)..=head, None, |row| {
        line.clear();
        match write_line(&row, &mut line).and_then(|()| take(&line)) {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                std::ops::ControlFlow::Break(())
            }
        }
    })?;
    failed.map_or(Ok(()), Err)
}

/// The hash of a line and of all lines before it.
fn hash_line(before: Option<&Digest>, line: &str) -> Digest {
    Digest::from_json(&serde_json::json!([before, line]))
}

fn compute_chain(reader: &StoreReader, id: &SessionId) -> Result<Option<Digest>, ExportError> {
    let mut chain = None;
    for_each_line(reader, id, |line| {
        let text = std::str::from_utf8(line).unwrap_or_default().trim_end_matches('\n');
        chain = Some(hash_line(chain.as_ref(), text));
        Ok(())
    })?;
    Ok(chain)
}

fn write_line(row: &JournalRow, out: &mut Vec<u8>) -> Result<(), ExportError> {
    let text = std::str::from_utf8(&row.payload).ok().filter(|text| !text.contains('\n'));
    let event: &RawValue = text
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or(ExportError::NotJson(row.seq))?;
    let task = row.task.as_deref();
    let line = ExportedLine { seq: row.seq, at: row.at, kind: &row.kind, task, event };
    serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
    out.push(b'\n');
    Ok(())
}

fn build_header(reader: &StoreReader, id: &SessionId) -> Result<String, ExportError> {
    let info = reader.session_info(id)?;
    let bookmarks = reader.bookmarks(id)?;
    if let Some(from) = reader.provenance(id)?
        && let Ok(old) = serde_json::from_str::<ExportHeader>(&from.header)
    {
        if old.bookmarks == bookmarks && old.events == info.head.0 {
            return Ok(from.header);
        }
        let chain = compute_chain(reader, id)?;
        let header = ExportHeader { bookmarks, events: info.head.0, chain, ..old };
        return Ok(serde_json::to_string(&header).map_err(io::Error::from)?);
    }
    let header = ExportHeader {
        planwright_export: VERSION,
        format: info.format,
        session: id.to_string(),
        created_at: info.created_at,
        title: info.summary.title,
        parent: info
            .parent
            .map(|ForkPoint { session, seq }| ExportParent { session: session.to_string(), seq }),
        events: info.head.0,
        chain: compute_chain(reader, id)?,
        bookmarks,
    };
    Ok(serde_json::to_string(&header).map_err(io::Error::from)?)
}

/// An export that is being read: its header is checked, its events are read one by one.
#[derive(Debug)]
pub struct ExportReader {
    pub header: ExportHeader,
    text: String,
    lines: BoundedLines,
    seen: u64,
    chain: Option<Digest>,
    secrets: SecretPolicy,
}

impl ExportReader {
    /// Opens an export and checks its header. `Ok(None)` if the file has a different format.
    pub fn open(path: &Path) -> Result<Option<Self>, ImportError> {
        let mut lines = BoundedLines::open(path)?;
        let Some(text) = lines.next_line()? else {
            return Err(ImportError::Other("the file is empty".to_owned()));
        };
        // Something else than an export is for other readers.
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return Ok(None) };
        let Some(version) = value.get("planwright_export") else { return Ok(None) };
        let found = version.as_u64().and_then(|version| u32::try_from(version).ok());
        match found {
            Some(VERSION) => {}
            Some(found) => return Err(ImportError::Newer { found, known: VERSION }),
            None => return Err(ImportError::at_line(1, "the version is not a number")),
        }
        let header: ExportHeader = serde_json::from_str(&text)
            .map_err(|error| ImportError::at_line(1, format!("is not a header: {error}")))?;
        if header.format > FORMAT {
            return Err(ImportError::Newer { found: header.format, known: FORMAT });
        }
        if header.events > MAX_EVENTS {
            let what = format!("a session of {} events", header.events);
            return Err(ImportError::TooMuch { what, limit: MAX_EVENTS });
        }
        let secrets = SecretPolicy::default();
        Ok(Some(Self { header, text, lines, seen: 0, chain: None, secrets }))
    }

    /// Sets the policy for secrets, and checks the header for them immediately.
    pub fn with_secret_policy(mut self, secrets: SecretPolicy) -> Result<Self, ImportError> {
        let mut header = serde_json::to_value(&self.header)
            .map_err(|error| ImportError::at_line(1, error.to_string()))?;
        match &secrets {
            SecretPolicy::Refused(redactor) if redact_value(redactor, &mut header) => {
                return Err(ImportError::Secret { line: 1 });
            }
            SecretPolicy::Redacted(redactor) => {
                redact_value(redactor, &mut header);
                self.header = serde_json::from_value(header).map_err(|error| {
                    ImportError::at_line(1, format!("is not a header: {error}"))
                })?;
            }
            _ => {}
        }
        self.secrets = secrets;
        Ok(self)
    }

    /// An event without its secrets, or an error if secrets are not allowed.
    fn redact_payload(&self, payload: &str, line: u64) -> Result<Vec<u8>, ImportError> {
        let (SecretPolicy::Refused(redactor) | SecretPolicy::Redacted(redactor)) = &self.secrets
        else {
            return Ok(payload.as_bytes().to_vec());
        };
        let unreadable = |error: serde_json::Error| ImportError::at_line(line, error.to_string());
        let mut value = serde_json::from_str(payload).map_err(unreadable)?;
        match (redact_value(redactor, &mut value), &self.secrets) {
            (false, _) => Ok(payload.as_bytes().to_vec()),
            (true, SecretPolicy::Redacted(_)) => serde_json::to_vec(&value).map_err(unreadable),
            (true, _) => Err(ImportError::Secret { line }),
        }
    }

    /// The next event, checked as far as it can be checked alone.
    pub fn next_row(&mut self) -> Result<Option<JournalRow>, ImportError> {
        let Some(text) = self.lines.next_line()? else {
            if self.seen != self.header.events {
                let (seen, claimed) = (self.seen, self.header.events);
                return Err(ImportError::Other(format!(
                    "the header tells of {claimed} events, the file has {seen}"
                )));
            }
            if self.header.chain.is_some() && self.chain != self.header.chain {
                let message = "the events are not the ones that were exported: the hashes differ";
                return Err(ImportError::Other(message.to_owned()));
            }
            return Ok(None);
        };
        let number = self.lines.line_number();
        if self.header.chain.is_some() {
            self.chain = Some(hash_line(self.chain.as_ref(), &text));
        }
        let line: ImportedLine<'_> = serde_json::from_str(&text)
            .map_err(|error| ImportError::at_line(number, format!("is not an event: {error}")))?;
        self.seen += 1;
        if line.seq.0 != self.seen {
            return Err(ImportError::at_line(
                number,
                format!("expected event {}, found {}", self.seen, line.seq),
            ));
        }
        if self.seen > self.header.events {
            return Err(ImportError::at_line(
                number,
                "there are more events than the header tells",
            ));
        }
        Ok(Some(JournalRow {
            seq: line.seq,
            at: line.at,
            kind: line.kind.into(),
            task: line.task,
            payload: self.redact_payload(line.event.get(), number)?,
        }))
    }

    /// The session to create, with its provenance, its bookmarks and its events.
    pub fn into_parts(
        self,
        id: SessionId,
    ) -> (NewSession, SessionProvenance, Vec<Bookmark>, CheckedExport) {
        let new = NewSession {
            id,
            created_at: self.header.created_at,
            format: self.header.format,
            parent: None,
            summary: SessionSummary {
                title: self.header.title.clone(),
                ..SessionSummary::default()
            },
        };
        // Without its secrets, the session no longer matches the hash in the header.
        let header = match self.secrets {
            SecretPolicy::Redacted(_) => String::new(),
            _ => self.text.clone(),
        };
        let from = SessionProvenance { source: SOURCE.to_owned(), header };
        let bookmarks = self.header.bookmarks.clone();
        (new, from, bookmarks, CheckedExport::new(self))
    }
}
