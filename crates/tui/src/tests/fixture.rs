//! Sessions made from recorded journals and from events, as the engine would write them; requests are always recorded ones.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use crossterm::event::{Event as TerminalEvent, KeyEvent, KeyModifiers};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use tokio::sync::{mpsc, watch};

use super::journals::{plan_request, recorded_journal, recorded_request};
use crate::keymap::KeyChord;
use crate::session::{ScreenEffect, ScreenMessage, SessionScreen};
use crate::theme::{ColorDepth, Theme, ThemeRole};
use crate::{KeyOverrides, SessionActions, SessionView, UiSettings};
use planwright_model::event::{
    ApprovalEvent, CallEvent, CallOutcome, Command, Event, OutputStream, PlanEvent, Record,
    RepeatClass, RiskClass, RunCounts, RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::{
    Actor, Answer, CallId, Category, ChoiceAction, Digest, ExecutionFailure, GraphFacts,
    NormalizationChange, Plan, RequestId, RequestKind, Seq, SessionId, SkipReason, TaskId,
};
use planwright_state::SessionState;
use planwright_state::replay::{History, MemorySource, RecordSource, RecordSourceError};

thread_local! {
    static PASSED: Cell<i64> = const { Cell::new(0) };
}

/// The clock of all tests: 14:22:31, as in the drawn screens, and what passed since.
pub(crate) fn now() -> Timestamp {
    let start: Timestamp = "2026-06-08T14:22:31Z".parse().unwrap();
    start.checked_add(SignedDuration::from_millis(PASSED.get())).unwrap()
}

/// Lets time pass for the test that calls it.
pub(crate) fn pass(milliseconds: i64) {
    PASSED.set(PASSED.get() + milliseconds);
}

pub(crate) fn settings() -> UiSettings {
    UiSettings {
        theme: Theme::default(),
        keys: KeyOverrides::default(),
        ascii: false,
        reduced_motion: false,
        opened_from_home: false,
        color: ColorDepth::True,
        session_budget: planwright_model::MicroDollars(2_000_000),
        now,
        time_zone: jiff::tz::TimeZone::UTC,
        changes: None,
        store: None,
    }
}

/// A session in the making.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) records: Vec<Record>,
    at: Timestamp,
    asked: u32,
    hash: Digest,
}

impl Fixture {
    /// A session that was just created.
    pub(crate) fn new(title: &str) -> Self {
        let mut fixture = Self {
            records: Vec::new(),
            at: "2026-06-08T14:08:23Z".parse().unwrap(),
            asked: 0,
            hash: Digest::from_value(&"nothing").unwrap(),
        };
        fixture.push(SessionEvent::Created {
            format: 1,
            program: "planwright 0.3.0".into(),
            title: title.into(),
            goal: None,
            workspace: "/home/ada/parser".into(),
            plan_file: Some("release.toml".into()),
        });
        fixture.push(SessionEvent::Opened { program: "planwright 0.3.0".into(), pid: 4711 });
        fixture
    }

    /// A session as it was recorded.
    pub(crate) fn from_records(records: Vec<Record>) -> Self {
        let state = SessionState::from_records(&records);
        let hash = state.plan.current.as_ref().map(|current| current.hash.clone());
        let asked = state.requests.next_id().0 - 1;
        let at = records.last().map(|record| record.at).unwrap();
        let hash = hash.unwrap_or_else(|| Digest::from_value(&"nothing").unwrap());
        Self { records, at, asked, hash }
    }

    /// The session of the drawn screens, its plan waiting for approval: read two minutes after it was opened.
    pub(crate) fn release() -> Self {
        let mut fixture = recorded_request("release", 1);
        let begun = fixture.records[0].at;
        fixture.at = begun.checked_add(SignedDuration::from_secs(120)).unwrap();
        let read = |record: &Record| matches!(record.event, Event::Plan(_) | Event::Approval(_));
        for record in &mut fixture.records {
            record.at = if read(record) { fixture.at } else { begun };
        }
        fixture
    }

    /// The same with another revision in the place of the plan.
    pub(crate) fn revised() -> Self {
        recorded_request("revised", 2)
    }

    /// A recorded plan whose tasks are all the person's, under way.
    pub(crate) fn for_person() -> Self {
        let approved = recorded_request("drafts", 5).approved();
        let plan = approved.state().plan.current.clone().unwrap();
        approved.hand_over(plan.facts.execution_order[0].as_str())
    }

    /// The recorded run up to a moment of its day: `14:22:24`.
    pub(crate) fn recorded_run(time: &str) -> Self {
        let until: Timestamp = format!("2026-06-08T{time}Z").parse().unwrap();
        let mut records = recorded_journal("release_run");
        records.retain(|record| record.at <= until);
        // The clock of whoever watches is never behind what happened.
        let ahead = until.duration_since(now()).as_millis();
        pass(i64::try_from(ahead).unwrap().max(0));
        Self::from_records(records)
    }

    /// The recorded run as in the drawings: two agents work, a command has failed, the person has a task.
    pub(crate) fn recorded_work() -> Self {
        Self::recorded_run("14:22:24")
    }

    /// Shows a session that another process runs.
    pub(crate) fn watched(&self) -> Shown {
        let note = "runs in another terminal; read-only";
        self.open(false, Some(note), |view| view)
    }

    /// Shows a saved run that plays from its start.
    pub(crate) fn playing(&self) -> Shown {
        self.open(false, None, |view| SessionView { start_at: Some(Seq(1)), plays: true, ..view })
    }

    /// One that ran for a while: three done, one failed, one skipped, two running, one the person's.
    pub(crate) fn running() -> Self {
        Self::release()
            .wait(136)
            .approved()
            .start("audit")
            .start("bench")
            .hand_over("keys")
            .output("bench", "14 benchmarks written to target/criterion\n")
            .wait(72)
            .done("bench", 72)
            .start("fuzz")
            .wait(110)
            .done("audit", 182)
            .start("api")
            .wait(10)
            .output("fuzz", "thread panicked at src/lexer.rs:88\nindex out of bounds: the len is 3 but the index is 3\nnote: run with RUST_BACKTRACE=1\n")
            .fail("fuzz", 120, "exit 101")
            .skip("corpus", SkipReason::DependencyFailed)
            .wait(240)
            .done("api", 250)
            .start("port")
            .start("docs")
            .wait(60)
            .output("port", "   Compiling parser v2.0.0-rc.1\n")
            .output("docs", "section 3 of 5\n")
    }

    /// One that is over, with a failure.
    pub(crate) fn failed() -> Self {
        let mut fixture = Self::running().wait(40).done("port", 100).done("docs", 100);
        fixture.push(RunEvent::Finished {
            success: false,
            counts: RunCounts { completed: 5, failed: 1, skipped: 1 },
            elapsed_ms: 600_000,
        });
        fixture
    }

    /// One that was resumed after a quit, with a command whose outcome is not known.
    pub(crate) fn in_doubt() -> Self {
        recorded_request("in_doubt", 2)
    }

    pub(crate) fn push(&mut self, event: impl Into<Event>) {
        let seq = Seq(self.records.len() as u64 + 1);
        self.records.push(Record::new(seq, self.at, event));
    }

    pub(crate) fn with(mut self, event: impl Into<Event>) -> Self {
        self.push(event);
        self
    }

    /// Lets seconds pass.
    pub(crate) fn wait(mut self, seconds: i64) -> Self {
        self.at = self.at.checked_add(SignedDuration::from_secs(seconds)).unwrap();
        self
    }

    pub(crate) fn propose(mut self, plan: Plan, normalization: Vec<NormalizationChange>) -> Self {
        self.hash = plan.digest().unwrap();
        let facts = Arc::new(facts(&plan));
        let hash = self.hash.clone();
        self.with(PlanEvent::Proposed {
            revision: 1,
            hash,
            plan: Arc::new(plan),
            facts,
            normalization,
        })
    }

    /// Asks whether the plan may run, as the engine asks it of a plan file.
    pub(crate) fn ask_plan(mut self) -> Self {
        self.asked += 1;
        let mut request = plan_request();
        request.id = RequestId(self.asked);
        request.kind = RequestKind::FinalPlan { hash: self.hash.clone(), revision: 1 };
        self.with(ApprovalEvent::Asked { request: Arc::new(request) })
    }

    pub(crate) fn approved(mut self) -> Self {
        let id = RequestId(self.asked);
        let answer = Answer::from(ChoiceAction::ApproveAndRun);
        self.push(ApprovalEvent::Answered { id, answer, by: Actor::Person });
        self.push(PlanEvent::Approved { hash: self.hash.clone(), by: Actor::Person });
        let hash = self.hash.clone();
        self.with(RunEvent::Started { hash, jobs: 3 })
    }

    pub(crate) fn start(mut self, task: &str) -> Self {
        self.push(TaskEvent::Started {
            task: task.into(),
            attempt: 1,
            depth: 0,
            affinity_delta: 0.0,
        });
        let input = serde_json::json!({ "command": format!("make {task}") });
        self.with(CallEvent::Intended {
            call: call(task),
            tool: "shell.run".into(),
            version: "1.0".into(),
            input_hash: Digest::from_value(&input).unwrap(),
            input,
            class: RiskClass::Execute,
            repeat: RepeatClass::Unsafe,
            file: None,
        })
    }

    pub(crate) fn hand_over(self, task: &str) -> Self {
        self.with(TaskEvent::HandedOver { task: task.into() })
    }

    pub(crate) fn output(self, task: &str, text: &str) -> Self {
        self.with(CallEvent::Output {
            call: call(task),
            stream: OutputStream::Stdout,
            text: text.into(),
        })
    }

    fn concluded(self, task: &str, code: i32, seconds: u64) -> Self {
        self.with(CallEvent::Concluded {
            call: call(task),
            outcome: CallOutcome::Exited { code },
            elapsed_ms: seconds * 1000,
            output_bytes: 10,
            dropped_bytes: 0,
            usage: planwright_model::event::Usage::default(),
        })
    }

    pub(crate) fn done(self, task: &str, seconds: u64) -> Self {
        self.concluded(task, 0, seconds).with(TaskEvent::Completed {
            task: task.into(),
            attempt: 1,
            elapsed_ms: seconds * 1000,
            by: None,
            note: None,
        })
    }

    pub(crate) fn fail(self, task: &str, seconds: u64, message: &str) -> Self {
        self.concluded(task, 101, seconds).with(TaskEvent::Failed {
            task: task.into(),
            attempt: 1,
            elapsed_ms: seconds * 1000,
            failure: ExecutionFailure::new("exit_status", Category::Critical, message),
            retry_in_ms: None,
        })
    }

    pub(crate) fn skip(self, task: &str, reason: SkipReason) -> Self {
        self.with(TaskEvent::Skipped { task: task.into(), reason })
    }

    /// The plan is approved and kept for later.
    pub(crate) fn kept(mut self) -> Self {
        let id = RequestId(self.asked);
        let answer = Answer::from(ChoiceAction::ApproveAndStop);
        self.push(ApprovalEvent::Answered { id, answer, by: Actor::Person });
        let hash = self.hash.clone();
        self.with(PlanEvent::Approved { hash, by: Actor::Person })
    }

    /// The process went away, and another one opened the session.
    pub(crate) fn interrupted(self) -> Self {
        self.with(RunEvent::Interrupted { why: "quit".into() })
    }

    /// A run that is held because it used all it may.
    pub(crate) fn capped() -> Self {
        recorded_request("cap", 2)
    }

    pub(crate) fn pause(self) -> Self {
        self.with(RunEvent::Paused(planwright_model::event::PauseCause::Person))
    }

    pub(crate) fn state(&self) -> SessionState {
        SessionState::from_records(&self.records)
    }

    /// A live screen and what it sends.
    pub(crate) fn live(&self) -> Shown {
        self.show(true, None)
    }

    /// A saved run at an event.
    pub(crate) fn replay(&self, at: u64) -> Shown {
        self.show(false, Some(Seq(at)))
    }

    fn show(&self, live: bool, start_at: Option<Seq>) -> Shown {
        self.show_with(live, start_at, None)
    }

    /// A screen whose requests somebody answers.
    pub(crate) fn show_with(
        &self,
        live: bool,
        start_at: Option<Seq>,
        actions: Option<Arc<dyn SessionActions>>,
    ) -> Shown {
        self.open(live, None, |view| SessionView { start_at, actions, ..view })
    }

    /// Opens the session with what a test changes about the view.
    fn open(
        &self,
        live: bool,
        note: Option<&str>,
        change: impl FnOnce(SessionView) -> SessionView,
    ) -> Shown {
        let (sender, commands) = mpsc::channel(8);
        let head = Seq(self.records.len() as u64);
        let journal = Journal(Arc::new(Mutex::new(self.records.clone())));
        let id = SessionId::new("7f3a9c0d1e2f");
        let history = History::new(Journal(Arc::clone(&journal.0)));
        let view = SessionView {
            commands: live.then_some(sender),
            note: note.map(str::to_owned),
            detaches: live && note.is_none(),
            ..SessionView::new(id, history, watch::channel(head).1)
        };
        let screen = SessionScreen::open(change(view), &settings()).unwrap();
        Shown { screen, commands, journal }
    }
}

/// A journal that can grow while a screen looks at it.
pub(crate) struct Journal(Arc<Mutex<Vec<Record>>>);

impl RecordSource for Journal {
    fn head_seq(&mut self) -> Result<Seq, RecordSourceError> {
        Ok(Seq(self.0.lock().unwrap().len() as u64))
    }

    fn read_records(
        &mut self,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Record>, RecordSourceError> {
        MemorySource::new(self.0.lock().unwrap().clone()).read_records(range)
    }

    fn latest_checkpoint(&mut self, _: Seq) -> Result<Option<Vec<u8>>, RecordSourceError> {
        Ok(None)
    }
}

/// A screen under test.
pub(crate) struct Shown {
    pub(crate) screen: SessionScreen,
    pub(crate) commands: mpsc::Receiver<Command>,
    journal: Journal,
}

impl Shown {
    /// Presses keys as they are written, `Enter` and `Ctrl-C` included, and says what the last one led to.
    pub(crate) fn press(&mut self, keys: &[&str]) -> ScreenEffect {
        let mut flow = ScreenEffect::Idle;
        for text in keys {
            let key = KeyChord::parse(text).unwrap();
            let modifiers = if key.ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            let event = TerminalEvent::Key(KeyEvent::new(key.code, modifiers));
            flow = self.screen.update(ScreenMessage::Input(event)).unwrap();
        }
        flow
    }

    /// Lets the session go on as a longer one did.
    pub(crate) fn grow(&mut self, longer: &Fixture) -> ScreenEffect {
        self.journal.0.lock().unwrap().clone_from(&longer.records);
        self.screen.update(ScreenMessage::Head(Seq(longer.records.len() as u64))).unwrap()
    }

    /// Lets the edits of the journal be read.
    pub(crate) fn settle_files(&mut self) {
        self.draw(120, 40);
        while self.screen.is_reading_files() {
            self.screen.update(ScreenMessage::Tick).unwrap();
        }
    }

    /// What was sent.
    pub(crate) fn sent(&mut self) -> Option<Command> {
        self.commands.try_recv().ok()
    }

    /// Draws a frame of a size.
    pub(crate) fn draw(&mut self, width: u16, height: u16) -> Buffer {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        self.screen.draw(&mut buf).unwrap();
        buf
    }

    /// Types text and keys one after the other.
    pub(crate) fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            let key = if letter == ' ' { "Space".to_owned() } else { letter.to_string() };
            self.press(&[&key]);
        }
    }

    /// A frame for a snapshot: checked, as text, then as roles.
    pub(crate) fn frame(&mut self, width: u16, height: u16) -> String {
        let buf = self.draw(width, height);
        super::lint::lint(&buf);
        if self.screen.ui.overlay.is_none() {
            super::lint::lint_joins(&buf);
        }
        format!("{}\n\n{}", text_of(&buf), roles_of(&buf))
    }

    /// As [`Shown::frame`], where a part of the plan is panned away, and with it the ends of lines.
    pub(crate) fn panned_frame(&mut self, width: u16, height: u16) -> String {
        let buf = self.draw(width, height);
        super::lint::lint(&buf);
        format!("{}\n\n{}", text_of(&buf), roles_of(&buf))
    }

    /// Draws a frame as text, one line a row.
    pub(crate) fn text(&mut self, width: u16, height: u16) -> String {
        text_of(&self.draw(width, height))
    }
}

/// A buffer as text: wide characters take their two cells, spaces at the end are cut.
pub(crate) fn text_of(buf: &Buffer) -> String {
    let mut lines = Vec::new();
    for y in 0..buf.area.height {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buf.area.width {
            let symbol = buf[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = planwright_text::display_width(symbol).saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// The styles of a frame, one letter a cell: which cells stand out, and that text keeps to its own style. Capital
/// letters are roles that stand out; a style that several roles share has the letter of the first. `+` is a style with
/// something added, such as bold or reversed.
pub(crate) fn roles_of(buf: &Buffer) -> String {
    let palette = settings().theme.palette(ColorDepth::True);
    let letter = |style: Style| {
        let same = |role: &&ThemeRole| {
            let known = palette.style(**role);
            (known.fg, known.bg, known.add_modifier) == (style.fg, style.bg, style.add_modifier)
        };
        match ThemeRole::ALL.iter().find(same) {
            Some(role) => role_letter(*role),
            None if style.fg.is_none() && style.bg.is_none() && style.add_modifier.is_empty() => {
                '_'
            }
            None => '+',
        }
    };
    let rows = (0..buf.area.height).map(|y| {
        let cells = (0..buf.area.width).map(|x| {
            let cell = &buf[(x, y)];
            let fg = Some(cell.fg).filter(|color| *color != Color::Reset);
            let bg = Some(cell.bg).filter(|color| *color != Color::Reset);
            let style = Style { fg, bg, add_modifier: cell.modifier, ..Style::default() };
            if cell.symbol() == " " && bg.is_none() { ' ' } else { letter(style) }
        });
        cells.collect::<String>().trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn role_letter(role: ThemeRole) -> char {
    match role {
        ThemeRole::Text => 't',
        ThemeRole::Dim => '.',
        ThemeRole::Rule => '-',
        ThemeRole::Focus => 'F',
        ThemeRole::Selection => 'S',
        ThemeRole::Key => 'K',
        ThemeRole::Running => 'R',
        ThemeRole::Done => 'D',
        ThemeRole::Waiting => 'w',
        ThemeRole::Yours => 'Y',
        ThemeRole::Asks => 'A',
        ThemeRole::Failed => 'X',
        ThemeRole::Skipped => 's',
        ThemeRole::Edge => 'e',
        ThemeRole::EdgeCritical => 'E',
        ThemeRole::BadgePlan => 'G',
        ThemeRole::BadgeLive => 'L',
        ThemeRole::BadgePaused => 'P',
        ThemeRole::BadgeReplay => 'B',
        ThemeRole::Thought => 'h',
        ThemeRole::Action => 'a',
        ThemeRole::Observed => 'o',
        ThemeRole::DiffAdded => 'p',
        ThemeRole::DiffRemoved => 'm',
        ThemeRole::DiffChanged => 'c',
        ThemeRole::DiffMoved => 'M',
        ThemeRole::PartModel => '1',
        ThemeRole::PartRules => '2',
        ThemeRole::PartChecks => '3',
        ThemeRole::RiskWrite => '4',
        ThemeRole::RiskExecute => '5',
        ThemeRole::RiskNetwork => '6',
        ThemeRole::Untrusted => 'u',
        ThemeRole::Warn => 'W',
        ThemeRole::Weekend => 'k',
        ThemeRole::Today => 'T',
    }
}

fn call(task: &str) -> CallId {
    CallId { task: task.into(), attempt: 1, step: 1 }
}

/// The plan of the drawn screens.
pub(crate) fn release_plan() -> Plan {
    let state = SessionState::from_records(&recorded_journal("release"));
    Plan::clone(&state.plan.current.as_ref().unwrap().plan)
}

/// Facts that are right for the plans of these tests: depth by longest chain, the release's own critical path.
pub(crate) fn facts(plan: &Plan) -> GraphFacts {
    let mut depth: Vec<u32> = vec![0; plan.tasks.len()];
    let position = |id: &TaskId| plan.tasks.iter().position(|task| task.id == *id);
    for _ in 0..plan.tasks.len() {
        for (index, task) in plan.tasks.iter().enumerate() {
            for link in &task.dependencies {
                if let Some(on) = position(&link.task) {
                    depth[index] = depth[index].max((depth[on] + 1).min(1000));
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..plan.tasks.len()).collect();
    order.sort_by_key(|task| depth[*task]);
    let path = ["audit", "api", "port", "tests", "publish"].map(TaskId::from);
    GraphFacts {
        root_tasks: plan
            .tasks
            .iter()
            .filter(|task| task.dependencies.is_empty())
            .map(|task| task.id.clone())
            .collect(),
        execution_order: order.iter().map(|task| plan.tasks[*task].id.clone()).collect(),
        critical_path: path.into_iter().filter(|id| position(id).is_some()).collect(),
        layers: depth.iter().max().map_or(0, |deepest| deepest + 1),
        depth,
        ..GraphFacts::default()
    }
}
