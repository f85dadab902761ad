//! A replay as a film: the screens of a session at its steps, drawn without a terminal.

use jiff::Timestamp;

use super::session_history;
use planwright_model::event::Event;
use planwright_model::{Seq, SessionId};
use planwright_state::trace::TraceEntry;
use planwright_store::Store;
use planwright_tui::{RecordedFrame, SessionPreview, SessionView, UiSettings};

/// The size of the screens.
const SIZE: (u16, u16) = (100, 30);

/// The most frames; of more steps every so manieth is shown.
const MAX_FRAMES: usize = 300;

/// The longest pause between frames, and the shortest time that one is shown, in seconds.
const LONGEST: f64 = 2.0;
const SHORTEST: f64 = 0.08;

/// The frames of a session and when it began. Pauses are shortened to two seconds.
pub(crate) fn film_session(
    store: &Store,
    id: &SessionId,
    settings: &UiSettings,
) -> anyhow::Result<(Timestamp, Vec<RecordedFrame>)> {
    let mut history = session_history(store, id)?;
    let head = history.head_seq()?;
    let mut moments: Vec<(Seq, Timestamp)> = Vec::new();
    let mut began = None;
    for number in 1..=head.0 {
        let Some(record) = history.record_at(Seq(number))? else { break };
        began.get_or_insert(record.at);
        let is_step = TraceEntry::from_record(&record).is_some();
        if is_step || matches!(record.event, Event::Task(_) | Event::Plan(_) | Event::Run(_)) {
            moments.push((record.seq, record.at));
        }
    }
    let step = moments.len().div_ceil(MAX_FRAMES).max(1);
    let last = moments.last().copied();
    let mut kept: Vec<(Seq, Timestamp)> = moments.into_iter().step_by(step).collect();
    kept.extend(last.filter(|last| kept.last() != Some(last)));
    let view = SessionView {
        start_at: Some(Seq::START),
        ..SessionView::new(id.clone(), history, tokio::sync::watch::channel(head).1)
    };
    let mut screen = SessionPreview::open(view, settings)?;
    let (mut frames, mut seconds) = (Vec::new(), 0.0);
    let mut before: Option<Timestamp> = None;
    for (seq, at) in kept {
        if let Some(before) = before {
            seconds += at.duration_since(before).as_secs_f64().clamp(SHORTEST, LONGEST);
        }
        before = Some(at);
        frames.push(screen.record_frame(seq, seconds, SIZE)?);
    }
    Ok((began.unwrap_or_default(), frames))
}
