//! The log of a task, or of all of them: where each line of output stands in the journal.
//!
//! Only places are kept, so that a long log costs little; the text of a line is read when it is on the screen.

use std::cell::RefCell;
use std::rc::Rc;

use jiff::Timestamp;

use planwright_model::event::{CallEvent, Event, OutputStream, Record};
use planwright_model::{Seq, TaskId};
use planwright_state::replay::{History, RecordSourceError, missing_output_line};
use planwright_state::timeline::Timeline;
use planwright_state::trace::{TraceEntryKind, outcome_text};
use planwright_text::units;

/// How many records are read before keys are looked at again.
const MAX_READS_PER_UPDATE: usize = 2_000;

/// What a line of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogLineKind {
    Stdout,
    Stderr,
    /// Said by Planwright: what started, how it ended.
    Mark,
}

/// The end of a place that counts lines: the text stands in a spool, and how long its lines are is not known before they
/// are read.
const NTH_LINE: u32 = u32::MAX;

/// Where a line stands: the record, and which bytes of its text, or which line of it.
#[derive(Clone, Copy, Debug)]
struct LogPlace {
    seq: Seq,
    from: u32,
    to: u32,
}

/// A line to show. The text is as it was journaled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LogLine {
    pub(crate) at: Timestamp,
    pub(crate) task: TaskId,
    pub(crate) kind: LogLineKind,
    pub(crate) text: String,
}

/// The log, extended as the session grows.
#[derive(Debug, Default)]
pub(crate) struct OutputLog {
    task: Option<TaskId>,
    scanned: usize,
    places: Vec<LogPlace>,
    /// The lines of the spooled record that was read last.
    spooled: RefCell<Option<(Seq, Rc<SpooledLines>)>>,
}

/// What a spooled record holds, by line.
#[derive(Debug)]
struct SpooledLines {
    stream: OutputStream,
    texts: Vec<String>,
}

impl OutputLog {
    /// Takes in what is new. Another task starts over. It may stay [behind](Self::is_behind), so that keys stay quick.
    pub(crate) fn update(
        &mut self,
        task: Option<&TaskId>,
        timeline: &Timeline,
        history: &mut History,
    ) -> Result<(), RecordSourceError> {
        if self.task.as_ref() != task || self.scanned > timeline.len() {
            *self = Self { task: task.cloned(), ..Self::default() };
        }
        let mut read = 0;
        let from = self.scanned;
        for (position, step) in timeline.steps_of(task, from) {
            if !matches!(step.kind, TraceEntryKind::Observed | TraceEntryKind::Action) {
                continue;
            }
            self.scanned = position + 1;
            if let Some(record) = history.record_at(step.seq)? {
                self.places.extend(record_places(&record));
            }
            read += 1;
            if read >= MAX_READS_PER_UPDATE {
                return Ok(());
            }
        }
        self.scanned = timeline.len();
        Ok(())
    }

    /// Whether there are steps that have not been looked at.
    pub(crate) fn is_behind(&self, timeline: &Timeline) -> bool {
        self.scanned < timeline.len()
    }

    /// How many lines there are up to an event; all of them without one.
    pub(crate) fn lines_up_to(&self, cursor: Option<Seq>) -> usize {
        match cursor {
            Some(cursor) => self.places.partition_point(|place| place.seq <= cursor),
            None => self.places.len(),
        }
    }

    /// A line by its number.
    pub(crate) fn line(
        &self,
        number: usize,
        history: &mut History,
    ) -> Result<Option<LogLine>, RecordSourceError> {
        let Some(place) = self.places.get(number) else { return Ok(None) };
        let Some(record) = history.record_at(place.seq)? else { return Ok(None) };
        if let Event::Call(event @ CallEvent::Spooled { call, .. }) = &record.event {
            let Some(lines) = self.spooled_lines(place.seq, event, history)? else {
                return Ok(None);
            };
            let line = lines.texts.get(place.from as usize).cloned().unwrap_or_default();
            let (at, task, kind) = (record.at, call.task.clone(), stream_kind(lines.stream));
            return Ok(Some(LogLine { at, task, kind, text: line }));
        }
        Ok(line_at(&record, *place))
    }
}

impl OutputLog {
    /// The texts of a range of lines.
    pub(crate) fn texts(
        &self,
        range: std::ops::Range<usize>,
        history: &mut History,
    ) -> Result<Vec<String>, RecordSourceError> {
        let mut texts = Vec::with_capacity(range.len());
        for number in range {
            texts.extend(self.line(number, history)?.map(|line| line.text));
        }
        Ok(texts)
    }

    /// The lines of a spooled record. Those of the last one are kept: lines are read one after the other, and splitting
    /// the piece again for each of them would cost the square of its length.
    fn spooled_lines(
        &self,
        seq: Seq,
        event: &CallEvent,
        history: &mut History,
    ) -> Result<Option<Rc<SpooledLines>>, RecordSourceError> {
        if let Some((_, lines)) = self.spooled.borrow().as_ref().filter(|(known, _)| *known == seq)
        {
            return Ok(Some(Rc::clone(lines)));
        }
        let Some(printed) = history.printed_output(event)? else { return Ok(None) };
        let mut texts: Vec<String> = printed.text.lines().map(str::to_owned).collect();
        let mut stream = printed.stream;
        if printed.missing_bytes > 0 {
            texts.insert(0, missing_output_line(printed.missing_bytes));
            stream = OutputStream::Stderr;
        }
        let lines = Rc::new(SpooledLines { stream, texts });
        self.spooled.replace(Some((seq, Rc::clone(&lines))));
        Ok(Some(lines))
    }
}

/// The lines that a record adds to a log.
fn record_places(record: &Record) -> Vec<LogPlace> {
    let whole = LogPlace { seq: record.seq, from: 0, to: 0 };
    match &record.event {
        Event::Call(CallEvent::Output { text, .. }) => {
            let mut from = 0;
            let lines = text.split_inclusive('\n').map(|line| {
                let place = LogPlace { seq: record.seq, from, to: from + line.len() as u32 };
                from = place.to;
                place
            });
            lines.collect()
        }
        // A command stands in its plan; what an agent calls stands nowhere else.
        Event::Call(CallEvent::Intended { call, tool, .. }) if tool != "shell" || call.step > 1 => {
            vec![whole]
        }
        Event::Call(CallEvent::Spooled { lines, .. }) => (0..*lines as u32)
            .map(|line| LogPlace { seq: record.seq, from: line, to: NTH_LINE })
            .collect(),
        Event::Call(CallEvent::Concluded { .. }) => vec![whole],
        _ => Vec::new(),
    }
}

fn stream_kind(stream: OutputStream) -> LogLineKind {
    match stream {
        OutputStream::Stdout => LogLineKind::Stdout,
        OutputStream::Stderr => LogLineKind::Stderr,
    }
}

fn line_at(record: &Record, place: LogPlace) -> Option<LogLine> {
    let Event::Call(event) = &record.event else { return None };
    let (kind, text) = match event {
        CallEvent::Output { stream, text, .. } => {
            let line = text.get(place.from as usize..place.to as usize)?;
            (stream_kind(*stream), line.trim_end_matches('\n').to_owned())
        }
        CallEvent::Intended { tool, input, .. } => {
            let command = input.get("command").and_then(serde_json::Value::as_str);
            let first = command.unwrap_or(tool).lines().next().unwrap_or_default();
            (LogLineKind::Mark, format!("$ {first}"))
        }
        CallEvent::Concluded { outcome, elapsed_ms, dropped_bytes, .. } => {
            let time = units::format_elapsed(std::time::Duration::from_millis(*elapsed_ms));
            let lost = match dropped_bytes {
                0 => String::new(),
                bytes => format!(", {} of output not kept", units::format_bytes(*bytes)),
            };
            (LogLineKind::Mark, format!("┄┄ {} after {time}{lost} ┄┄", outcome_text(outcome)))
        }
        CallEvent::Spawned { .. } | CallEvent::Spooled { .. } => return None,
    };
    Some(LogLine { at: record.at, task: event.call_id().task.clone(), kind, text })
}
