//! Starting a planning conversation: the planner with what surrounds it, and the first events of the session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;

use super::App;
use super::calendars::CalendarFiles;
use super::new_session::{SessionBuilder, new_session_id};
use crate::config::{self, Settings};
use crate::console::{CliProblem, eprint_line};
use planwright_drafting::gate::{self, GatePolicy, count_features, score_complexity};
use planwright_drafting::goal_plan::{self, GoalPlan};
use planwright_drafting::offline::{TemplateLibrary, TemplateSource};
use planwright_drafting::person_profile::PersonProfile;
use planwright_engine::controller::planning::thread_id;
use planwright_engine::planner::{PLAN_TOOLS, Planner, PlannerSettings, check_tools};
use planwright_engine::{SavedDecision, SessionHandle};
use planwright_files::{self as files, FileLimit};
use planwright_model::event::{AgentEvent, ApprovalEvent, Event, PlanningEvent};
use planwright_model::gate::{GateDecision, GateSignals};
use planwright_model::requests::{KIND_QUESTION, consent_request};
use planwright_model::{
    Actor, OffsetDateTime, PlanContext, PlanDrafter, PolicyOverride, RequestId, Schedule, SessionId,
};
use planwright_schedule::OtherBlock;
use planwright_schedule::portfolio::{StoredPlan, other_blocks};
use planwright_state::SessionState;
use planwright_store::{SessionInfo, SideWrite, Store};

/// A goal and how it is to be planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoalSubmission {
    pub goal: String,
    /// What the person set on the command line, over their stored defaults.
    pub policy: PolicyOverride,
    /// A calendar file to plan around.
    pub calendar: Option<PathBuf>,
    /// The kind of plan, if the person named one.
    pub kind: Option<String>,
}

impl App {
    /// Makes a session of a goal and starts planning it.
    pub(crate) async fn start_goal(
        &self,
        store: &Store,
        request: &GoalSubmission,
        workspace: &Path,
        interactive: bool,
    ) -> anyhow::Result<SessionHandle> {
        let mut session = SessionBuilder::new(self, store, new_session_id(), workspace)?;
        // A model that cannot be reached is told before a session is made of the goal.
        let models = session.app.select_models(&SessionState::default(), interactive);
        let client = models.planner_client(&session.app, store, workspace).await?;
        let calendar = session.app.calendar_files(request.calendar.as_deref());
        calendar.refresh()?;
        let mut planner = session.app.build_planner(store, &session.id, calendar)?;
        planner.model = client;
        let draft = quick_draft(&request.goal, &planner);
        session.equip(&models).await?;
        let drafter = match &planner.model {
            Some(client) if models.ask.is_none() => PlanDrafter::Model(client.name()),
            _ => PlanDrafter::Offline,
        };
        session.options.other_plans = Some(session.app.other_plans(store, &session.id));
        session.options.planner = Some(Arc::new(planner));
        let goal = session.app.redactor().redact(request.goal.trim()).into_owned();
        let title = goal.chars().take(120).collect();
        let mut first = session.created_events(title, Some(goal.clone()), None);
        first.extend(session.app.agents_event(&SessionState::default()));
        let policy = session.app.merged_policy(store, &request.policy)?;
        let asks_style = policy.conversation_style.is_none()
            && store.reader()?.memory_text(STYLE_NOTE)?.is_none();
        let began = PlanningEvent::Began {
            goal: goal.clone(),
            thread_id: thread_id(&session.app.thread_user(), &session.id),
            policy,
            limits: session.app.settings.plan_limits(),
            drafter,
        };
        first.push(began.into());
        if let Some(kind) = &request.kind {
            let answers = BTreeMap::from([(KIND_QUESTION.to_owned(), kind.clone())]);
            first.push(PlanningEvent::QuestionsAnswered { answers }.into());
        }
        let loops = u64::from(session.app.agent_limits().loops);
        let conflict = draft.map_or(0.0, |draft| draft.conflict());
        let decision = gate_decision(&goal, conflict, &session.app.gate_policy(), loops);
        first.push(AgentEvent::Gated { decision: Box::new(decision) }.into());
        first.extend(session.app.project_notice_event());
        if asks_style {
            first.push(PlanningEvent::StyleUnknown {}.into());
        }
        if let Some(ask) = &models.ask {
            let request = consent_request(RequestId(1), &ask.provider, &ask.variable);
            first.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
        }
        session.create(first)
    }
}

impl App {
    /// The planner of a session.
    pub(super) fn build_planner(
        &self,
        store: &Store,
        session: &SessionId,
        calendar: CalendarFiles,
    ) -> anyhow::Result<Planner> {
        check_tools(&PLAN_TOOLS).context("the tools of planning do not fit together")?;
        let planning = &self.settings.planning;
        Ok(Planner {
            library: Arc::new(self.load_library()?),
            time_zone: zone_name(),
            profile: self.current_profile(),
            calendar: Arc::new(calendar),
            others: other_plan_blocks(store, session)?.into(),
            settings: PlannerSettings {
                allow_new_subtype_proposals: planning.allow_new_subtype_proposals.value,
                require_rfc_for_new_subtype: planning.require_rfc_for_new_subtype.value,
                confidence: self.confidence_settings(),
            },
            session: session.to_string(),
            model: None,
            own_subtypes: approved_subtypes(store)?.into(),
        })
    }

    /// When the person has time, as the config says now: the first start and the settings screen change it while the
    /// program runs. A file that can't be read at the moment leaves what was read before.
    fn current_profile(&self) -> PersonProfile {
        let now = Settings::load(&self.config_path, false);
        now.map_or_else(|_| self.settings.me.profile(), |settings| settings.me.profile())
    }

    /// The built-in blueprints and those in the config directory. One with an error is told and left out.
    pub(crate) fn load_library(&self) -> anyhow::Result<TemplateLibrary> {
        let templates = read_custom_files(&self.config_dir().join("blueprints"))?;
        let earlier = self.config_dir().join("templates");
        if !read_custom_files(&earlier)?.is_empty() {
            eprint_line(&format!(
                "planwright: {} holds templates of an earlier version, which are not read any more; write them as \
                 blueprints in {}, as docs/blueprints.md describes, or plan once and use planwright template save",
                earlier.display(),
                self.config_dir().join("blueprints").display()
            ));
        }
        let topics = read_custom_files(&self.config_dir().join("topics"))?;
        let (library, errors) =
            TemplateLibrary::with_own(&template_sources(&templates), &template_sources(&topics));
        for error in errors {
            eprint_line(&format!(
                "planwright: {}",
                planwright_text::clean_line(&error.to_string())
            ));
        }
        Ok(library)
    }

    /// Keeps decisions that outlive a session: in the store, or in the person's config.
    pub(super) fn decision_saver(
        &self,
        store: &Store,
    ) -> Arc<dyn Fn(&SavedDecision) + Send + Sync> {
        let (store, path) = (store.clone(), self.config_path.clone());
        Arc::new(move |kept| {
            // A decision that cannot be kept still holds for this session; nothing is lost but the convenience.
            let saved = match kept {
                SavedDecision::Policy(set) => save_policy(&store, set),
                SavedDecision::Consent { provider, yes } => {
                    config::remember_consent(&path, provider, *yes)
                }
                SavedDecision::Rule(rule) => config::add_rule(&path, rule),
                SavedDecision::Subtype { name } => save_subtype(&store, name),
                SavedDecision::PatternProposal { name, rfc, nearest } => {
                    let text = format!("proposed pattern {name}, nearest {nearest}: {rfc}");
                    save_memory(&store, format!("pattern_rfc:{name}"), text, &["rfc"])
                }
                SavedDecision::Limit { cap, to } => {
                    config::change_setting(&path, cap.name(), Some(&cap.setting_text(*to)))
                        .map(|_before| ())
                }
                SavedDecision::StyleAsked => {
                    save_memory(&store, STYLE_NOTE.to_owned(), "asked".to_owned(), &[])
                }
            };
            if let Err(error) = saved {
                let error = crate::diagnostics::leave_out_quotes(&format!("{error:#}"));
                tracing::warn!(error, "a decision cannot be kept for other sessions");
            }
        })
    }

    /// The name in thread ids: the setting, else the login name, else `local`.
    fn thread_user(&self) -> String {
        let login = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
        user_name(self.settings.user_id.value.clone(), login)
    }
}

fn user_name(setting: Option<String>, login: Option<String>) -> String {
    let named = |name: &String| !name.trim().is_empty();
    let name = setting.filter(named).or(login.filter(named));
    name.unwrap_or_else(|| "local".to_owned())
}

/// The name of the person's zone. One that has none, or does not exist, is told; plans are then in UTC.
fn zone_name() -> String {
    if let Some(name) = config::time_zone().iana_name() {
        return name.to_owned();
    }
    if let Ok(wanted) = std::env::var("TZ")
        && !wanted.is_empty()
    {
        let wanted = planwright_text::clean_line(&wanted).into_owned();
        let next = "UTC is used; set TZ to a name such as Europe/Berlin";
        eprint_line(&format!("planwright: TZ is `{wanted}`, which names no time zone; {next}"));
    }
    "UTC".to_owned()
}

/// How many other plans are planned around, the newest first.
const OTHER_PLANS: usize = 64;

/// The blocks of the person's other approved plans that are not over yet.
pub(crate) fn other_plan_blocks(store: &Store, own: &SessionId) -> anyhow::Result<Vec<OtherBlock>> {
    let scheduled = |(info, state): &(SessionInfo, Arc<SessionState>)| {
        info.id != *own && state.planning.schedule.is_some() && state.is_runnable()
    };
    let states: Vec<_> =
        super::today::sessions_with_status(store, &super::today::UNFINISHED, OTHER_PLANS)?
            .into_iter()
            .filter(scheduled)
            .collect();
    let schedules: Vec<(&SessionInfo, &SessionState, Schedule)> = states
        .iter()
        .filter_map(|(info, state)| Some((info, &**state, own_schedule(state)?)))
        .collect();
    let stored: Vec<StoredPlan<'_>> = schedules
        .iter()
        .map(|(info, state, schedule)| StoredPlan {
            session: info.id.as_str(),
            title: &state.session.title,
            schedule,
            priority_weight: 1.0,
        })
        .collect();
    let zone = config::time_zone();
    let now = Timestamp::now();
    let far = now.saturating_add(jiff::SignedDuration::from_hours(24 * 366 * 2)).unwrap_or(now);
    let (from, to) = (OffsetDateTime::in_zone(now, &zone), OffsetDateTime::in_zone(far, &zone));
    Ok(other_blocks(&stored, Some(own.as_str()), from, to))
}

/// The schedule of a plan without what somebody else does: that takes none of the person's time. What the plan does not
/// let another plan move is locked.
fn own_schedule(state: &SessionState) -> Option<Schedule> {
    let mut schedule = state.planning.schedule.as_deref()?.clone();
    let roadmap = state.planning.roadmap.as_deref();
    schedule.blocks.retain(|block| {
        let node = roadmap.and_then(|roadmap| roadmap.find_node(&block.plan_node_id));
        node.is_none_or(|node| node.other_owner().is_none())
    });
    if state.planning.asks_before_moves() {
        schedule.blocks.iter_mut().for_each(|block| block.locked = true);
    }
    Some(schedule)
}

impl App {
    /// How the person wants to be talked to and asked: the settings, what they kept, and what they asked for now.
    fn merged_policy(
        &self,
        store: &Store,
        requested: &PolicyOverride,
    ) -> anyhow::Result<PolicyOverride> {
        let settings = &self.settings.planning.policy.value;
        Ok(settings.merged_with(&stored_policy(store)?).merged_with(requested))
    }

    /// How a plan of the person's own is to be talked and asked about, where they said anything about it.
    pub(super) fn policy_event(
        &self,
        store: &Store,
        requested: &PolicyOverride,
    ) -> anyhow::Result<Option<Event>> {
        let policy = self.merged_policy(store, requested)?;
        let said = policy != PolicyOverride::default();
        let set = PlanningEvent::PolicySet { set: policy, saved: false, by: Actor::Flag };
        Ok(said.then(|| set.into()))
    }
}

/// What the person keeps as their way of being talked to.
fn stored_policy(store: &Store) -> anyhow::Result<PolicyOverride> {
    let kept = store.reader()?.memory_text(POLICY_NOTE)?;
    Ok(kept.map(|json| parse_note(POLICY_NOTE, &json)).unwrap_or_default())
}

/// What was kept under a name. Something that cannot be read any more counts as nothing; an error may quote it.
fn parse_note<T: serde::de::DeserializeOwned + Default>(name: &str, json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|_| {
        tracing::warn!(name, "what was kept cannot be read");
        T::default()
    })
}

fn save_policy(store: &Store, set: &PolicyOverride) -> anyhow::Result<()> {
    let text = serde_json::to_string(&stored_policy(store)?.merged_with(set))?;
    save_memory(store, POLICY_NOTE.to_owned(), text, &[])
}

/// Subtypes that the person approved in earlier sessions.
fn approved_subtypes(store: &Store) -> anyhow::Result<Vec<String>> {
    let kept = store.reader()?.memory_text(SUBTYPES_NOTE)?;
    Ok(kept.map(|json| parse_note(SUBTYPES_NOTE, &json)).unwrap_or_default())
}

fn save_subtype(store: &Store, name: &str) -> anyhow::Result<()> {
    let mut names = approved_subtypes(store)?;
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
    save_memory(store, SUBTYPES_NOTE.to_owned(), serde_json::to_string(&names)?, &[])
}

fn save_memory(store: &Store, key: String, text: String, tags: &[&str]) -> anyhow::Result<()> {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    store.write_side_data(vec![SideWrite::Memory { key: Some(key), text, tags }])?;
    Ok(())
}

/// The key under which the person's own policy is remembered.
pub(crate) const POLICY_NOTE: &str = "interaction_policy";
/// The key under which it is remembered that the person was asked how much they like to read.
const STYLE_NOTE: &str = "preference_probe";
/// The key of the subtypes that the person approved.
const SUBTYPES_NOTE: &str = "pattern_subtypes";

/// What the built-in planner makes of a goal at once. None where it makes nothing of it.
fn quick_draft(goal: &str, planner: &Planner) -> Option<GoalPlan> {
    let now = Timestamp::now();
    let request = goal_plan::GoalRequest {
        goal,
        today: now.to_zoned(config::time_zone()).date(),
        time_zone: &planner.time_zone,
        now,
        library: &planner.library,
        events: &planner.calendar.current_events(),
    };
    goal_plan::plan_goal(&request).ok()
}

/// Whether a single pass is enough, by the words of the goal and by what a quick draft breaks of it.
fn gate_decision(goal: &str, conflict: f64, policy: &GatePolicy, loops: u64) -> GateDecision {
    let signals = GateSignals {
        // One deterministic drafter gives one sample, which agrees with itself.
        overlap: None,
        conflict: Some(conflict),
        complexity: Some(score_complexity(count_features(goal))),
    };
    gate::decide_gate(policy, signals, loops, None)
}

/// Refuses a goal that cannot be planned before a session is made of it.
pub(crate) fn check_goal(goal: &str) -> Result<(), CliProblem> {
    if goal.trim().is_empty() {
        return Err(CliProblem::usage("the goal is empty").with_remedy(
            "say what you want to get done: planwright \"learn Rust, 5 hours a week\"",
        ));
    }
    if goal.trim().chars().count() > PlanContext::MAX_GOAL_CHARS {
        return Err(CliProblem::failed(format!(
            "the goal has more than {} characters",
            PlanContext::MAX_GOAL_CHARS
        ))
        .with_remedy("say it in a sentence or two; details can follow as changes"));
    }
    Ok(())
}

fn template_sources(files: &[(String, String)]) -> Vec<TemplateSource<'_>> {
    files.iter().map(|(name, text)| TemplateSource { name, text }).collect()
}

fn read_custom_files(dir: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(dir) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        // Most people have no such directory.
        Err(_) => return Ok(Vec::new()),
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = files::read_text(&path, FileLimit::TEMPLATE)
            .with_context(|| format!("reading {}", path.display()))?;
        Ok((path.display().to_string(), text))
    };
    paths.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_a_thread_is_the_setting_then_the_login_then_local() {
        let name = |setting: &str, login: &str| {
            let given = |text: &str| Some(text.to_owned()).filter(|text| text != "-");
            user_name(given(setting), given(login))
        };
        assert_eq!(name("ann", "root"), "ann");
        assert_eq!(name("-", "root"), "root");
        assert_eq!(name(" ", "root"), "root");
        assert_eq!(name("-", "-"), "local");
    }
}
