//! The slider of a page: it shows the session as it was at an earlier event, without a network.

use std::collections::HashMap;
use std::fmt::Write;

use super::{escape_html, status_glyph};
use planwright_model::TaskId;
use planwright_model::event::{Event, Record};
use planwright_state::SessionState;

/// The only script of the page. It reads numbers, classes and glyphs that the page itself wrote.
pub(super) const SCRIPT: &str = "(()=>{const s=document.getElementById('at');const changes=JSON.parse(s.dataset.changes);\
const steps=[...document.querySelectorAll('[data-n]')];const tasks=[...document.querySelectorAll('[data-task]')];\
const now=document.getElementById('now');const show=()=>{const at=Number(s.value);now.textContent='event '+at+' of '+s.max;\
const state={};for(const c of changes){if(c[0]<=at)state[c[1]]=c}for(const t of tasks){const c=state[t.dataset.task]||[0,0,'wait','·','waiting'];\
t.setAttribute('class',c[2]);const g=t.querySelector('.g');if(g)g.textContent=c[3];const w=t.querySelector('.w');if(w)w.textContent=c[4]}\
for(const e of steps)e.hidden=Number(e.dataset.n)>at};s.addEventListener('input',show);document.getElementById('scrub').hidden=false})()";

/// The hash of the script, which alone is permitted to run.
pub(super) const SCRIPT_HASH: &str = "sha256-5kUT7l0xuqBrlbGTkuH88T6SqysnE6drdGoB9DXAuKo=";

/// How many changes of a status the page contains.
const CHANGES: usize = 20_000;

/// Writes the slider, hidden until the script runs. Every change of a status is in it: event, task, class, glyph, word.
pub(super) fn write_scrubber(state: &SessionState, records: &[Record], out: &mut String) {
    let last = records.last().map_or(0, |record| record.seq.0);
    let changes = serde_json::to_string(&status_changes(state, records)).unwrap_or_default();
    let _ = writeln!(
        out,
        "<p id=\"scrub\" hidden><label>Time <input type=\"range\" id=\"at\" min=\"1\" max=\"{last}\" value=\"{last}\" data-changes=\"{}\"></label> <span id=\"now\">event {last} of {last}</span></p>",
        escape_html(&changes)
    );
}

type StatusChange = (u64, usize, &'static str, &'static str, &'static str);

fn status_changes(state: &SessionState, records: &[Record]) -> Vec<StatusChange> {
    let Some(current) = &state.plan.current else { return Vec::new() };
    let places: HashMap<&TaskId, usize> =
        current.plan.tasks.iter().enumerate().map(|(index, task)| (&task.id, index)).collect();
    let mut folded = SessionState::default();
    let mut changes = Vec::new();
    let mut known: HashMap<usize, &'static str> = HashMap::new();
    for record in records {
        folded.apply(record);
        let Event::Task(event) = &record.event else { continue };
        let (task, seq) = (event.task_id(), record.seq.0);
        let (Some(place), Some(row)) = (places.get(task), folded.tasks.get(task)) else { continue };
        let (glyph, class) = status_glyph(row.status);
        let label = row.status.label();
        if known.insert(*place, label) != Some(label) && changes.len() < CHANGES {
            changes.push((seq, *place, class, glyph, label));
        }
    }
    changes
}
