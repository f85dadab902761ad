//! The fields of a blueprint file.

use std::collections::BTreeMap;

use jiff::civil::Time;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use planwright_model::{LinkKind, PatternSpec, PatternType, PlanKind, PreferredTime, Role};

use super::{AnchorDate, BlueprintRepeat, CalendarSpan, RepeatDays};

/// One blueprint file: a kind of plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blueprint {
    /// The name of the file.
    #[serde(skip)]
    pub name: String,
    /// The folder of the file; empty for a person's own.
    #[serde(skip)]
    pub family: String,
    /// A noun phrase with its article: "a wedding".
    pub label: Spanned<String>,
    pub pattern: PatternType,
    pub subtype: Spanned<String>,
    /// What the texts call it: "the wedding". Without one, the goal's own subject.
    #[serde(default)]
    pub noun: Option<Spanned<String>>,
    /// Words and phrases of a goal with their weights.
    #[serde(rename = "match")]
    pub match_words: Spanned<BTreeMap<String, u32>>,
    /// Words that rule the kind out.
    #[serde(default)]
    pub not: Vec<String>,
    /// Words of which the goal has at least one; without any the kind loses most of its points. A noun alone does not
    /// make a plan: "our bakery" is no new shop unless somebody opens one.
    #[serde(default)]
    pub needs: Vec<String>,
    /// "from A to B" in a goal is a strong sign of this kind.
    #[serde(default)]
    pub from_to: bool,
    /// The span assumed if the goal states none.
    pub weeks: Spanned<u16>,
    /// One sentence that explains the structure.
    pub why: Spanned<String>,
    #[serde(default)]
    pub risks: Vec<String>,
    /// What the person should read before starting.
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub prefer: BlueprintPreference,
    /// The name of the day from which everything counts.
    #[serde(default)]
    pub day: Option<Spanned<String>>,
    #[serde(default)]
    pub day_question: Option<Spanned<String>>,
    /// The day that is taken if nobody states one and the year decides it, as "05-15" in the north.
    #[serde(default)]
    pub usual_day: Option<Spanned<String>>,
    /// Done on holidays as well: animals and guests eat every day.
    #[serde(default)]
    pub on_holidays: bool,
    /// A few minutes to a day: one to four tasks without phases.
    #[serde(default)]
    pub small: bool,
    /// How often it happens if the goal names no rhythm.
    #[serde(default)]
    pub rhythm: Option<BlueprintRepeat>,
    /// Minutes a week, for kinds whose amount is a rhythm.
    #[serde(default)]
    pub weekly: Option<Spanned<u32>>,
    /// Minutes a week that such work usually gets, if the person states no hours.
    #[serde(default)]
    pub pace: Option<u32>,
    #[serde(default)]
    pub sizing: BlueprintSizing,
    #[serde(default, rename = "question")]
    pub questions: Vec<BlueprintQuestion>,
    #[serde(default, rename = "count")]
    pub counts: BTreeMap<String, BlueprintCount>,
    #[serde(default)]
    pub finish: Option<FinishMilestone>,
    #[serde(default, rename = "phase")]
    pub phases: Vec<BlueprintGroup>,
    #[serde(default, rename = "cycle")]
    pub cycles: Vec<BlueprintGroup>,
    #[serde(default, rename = "task")]
    pub tasks: Vec<BlueprintTask>,
}

impl Blueprint {
    /// The pattern of a plan of this kind.
    pub fn to_pattern(&self) -> PatternSpec {
        let mut spec = PatternSpec::with_subtype(self.pattern, self.subtype.get_ref().as_str());
        spec.kind = Some(self.to_kind());
        spec
    }

    pub fn to_kind(&self) -> PlanKind {
        PlanKind { name: self.name.clone(), label: self.label.get_ref().clone() }
    }

    /// Returns all tasks, in the order of the file.
    pub fn all_tasks(&self) -> Vec<&BlueprintTask> {
        let groups = self.phases.iter().chain(&self.cycles).flat_map(BlueprintGroup::all_tasks);
        self.tasks.iter().chain(groups).collect()
    }

    /// Returns whether it repeats without an end.
    pub fn is_routine(&self) -> bool {
        self.pattern == PatternType::RecurringCycle
    }
}

/// How the effort of a blueprint is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlueprintSizing {
    /// By the effort of its tasks.
    #[default]
    Tasks,
    /// A load for each week that grows, recovers and tapers; phases are weeks of sessions.
    Training,
}

/// When work of a kind is done if the person's hours allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlueprintPreference {
    #[default]
    Any,
    Mornings,
    Evenings,
    Weekends,
    EveningsAndWeekends,
    OfficeHours,
    ShopHours,
}

impl BlueprintPreference {
    /// Returns the preference of the scheduler; none for any time.
    pub fn to_preferred_time(self) -> Option<PreferredTime> {
        Some(match self {
            Self::Any => return None,
            Self::Mornings => PreferredTime::Mornings,
            Self::Evenings => PreferredTime::Evenings,
            Self::Weekends => PreferredTime::Weekends,
            Self::EveningsAndWeekends => PreferredTime::EveningsAndWeekends,
            Self::OfficeHours => PreferredTime::OfficeHours,
            Self::ShopHours => PreferredTime::ShopHours,
        })
    }
}

/// A question worth asking about a goal of this kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlueprintQuestion {
    pub key: Spanned<String>,
    pub text: String,
    #[serde(default)]
    pub choices: Vec<String>,
    /// What is assumed if nobody answers.
    #[serde(default)]
    pub default: String,
}

/// A quantity that scales the work.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlueprintCount {
    /// The nouns after a number in a goal, in the singular.
    #[serde(default)]
    pub words: Vec<String>,
    pub default: u32,
}

/// The milestone at the end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishMilestone {
    pub title: Spanned<String>,
    #[serde(default)]
    pub done_when: String,
}

/// Minutes of one task: the least, the likely and the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffortRange(pub u32, pub u32, pub u32);

impl<'de> Deserialize<'de> for EffortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers: Vec<u32> = Vec::deserialize(deserializer)?;
        match numbers[..] {
            [low, likely, high] => Ok(Self(low, likely, high)),
            _ => Err(de::Error::custom(format!(
                "effort has {} numbers; write three, the least, the likely and the most minutes, as in [30, 60, 90]",
                numbers.len()
            ))),
        }
    }
}

impl EffortRange {
    pub fn low(self) -> u32 {
        self.0
    }

    pub fn likely(self) -> u32 {
        self.1
    }

    pub fn high(self) -> u32 {
        self.2
    }

    /// Returns the same number of minutes more in all three.
    pub fn plus(self, minutes: u32) -> Self {
        Self(
            self.0.saturating_add(minutes),
            self.1.saturating_add(minutes),
            self.2.saturating_add(minutes),
        )
    }

    /// Returns the range scaled so that `likely` is the middle.
    pub fn around(self, likely: u32) -> Self {
        let scale = |part: u32| {
            let scaled = u64::from(part) * u64::from(likely) / u64::from(self.1.max(1));
            u32::try_from(scaled).unwrap_or(u32::MAX)
        };
        Self(scale(self.0), likely, scale(self.2).max(likely))
    }
}

/// Declares a part of a blueprint: the fields that groups and tasks share, and its own. A flattened struct would accept
/// fields that do not exist.
macro_rules! blueprint_part {
    ($(#[$about:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The name by which links refer to it.
            #[serde(default)]
            pub key: Option<Spanned<String>>,
            pub title: Spanned<String>,
            #[serde(default)]
            pub why: String,
            #[serde(default)]
            pub done_when: String,
            #[serde(default)]
            pub intensity: Option<u8>,
            #[serde(default)]
            pub stream: Option<String>,
            /// Its predecessors; by default the previous one in the same stream.
            #[serde(default)]
            pub after: Option<Vec<BlueprintLink>>,
            #[serde(default)]
            pub every: Option<BlueprintRepeat>,
            #[serde(default)]
            pub at_time: Option<Spanned<String>>,
            #[serde(default)]
            pub on: RepeatDays,
            #[serde(default)]
            pub optional: bool,
            #[serde(default)]
            pub when: Vec<Spanned<String>>,
            #[serde(default)]
            pub unless: Vec<String>,
            #[serde(default)]
            pub min_weeks: Option<u16>,
            #[serde(default)]
            pub max_weeks: Option<u16>,
            $($own)*
        }
    };
}

blueprint_part! {
    /// A phase, a cycle or a sub-goal.
    pub struct BlueprintGroup {
        /// Percent of the span, for kinds with `weekly`.
        #[serde(default)]
        pub weeks_share: Option<u32>,
        #[serde(default, rename = "phase")]
        pub phases: Vec<BlueprintGroup>,
        #[serde(default, rename = "sub_goal")]
        pub sub_goals: Vec<BlueprintGroup>,
        #[serde(default, rename = "task")]
        pub tasks: Vec<BlueprintTask>,
    }
}

blueprint_part! {
    /// A task or a milestone.
    pub struct BlueprintTask {
        /// Minutes for doing it once.
        #[serde(default)]
        pub effort: Option<Spanned<EffortRange>>,
        /// Minutes more for each of a count.
        #[serde(default)]
        pub per: BTreeMap<String, f64>,
        /// Percent of the time of its phase, for kinds with `weekly`.
        #[serde(default)]
        pub share: Option<u32>,
        #[serde(default)]
        pub split: Option<Spanned<CountSplit>>,
        /// The minutes that the goal states for one occurrence replace the effort.
        #[serde(default)]
        pub stated: bool,
        #[serde(default)]
        pub role: Role,
        #[serde(default)]
        pub milestone: bool,
        /// Never left out to save time, such as the visit to a doctor.
        #[serde(default)]
        pub keep: bool,
        /// Done in one go on one day. What has a day of its own always is.
        #[serde(default)]
        pub whole: bool,
        /// On which days of something that takes several, counted from `at`.
        #[serde(default)]
        pub each_day: Option<EventDays>,
        /// Whoever does it, if not the person.
        #[serde(default)]
        pub who: Option<String>,
        #[serde(default)]
        pub prefer: Option<BlueprintPreference>,
        /// On exactly that day.
        #[serde(default)]
        pub at: Option<Spanned<AnchorDate>>,
        /// At the latest then.
        #[serde(default)]
        pub by: Option<Spanned<AnchorDate>>,
        /// How often in each period.
        #[serde(default)]
        pub times: Option<u16>,
        /// When a repeated task begins.
        #[serde(default)]
        pub from: Option<Spanned<AnchorDate>>,
        /// When a repeated task ends.
        #[serde(default)]
        pub until: Option<Spanned<AnchorDate>>,
        /// Repeated for every topic of the phase.
        #[serde(default)]
        pub per_topic: bool,
        #[serde(default)]
        pub risks: Vec<String>,
    }
}

impl BlueprintGroup {
    /// Returns all tasks in it, in the order of the file.
    pub fn all_tasks(&self) -> Vec<&BlueprintTask> {
        let inner = self.phases.iter().chain(&self.sub_goals).flat_map(Self::all_tasks);
        inner.chain(&self.tasks).collect()
    }
}

impl BlueprintTask {
    /// Returns whether it takes no time: milestones complete by themselves, gates are answered.
    pub fn is_instant(&self) -> bool {
        self.milestone || self.role == Role::Gate
    }
}

/// The days of something that takes several days on which a task is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventDays {
    /// Every day, the first and the last included.
    All,
    /// The days between the first and the last.
    Middle,
}

/// One task for each so many of a count.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountSplit {
    pub by: String,
    pub size: u32,
    /// The most copies; the batches grow beyond it.
    #[serde(default = "default_most_copies")]
    pub most: u32,
    /// The time between the end of a copy and the start of the next one.
    #[serde(default)]
    pub apart: Option<CalendarSpan>,
}

fn default_most_copies() -> u32 {
    6
}

/// A link to another part, by its key: the key alone, or a table with kind and lag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlueprintLink {
    pub on: String,
    pub kind: LinkKind,
    pub lag: Option<CalendarSpan>,
    /// What the lag keeps in a short plan: the time that paint, post or an office takes.
    pub least: Option<CalendarSpan>,
    /// Share of the predecessor's minutes to wait, in percent.
    pub percent: u32,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkFields {
    on: String,
    #[serde(default)]
    kind: LinkKind,
    #[serde(default)]
    lag: Option<CalendarSpan>,
    #[serde(default)]
    least: Option<CalendarSpan>,
    #[serde(default)]
    percent: u32,
    #[serde(default)]
    why: String,
}

impl<'de> Deserialize<'de> for BlueprintLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinkVisitor)
    }
}

struct LinkVisitor;

impl<'de> Visitor<'de> for LinkVisitor {
    type Value = BlueprintLink;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the key of a task or phase, or { on = \"key\", lag = \"2w\" }")
    }

    fn visit_str<E: de::Error>(self, on: &str) -> Result<BlueprintLink, E> {
        Ok(BlueprintLink {
            on: on.to_owned(),
            kind: LinkKind::FS,
            lag: None,
            least: None,
            percent: 0,
            why: String::new(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<BlueprintLink, A::Error> {
        let LinkFields { on, kind, lag, least, percent, why } =
            LinkFields::deserialize(MapAccessDeserializer::new(map))?;
        let too_long =
            least.is_some_and(|least| lag.is_none_or(|lag| least.in_minutes() > lag.in_minutes()));
        if too_long {
            return Err(de::Error::custom(
                "the least waiting time is longer than the lag; write least = as long as lag = or shorter",
            ));
        }
        Ok(BlueprintLink { on, kind, lag, least, percent, why })
    }
}

/// Reads a time of day such as "18:00".
pub(in super::super) fn parse_time_of_day(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}
