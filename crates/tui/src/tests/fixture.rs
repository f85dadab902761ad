//! Sessions made from events, as the engine would write them.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use crossterm::event::{Event as TerminalEvent, KeyEvent, KeyModifiers};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use tokio::sync::{mpsc, watch};

use crate::keymap::KeyChord;
use crate::session::{ScreenEffect, ScreenMessage, SessionScreen};
use crate::theme::{ColorDepth, Theme, ThemeRole};
use crate::{KeyOverrides, SessionActions, SessionView, UiSettings};
use planwright_model::event::{
    ApprovalEvent, CallEvent, CallOutcome, Command, Event, OutputStream, PlanEvent, Record,
    RepeatClass, RiskClass, RunCounts, RunEvent, SessionEvent, TaskEvent,
};
use planwright_model::request::{Choice, RequestDetail};
use planwright_model::{
    Actor, Answer, CallId, Category, ChoiceAction, Digest, ExecutionFailure, GraphFacts,
    NormalizationChange, Plan, Request, RequestId, RequestKind, RunCap, RunKind, Seq, SessionId,
    SkipReason, TaskId, TaskLink, TaskNode,
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
        color: ColorDepth::True,
        session_budget: planwright_model::MicroDollars(2_000_000),
        now,
        time_zone: jiff::tz::TimeZone::UTC,
        changes: None,
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

    /// The session of the drawn screens, its plan waiting for approval.
    pub(crate) fn release() -> Self {
        Self::new("Release 2.0 of the parser crate")
            .wait(120)
            .propose(release_plan(), vec![])
            .ask_plan()
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

    /// One that was taken up again after a crash, with a call in doubt.
    pub(crate) fn in_doubt() -> Self {
        let kind = RequestKind::InDoubt { call: call("bench") };
        Self::release().wait(60).approved().start("audit").start("bench").wait(13).ask(
            kind,
            "Did this command finish?",
            "it was started; no outcome was journaled",
            &[RequestDetail::new("command", "psql -f load/2026-06-07.sql report")],
            &[
                RequestDetail::new(
                    "evidence",
                    "started 14:11:23, 13 s before the crash · process 48213 is gone",
                ),
                RequestDetail::new("repeat", "unsafe: running it again may load the rows twice"),
            ],
            vec![
                Choice::new(
                    ChoiceAction::Happened,
                    "it happened",
                    "bench is done with the captured output",
                ),
                Choice::new(ChoiceAction::RunAgain, "run it", "starts it again, as call bench/2/1"),
                Choice::new(ChoiceAction::SkipAlone, "go on without it", "port and fuzz run"),
                Choice::new(
                    ChoiceAction::SkipWithDependents,
                    "skip port and fuzz as well",
                    "all skipped",
                ),
                Choice::new(
                    ChoiceAction::Stop,
                    "stop",
                    "the session stops, the question stays open",
                ),
            ],
            Some("bench".into()),
        )
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

    /// Another revision takes the place of the one that is asked about.
    pub(crate) fn revise(mut self, plan: Plan) -> Self {
        let id = RequestId(self.asked);
        self.push(ApprovalEvent::Withdrawn { id, why: "r2 takes its place".into() });
        self.hash = plan.digest().unwrap();
        let (hash, facts) = (self.hash.clone(), Arc::new(facts(&plan)));
        self.push(PlanEvent::Proposed {
            revision: 2,
            hash: hash.clone(),
            plan: Arc::new(plan),
            facts,
            normalization: vec![],
        });
        let kind = RequestKind::FinalPlan { hash, revision: 2 };
        let choices = vec![
            Choice::new(ChoiceAction::ApproveAndRun, "approve and run", "3 tasks start now"),
            Choice::new(ChoiceAction::Abandon, "abandon", "the plan stays readable"),
        ];
        self.ask(kind, "Run this plan?", "Nothing runs before you say so.", &[], &[], choices, None)
    }

    pub(crate) fn ask_plan(self) -> Self {
        let kind = RequestKind::FinalPlan { hash: self.hash.clone(), revision: 1 };
        let choices = vec![
            Choice::new(ChoiceAction::ApproveAndRun, "approve and run", "3 tasks start now"),
            Choice::new(ChoiceAction::ApproveAndStop, "approve and stop", "keep r1, run later"),
            Choice::new(ChoiceAction::Abandon, "abandon", "the plan stays readable"),
        ];
        self.ask(kind, "Run this plan?", "Nothing runs before you say so.", &[], &[], choices, None)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a request, used in tests only")]
    pub(crate) fn ask(
        mut self,
        kind: RequestKind,
        question: &str,
        why: &str,
        verbatim: &[RequestDetail],
        details: &[RequestDetail],
        choices: Vec<Choice>,
        task: Option<TaskId>,
    ) -> Self {
        self.asked += 1;
        let request = Request {
            id: RequestId(self.asked),
            kind,
            question: question.into(),
            why: why.into(),
            verbatim: verbatim.to_vec(),
            details: details.to_vec(),
            choices,
            task,
        };
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

    /// A run that is held because it spent all it may.
    pub(crate) fn capped() -> Self {
        let cap = RunCap::BudgetPerSessionUsd;
        let kind = RequestKind::Cap { cap, used: 5_020_000, limit: 5_000_000 };
        Self::running()
            .with(RunEvent::Paused(planwright_model::event::PauseCause::Cap { cap }))
            .ask(
                kind,
                "budget_per_session_usd of $5.00 is reached. Raise it?",
                "$5.02 used; what runs now finishes, nothing new starts",
                &[],
                &[
                    RequestDetail::new("left to do", "4 tasks wait, 2 run, 3 are done"),
                    RequestDetail::new(
                        "most spent",
                        "port $2.94, 212k tokens, try 2 · docs $1.31, 90k tokens",
                    ),
                ],
                vec![
                    Choice::new(
                        ChoiceAction::RaiseOnce,
                        "raise once",
                        "goes on until $5.12, then asks again",
                    ),
                    Choice::new(
                        ChoiceAction::RaiseForSession,
                        "raise for the session",
                        "no limit until this session ends",
                    ),
                    Choice::new(
                        ChoiceAction::GoOffline,
                        "go on offline",
                        "no paid calls; 4 agent tasks wait, others run",
                    ),
                    Choice::new(
                        ChoiceAction::Stop,
                        "stop, keep results",
                        "what is done stays; resume later",
                    ),
                ],
                None,
            )
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

    /// A screen whose wishes somebody answers.
    pub(crate) fn show_with(
        &self,
        live: bool,
        start_at: Option<Seq>,
        desk: Option<Arc<dyn SessionActions>>,
    ) -> Shown {
        let (sender, commands) = mpsc::channel(8);
        let head = Seq(self.records.len() as u64);
        let journal = Journal(Arc::new(Mutex::new(self.records.clone())));
        let view = SessionView {
            id: SessionId::new("7f3a9c0d1e2f"),
            history: History::new(Journal(Arc::clone(&journal.0))),
            head: watch::channel(head).1,
            bookmarks: Vec::new(),
            actions: desk,
            asks_fork: false,
            commands: live.then_some(sender),
            start_at,
            note: None,
        };
        Shown { screen: SessionScreen::open(view, &settings()).unwrap(), commands, journal }
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
    pub(crate) fn grow(&mut self, longer: &Fixture) {
        self.journal.0.lock().unwrap().clone_from(&longer.records);
        self.screen.update(ScreenMessage::Head(Seq(longer.records.len() as u64))).unwrap();
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

fn node(id: &str, title: &str, run: RunKind, minutes: u32, needs: &[&str]) -> TaskNode {
    TaskNode {
        run,
        duration_minutes: Some(minutes),
        dependencies: needs.iter().map(|task| TaskLink::finish_to_start(*task)).collect(),
        ..TaskNode::new(id, title)
    }
}

/// The plan of the drawn screens.
pub(crate) fn release_plan() -> Plan {
    let agent = || RunKind::Agent {};
    let shell = |command: &str| RunKind::Shell(command.into());
    Plan {
        title: "Release 2.0 of the parser crate".into(),
        tasks: vec![
            node("audit", "Sort issues", agent(), 3, &[]),
            node("api", "Freeze the API", agent(), 5, &["audit"]),
            node("port", "Port the error enum", agent(), 9, &["api", "bench"]),
            node("tests", "Full tests", shell("cargo test --workspace"), 6, &["port"]),
            node(
                "publish",
                "Publish",
                shell("cargo publish --locked"),
                1,
                &["tests", "announce", "keys"],
            ),
            node("docs", "Migration guide", agent(), 7, &["api"]),
            node("announce", "Announcement", agent(), 3, &["port", "docs"]),
            node("bench", "Baseline", shell("cargo bench -- --save-baseline v1"), 1, &[]),
            node(
                "fuzz",
                "Fuzz 2 min",
                shell("cargo fuzz run lex -- -max_total_time=120"),
                2,
                &["bench"],
            ),
            node("corpus", "Minimise cases", agent(), 4, &["fuzz"]),
            node("keys", "Renew the signing key", RunKind::Human {}, 10, &[]),
        ],
        ..Plan::default()
    }
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
