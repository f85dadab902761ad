//! What the header says of a session beside its title, by badge.

use std::time::Duration;

use super::SessionBadge;
use crate::clock;
use crate::keymap::KeyAction;
use crate::pane_context::{PaneContext, SessionViewMode};
use crate::theme::ThemeRole;
use planwright_model::breaker::BreakerState;
use planwright_model::event::PauseCause;
use planwright_model::{ApprovalTarget, MicroDollars, PlanState, RunCap, Stage};
use planwright_state::{PlanningSlice, RunPhase, SessionState};
use planwright_text::{clean_line, dates, units};

/// A fact of the header.
#[derive(Clone, Debug)]
pub(super) struct HeaderFact {
    pub(super) text: String,
    /// What stands for it where there is little room.
    pub(super) short: Option<String>,
    /// What matters less goes first.
    pub(super) weight: u8,
    pub(super) role: ThemeRole,
}

impl HeaderFact {
    pub(super) fn new(text: impl Into<String>, weight: u8) -> Self {
        Self { text: text.into(), short: None, weight, role: ThemeRole::Dim }
    }

    pub(super) fn or_short(self, text: impl Into<String>) -> Self {
        Self { short: Some(text.into()), ..self }
    }

    fn in_role(self, role: ThemeRole) -> Self {
        Self { role, ..self }
    }
}

/// The facts from left to right.
pub(super) fn header_facts(badge: SessionBadge, cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    match badge {
        SessionBadge::Replay => replay_facts(cx),
        SessionBadge::Draft => draft_facts(cx),
        SessionBadge::Active => active_facts(cx),
        SessionBadge::Live => {
            let mut facts =
                vec![HeaderFact::new("runs in this terminal", 3).or_short("this terminal")];
            facts.extend(breaker_fact(cx));
            facts.extend(run_facts(cx));
            facts
        }
        SessionBadge::Watch => {
            let who = match cx.silent_for {
                Some(silent) => {
                    let ago = units::format_clock(Duration::from_secs(silent.as_secs()));
                    HeaderFact::new(format!("stopped responding {ago} ago"), 9)
                        .or_short(format!("no response, {ago}"))
                        .in_role(ThemeRole::Failed)
                }
                None => HeaderFact::new(cx.note.unwrap_or_default(), 9).or_short("another process"),
            };
            [who].into_iter().chain(run_facts(cx)).collect()
        }
        SessionBadge::Paused => paused_facts(cx),
        SessionBadge::Stopped => stopped_facts(cx),
        SessionBadge::Done => done_facts(cx),
    }
}

fn replay_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let who = if cx.mode == SessionViewMode::ScrubbedBack {
        let lead = live_lead_text(cx);
        HeaderFact::new(lead.clone(), 9).or_short(lead).in_role(ThemeRole::Warn)
    } else {
        HeaderFact::new("saved run, nothing is running", 6).or_short("nothing is running")
    };
    let mut facts = vec![who];
    if let Some(at) = cx.state.at {
        let (today, zone) = (clock::local_date(cx.wall_clock, cx.time_zone), cx.time_zone);
        let date = dates::format_date(clock::local_date(at, zone), today);
        let time = clock::format_time_of_day(at, zone);
        facts.push(HeaderFact::new(format!("{date} {time}"), 8).or_short(time));
        if let Some(begun) = cx.state.run.started_at {
            let passed = clock::format_elapsed_between(begun, at);
            facts.push(HeaderFact::new(format!("{passed} in"), 4));
        }
    }
    facts
}

/// How far live is ahead of the cursor.
fn live_lead_text(cx: &PaneContext<'_>) -> String {
    let key = cx.keymap.key_hint(KeyAction::Live);
    match (cx.state.at, cx.latest.at) {
        (Some(here), Some(live)) => {
            format!("live is {} ahead · {key}", clock::format_elapsed_between(here, live))
        }
        _ => format!("{key} returns to live"),
    }
}

fn draft_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let state = cx.state;
    let mut facts = Vec::new();
    if let Some(stage) = working_stage(&state.planning).filter(|_| state.requests.open.is_empty()) {
        facts.push(HeaderFact::new(stage, 2).in_role(ThemeRole::Running));
    }
    if let Some(file) = &state.session.plan_file {
        let name = std::path::Path::new(file).file_name().map(|name| name.to_string_lossy());
        let name = clean_line(name.as_deref().unwrap_or(file)).into_owned();
        let version = state.plan.current.as_ref().map(|current| current.revision);
        let version = version.map(|number| format!(", version {number}")).unwrap_or_default();
        facts.push(HeaderFact::new(format!("{name}{version}"), 3).or_short(name));
    }
    if state.planning.begun {
        facts.push(HeaderFact::new(drafter_name(state), 4));
    }
    facts.push(clock_fact(cx));
    facts.extend(tokens_fact(cx));
    facts.extend(money_fact(cx));
    facts
}

/// The moment that is shown, as a clock that does not tick.
fn clock_fact(cx: &PaneContext<'_>) -> HeaderFact {
    let now = cx.now.to_zoned(cx.time_zone.clone());
    let today = clock::local_date(cx.wall_clock, cx.time_zone);
    let time = dates::format_time(now.time());
    HeaderFact::new(format!("{}, {time}", dates::format_date(now.date(), today)), 3).or_short(time)
}

/// Who drafts.
fn drafter_name(state: &SessionState) -> String {
    if state.planning.offline {
        return "built-in planner".to_owned();
    }
    clean_line(&state.planning.drafter.to_string()).into_owned()
}

/// What is being drafted, while somebody drafts.
fn working_stage(planning: &PlanningSlice) -> Option<&'static str> {
    if !planning.begun || !planning.is_working() {
        return None;
    }
    let place = planning.place;
    let stage = place.state.stage().or(match (place.state, place.target) {
        (PlanState::SeekApproval, Some(ApprovalTarget::Outline)) => Some(Stage::Outline),
        (PlanState::SeekApproval, Some(ApprovalTarget::Roadmap)) => Some(Stage::Roadmap),
        _ => planning.resume.and_then(|place| place.state.stage()),
    });
    Some(match stage {
        Some(Stage::Outline) => "drafting the outline",
        Some(Stage::Roadmap) => "drafting the tasks",
        Some(Stage::Schedule) => "drafting the dates",
        None => "reading the goal",
    })
}

fn active_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let mut facts = Vec::new();
    if let Some(next) = cx.next_task.next() {
        facts.push(HeaderFact::new(next.long.clone(), 6).or_short(next.short.clone()));
    }
    facts.push(progress_fact(cx));
    if let Some(until) = cx.next_task.until() {
        facts.push(HeaderFact::new(format!("until {until}"), 4));
    }
    facts.extend(money_fact(cx));
    facts
}

/// The facts that every run ends with: how far, how long, how many tokens, how much money.
fn run_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let mut facts = vec![progress_fact(cx)];
    if let Some(begun) = cx.state.run.started_at {
        facts.push(HeaderFact::new(coarse_duration(clock::duration_between(begun, cx.now)), 5));
    }
    facts.extend(tokens_fact(cx));
    facts.extend(money_fact(cx));
    facts
}

fn progress_fact(cx: &PaneContext<'_>) -> HeaderFact {
    let counts = cx.state.tasks.work_counts();
    if counts.total() == 0 {
        return HeaderFact::new("", 0);
    }
    HeaderFact::new(format!("{} of {} done", counts.done, counts.total()), 8).or_short(format!(
        "{}/{}",
        counts.done,
        counts.total()
    ))
}

/// Time for a header: seconds only while there is nothing longer.
fn coarse_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let shown = if seconds < 60 { seconds } else { (seconds + 30) / 60 * 60 };
    units::format_clock(Duration::from_secs(shown))
}

fn tokens_fact(cx: &PaneContext<'_>) -> Option<HeaderFact> {
    let tokens = cx.state.totals.tokens;
    let text = format!("{} tokens", units::format_whole_tokens(tokens));
    (tokens > 0).then(|| HeaderFact::new(text, 1))
}

/// What was spent, of what may be; nothing where nothing can be spent.
fn money_fact(cx: &PaneContext<'_>) -> Option<HeaderFact> {
    let spent = cx.state.totals.cost;
    let planning = &cx.state.planning;
    if spent == MicroDollars::ZERO && (!planning.begun || planning.offline) {
        return None;
    }
    let limit = match cx.state.run.raised.get(&RunCap::BudgetPerSessionUsd) {
        Some(to) => to.map(MicroDollars),
        None => Some(cx.session_budget),
    };
    let Some(limit) = limit.filter(|limit| *limit > MicroDollars::ZERO) else {
        return Some(HeaderFact::new(spent.to_string(), 7));
    };
    let share = spent.0 as f64 / limit.0 as f64;
    let role = match share {
        share if share >= 1.0 => ThemeRole::Failed,
        share if share >= 0.8 => ThemeRole::Warn,
        _ => ThemeRole::Dim,
    };
    let fact = HeaderFact::new(format!("{spent} of {limit}"), 7).or_short(spent.to_string());
    Some(fact.in_role(role))
}

/// The first tool that is not used for a while, because it kept failing.
fn breaker_fact(cx: &PaneContext<'_>) -> Option<HeaderFact> {
    let (tool, state) = cx.state.breakers.unclosed_breakers(cx.now).next()?;
    let tool = clean_line(tool).into_owned();
    let text = match state {
        BreakerState::Open => {
            let wait = cx.state.breakers.open_for_ms(&tool, cx.now).div_ceil(1000);
            let wait = units::format_clock(Duration::from_secs(wait));
            format!("{tool} keeps failing, next try in {wait}")
        }
        _ => format!("{tool} is tried again"),
    };
    let short = format!("{tool} fails");
    Some(HeaderFact::new(text, 6).or_short(short).in_role(ThemeRole::Warn))
}

fn paused_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let run = &cx.state.run;
    let cause = match &run.pause {
        Some(PauseCause::Cap { .. }) => "paused at a limit",
        Some(PauseCause::Person) | None => "paused by you",
    };
    let ago = run.paused_at.map(|at| {
        let passed = clock::duration_between(at, cx.now);
        if passed.as_secs() < 1 {
            String::new()
        } else {
            format!(" {} ago", coarse_duration(passed))
        }
    });
    let finishing = match cx.state.tasks.status_counts().running {
        0 => String::new(),
        1 => ", 1 task finishes its step".to_owned(),
        count => format!(", {count} tasks finish their step"),
    };
    let who = format!("{cause}{}{finishing}", ago.unwrap_or_default());
    vec![HeaderFact::new(who, 6).or_short(cause), progress_fact(cx), key_fact(cx, "resume")]
}

/// The key that makes the run continue, where this process can.
fn key_fact(cx: &PaneContext<'_>, verb: &str) -> HeaderFact {
    let key = cx.keymap.key_hint(KeyAction::Pause);
    HeaderFact::new(if cx.can_act { format!("{key} {verb}") } else { String::new() }, 7)
}

fn stopped_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let state = cx.state;
    if state.plan.abandoned {
        return vec![HeaderFact::new("the plan was discarded", 6)];
    }
    if state.run.phase == RunPhase::Idle {
        let why = HeaderFact::new("approved, not started", 6);
        return vec![why, progress_fact(cx), key_fact(cx, "run")];
    }
    let since = state.run.stopped_at.or(state.at).map(|at| {
        let today = clock::local_date(cx.wall_clock, cx.time_zone);
        let moment = at.to_zoned(cx.time_zone.clone()).datetime();
        format!(" at {}", dates::format_near_date_time(moment, today))
    });
    let why = format!("nothing is running: the run stopped{}", since.unwrap_or_default());
    let why = HeaderFact::new(why, 6).or_short("nothing is running");
    vec![why, progress_fact(cx), key_fact(cx, "resume")]
}

fn done_facts(cx: &PaneContext<'_>) -> Vec<HeaderFact> {
    let run = &cx.state.run;
    let failed = cx.state.tasks.status_counts().failed;
    let mut facts = Vec::new();
    if let Some(end) = run.finished_at {
        let today = clock::local_date(cx.wall_clock, cx.time_zone);
        let moment = end.to_zoned(cx.time_zone.clone()).datetime();
        let end = dates::format_near_date_time(moment, today);
        let failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let role = if failed > 0 { ThemeRole::Failed } else { ThemeRole::Dim };
        let fact = HeaderFact::new(format!("finished {end}{failures}"), 6);
        let short = if failed > 0 { format!("{failed} failed") } else { end };
        facts.push(fact.or_short(short).in_role(role));
    }
    facts.push(progress_fact(cx));
    if let Some((begun, end)) = run.started_at.zip(run.finished_at) {
        facts.push(HeaderFact::new(units::format_elapsed(clock::duration_between(begun, end)), 5));
    }
    facts.extend(money_fact(cx));
    facts
}
