//! The lossless form: one header line, then one line an event with its payload byte for byte.

use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::incoming::Checked;
use super::limits::{ImportError, Lines, MAX_EVENTS};
use super::secrets::{Secrets, take_out};
use crate::{Bookmark, ForkPoint, NewSession, Provenance, Reader, Row, SessionSummary, StoreError};
use planwright_model::event::FORMAT;
use planwright_model::{Digest, Seq, SessionId};

/// The version of this file format.
const VERSION: u32 = 1;
/// Sessions that came from such a file say so.
pub const SOURCE: &str = "planwright";

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub planwright_export: u32,
    /// The major version of the events.
    pub format: u32,
    pub session: String,
    pub created_at: Timestamp,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    pub events: u64,
    /// The last link of a chain of hashes over all lines, so that damage is noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bookmarks: Vec<Bookmark>,
}

/// Where a fork came from. The export itself holds all of its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parent {
    pub session: String,
    pub seq: Seq,
}

#[derive(Serialize)]
struct LineOut<'a> {
    seq: Seq,
    at: Timestamp,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    event: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineIn<'a> {
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
    #[error("event {0} is no JSON and cannot be written as a line")]
    NotJson(Seq),
}

/// Writes a session, its whole past included. An imported one is written as it came.
pub fn write(reader: &Reader, id: &SessionId, out: &mut impl Write) -> Result<(), ExportError> {
    writeln!(out, "{}", header(reader, id)?)?;
    each_line(reader, id, |line| Ok(out.write_all(line)?))?;
    Ok(out.flush()?)
}

/// Gives every event as its line, end included.
fn each_line(
    reader: &Reader,
    id: &SessionId,
    mut take: impl FnMut(&[u8]) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let head = reader.head(id)?;
    let (mut failed, mut line) = (None, Vec::new());
    reader.scan(id, Seq(1)..=head, None, |row| {
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

/// The hash of a line and of all before it.
fn link(before: Option<&Digest>, line: &str) -> Digest {
    Digest::of_json(&serde_json::json!([before, line]))
}

fn chain(reader: &Reader, id: &SessionId) -> Result<Option<Digest>, ExportError> {
    let mut chain = None;
    each_line(reader, id, |line| {
        let text = std::str::from_utf8(line).unwrap_or_default().trim_end_matches('\n');
        chain = Some(link(chain.as_ref(), text));
        Ok(())
    })?;
    Ok(chain)
}

fn write_line(row: &Row, out: &mut Vec<u8>) -> Result<(), ExportError> {
    let text = std::str::from_utf8(&row.payload).ok().filter(|text| !text.contains('\n'));
    let event: &RawValue = text
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or(ExportError::NotJson(row.seq))?;
    let task = row.task.as_deref();
    let line = LineOut { seq: row.seq, at: row.at, kind: &row.kind, task, event };
    serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
    out.push(b'\n');
    Ok(())
}

fn header(reader: &Reader, id: &SessionId) -> Result<String, ExportError> {
    let info = reader.session(id)?;
    let bookmarks = reader.bookmarks(id)?;
    if let Some(from) = reader.provenance(id)?
        && let Ok(old) = serde_json::from_str::<Header>(&from.header)
    {
        if old.bookmarks == bookmarks && old.events == info.head.0 {
            return Ok(from.header);
        }
        let chain = chain(reader, id)?;
        let header = Header { bookmarks, events: info.head.0, chain, ..old };
        return Ok(serde_json::to_string(&header).map_err(io::Error::from)?);
    }
    let header = Header {
        planwright_export: VERSION,
        format: info.format,
        session: id.to_string(),
        created_at: info.created_at,
        title: info.summary.title,
        parent: info
            .parent
            .map(|ForkPoint { session, seq }| Parent { session: session.to_string(), seq }),
        events: info.head.0,
        chain: chain(reader, id)?,
        bookmarks,
    };
    Ok(serde_json::to_string(&header).map_err(io::Error::from)?)
}

/// An export that is being read: its header is checked, its events come one by one.
#[derive(Debug)]
pub struct Export {
    pub header: Header,
    text: String,
    lines: Lines,
    seen: u64,
    chain: Option<Digest>,
    secrets: Secrets,
}

impl Export {
    /// Opens an export and checks its header. `Ok(None)` if the file is something else.
    pub fn open(path: &Path) -> Result<Option<Self>, ImportError> {
        let mut lines = Lines::open(path)?;
        let Some(text) = lines.next_line()? else {
            return Err(ImportError::Other("the file is empty".to_owned()));
        };
        let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return Ok(None) };
        let Some(version) = value.get("planwright_export") else { return Ok(None) };
        let found = version.as_u64().and_then(|version| u32::try_from(version).ok());
        match found {
            Some(VERSION) => {}
            Some(found) => return Err(ImportError::Newer { found, known: VERSION }),
            None => return Err(ImportError::line(1, "the version is no number")),
        }
        let header: Header = serde_json::from_str(&text)
            .map_err(|error| ImportError::line(1, format!("is no header: {error}")))?;
        if header.format > FORMAT {
            return Err(ImportError::Newer { found: header.format, known: FORMAT });
        }
        if header.events > MAX_EVENTS {
            let what = format!("a session of {} events", header.events);
            return Err(ImportError::TooMuch { what, limit: MAX_EVENTS });
        }
        let secrets = Secrets::default();
        Ok(Some(Self { header, text, lines, seen: 0, chain: None, secrets }))
    }

    /// Says what becomes of secrets, and looks for them in the header at once.
    pub fn watching(mut self, secrets: Secrets) -> Result<Self, ImportError> {
        let mut header = serde_json::to_value(&self.header)
            .map_err(|error| ImportError::line(1, error.to_string()))?;
        match &secrets {
            Secrets::Refused(redactor) if take_out(redactor, &mut header) => {
                return Err(ImportError::Secret { line: 1 });
            }
            Secrets::TakenOut(redactor) => {
                take_out(redactor, &mut header);
                self.header = serde_json::from_value(header)
                    .map_err(|error| ImportError::line(1, format!("is no header: {error}")))?;
            }
            _ => {}
        }
        self.secrets = secrets;
        Ok(self)
    }

    /// An event without its secrets, or none at all.
    fn safe(&self, payload: &str, line: u64) -> Result<Vec<u8>, ImportError> {
        let (Secrets::Refused(redactor) | Secrets::TakenOut(redactor)) = &self.secrets else {
            return Ok(payload.as_bytes().to_vec());
        };
        let unreadable = |error: serde_json::Error| ImportError::line(line, error.to_string());
        let mut value = serde_json::from_str(payload).map_err(unreadable)?;
        match (take_out(redactor, &mut value), &self.secrets) {
            (false, _) => Ok(payload.as_bytes().to_vec()),
            (true, Secrets::TakenOut(_)) => serde_json::to_vec(&value).map_err(unreadable),
            (true, _) => Err(ImportError::Secret { line }),
        }
    }

    /// The next event, checked as far as it can be by itself.
    pub fn next_row(&mut self) -> Result<Option<Row>, ImportError> {
        let Some(text) = self.lines.next_line()? else {
            if self.seen != self.header.events {
                let (seen, claimed) = (self.seen, self.header.events);
                return Err(ImportError::Other(format!(
                    "the header tells of {claimed} events, the file has {seen}"
                )));
            }
            if self.header.chain.is_some() && self.chain != self.header.chain {
                let what = "the events are not the ones that were exported: the hashes differ";
                return Err(ImportError::Other(what.to_owned()));
            }
            return Ok(None);
        };
        let number = self.lines.number();
        if self.header.chain.is_some() {
            self.chain = Some(link(self.chain.as_ref(), &text));
        }
        let line: LineIn<'_> = serde_json::from_str(&text)
            .map_err(|error| ImportError::line(number, format!("is no event: {error}")))?;
        self.seen += 1;
        if line.seq.0 != self.seen {
            return Err(ImportError::line(
                number,
                format!("expected event {}, found {}", self.seen, line.seq),
            ));
        }
        if self.seen > self.header.events {
            return Err(ImportError::line(number, "there are more events than the header tells"));
        }
        Ok(Some(Row {
            seq: line.seq,
            at: line.at,
            kind: line.kind.into(),
            task: line.task,
            payload: self.safe(line.event.get(), number)?,
        }))
    }

    /// The session as it is to be created, with where it came from, its bookmarks and its events.
    pub fn into_parts(self, id: SessionId) -> (NewSession, Provenance, Vec<Bookmark>, Checked) {
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
        // Without its secrets it is no longer the file that its header vouches for.
        let header = match self.secrets {
            Secrets::TakenOut(_) => String::new(),
            _ => self.text.clone(),
        };
        let from = Provenance { source: SOURCE.to_owned(), header };
        let bookmarks = self.header.bookmarks.clone();
        (new, from, bookmarks, Checked::new(self))
    }
}
