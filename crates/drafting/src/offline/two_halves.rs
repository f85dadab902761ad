//! Goals of two halves: "sell my old bike and buy an e-bike". Where each half has a kind of its own, the plan has both, side
//! by side; where only one of them can be planned, the plan names the other.

use std::borrow::Cow;

use planwright_model::{PatternSpec, PatternType, PlanContext};
use toml::Spanned;

use super::blueprint::{
    AnchorDate, Blueprint, BlueprintGroup, BlueprintPreference, BlueprintSizing, BlueprintTask,
    FinishMilestone, TemplateLibrary,
};
use super::goal::{Goal, GoalParseContext};
use super::kind::{KindVerdict, is_match_word, select_one_kind};
use super::wording::{BlueprintWording, capitalize_first, cut_at_word};

/// What joins the names of two kinds.
const JOINT: char = '+';
/// The stream of the second half.
const SECOND_STREAM: &str = "second";
/// The characters of a title that a half of the goal fills.
const HALF_TITLE_CHARS: usize = 60;
/// The score of a half that has a kind of its own; a few words lead astray more easily than a whole goal.
const SURE_HALF: f64 = 0.72;
/// The questions that a plan asks at most.
const MOST_QUESTIONS: usize = 3;

/// Verbs after "and" that begin another half, rather than go on with the first.
const VERBS: [&str; 105] = [
    "add",
    "adopt",
    "apply",
    "arrange",
    "ask",
    "bake",
    "become",
    "book",
    "bring",
    "build",
    "buy",
    "call",
    "cancel",
    "celebrate",
    "change",
    "choose",
    "clean",
    "clear",
    "close",
    "collect",
    "compare",
    "contact",
    "convert",
    "cook",
    "create",
    "cut",
    "declutter",
    "decorate",
    "deliver",
    "design",
    "digitize",
    "donate",
    "file",
    "find",
    "finish",
    "fix",
    "get",
    "give",
    "go",
    "grow",
    "hang",
    "have",
    "hire",
    "host",
    "install",
    "introduce",
    "knit",
    "launch",
    "learn",
    "lease",
    "lose",
    "make",
    "meet",
    "migrate",
    "mount",
    "move",
    "mow",
    "negotiate",
    "open",
    "order",
    "organise",
    "organize",
    "paint",
    "pay",
    "plan",
    "plant",
    "practice",
    "prepare",
    "print",
    "propose",
    "publish",
    "put",
    "quit",
    "recycle",
    "register",
    "remove",
    "renew",
    "renovate",
    "rent",
    "repair",
    "replace",
    "review",
    "run",
    "save",
    "schedule",
    "sell",
    "send",
    "set",
    "sew",
    "ship",
    "sort",
    "start",
    "stop",
    "study",
    "switch",
    "take",
    "teach",
    "train",
    "transfer",
    "update",
    "upgrade",
    "visit",
    "wash",
    "win",
    "write",
];
/// Words that say nothing about what is done.
const PLAIN: [&str; 26] = [
    "a", "an", "the", "my", "our", "your", "it", "them", "to", "in", "on", "of", "for", "with",
    "and", "is", "get", "have", "make", "done", "used", "there", "again", "out", "up", "one",
];

/// The two halves of a goal, as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GoalHalves {
    first: String,
    second: String,
}

/// Splits a goal at the "and" after which another verb does something to another object, or the same verb does it:
/// "write a thesis and a novel".
pub(super) fn split_goal(goal: &Goal) -> Option<GoalHalves> {
    split_at_verb(goal).or_else(|| split_at_object(goal))
}

fn split_at_object(goal: &Goal) -> Option<GoalHalves> {
    let words = goal.folded_words();
    let starts = |place: &usize| {
        words[*place] == "and"
            && words.get(place + 1).is_some_and(|next| ARTICLES.contains(&next.as_str()))
    };
    let place = (2..words.len()).find(starts)?;
    let verb = words.first().filter(|verb| VERBS.contains(&verb.as_str()))?;
    // "with two kids and a dog" are objects of something else.
    let led =
        words[..place].iter().any(|word| ["with", "for", "to", "of"].contains(&word.as_str()));
    let joint = goal.word_span(place)?;
    let rest = goal.text.get(joint.end..)?.trim();
    let first = goal.text.get(..joint.start)?.trim().to_owned();
    (!led).then(|| GoalHalves { first, second: format!("{verb} {rest}") })
}

/// Words that begin another object.
const ARTICLES: [&str; 6] = ["a", "an", "my", "our", "the", "some"];

fn split_at_verb(goal: &Goal) -> Option<GoalHalves> {
    let words = goal.folded_words();
    let starts = |place: &usize| {
        (words[*place] == "and" || words[*place] == "then")
            && words.get(place + 1).is_some_and(|next| VERBS.contains(&next.as_str()))
            && !goal.is_time_word(place + 1)
    };
    let place = (1..words.len()).find(starts)?;
    let has_object = |half: &[String]| half.iter().skip(1).any(|word| is_telling(word));
    let joint = goal.word_span(place)?;
    let moves = words.get(place + 1).is_some_and(|verb| verb == "move");
    let alone = place + 2 >= words.len() || goal.is_clause_start(place + 2);
    if !has_object(&words[..place]) || (!has_object(&words[place + 1..]) && !moves) {
        return None;
    }
    let first = goal.text.get(..joint.start)?.trim().trim_end_matches([',', ';']).trim_end();
    // "find a bigger place and move".
    let second = if moves && alone {
        "move house".to_owned()
    } else {
        goal.text.get(joint.end..)?.trim().to_owned()
    };
    Some(GoalHalves { first: first.to_owned(), second })
}

fn is_telling(word: &str) -> bool {
    word.chars().count() > 2
        && !PLAIN.contains(&word)
        && word.chars().all(|letter| letter.is_alphabetic() || letter == '-')
}

fn parse_half(text: &str, goal: &Goal) -> Goal {
    Goal::parse(text, GoalParseContext::new(goal.read_on, 5))
}

/// Returns the kind of a goal whose halves have kinds of their own, if both can stand in one plan.
pub(super) fn joint_pattern(goal: &Goal, library: &TemplateLibrary) -> Option<PatternSpec> {
    let halves = split_goal(goal)?;
    let sure = |text: &str| {
        let pick = select_one_kind(&parse_half(text, goal), library);
        let best = pick
            .best()
            .filter(|best| pick.verdict == KindVerdict::Sure && best.score >= SURE_HALF)?;
        library.named_blueprint(best.name())
    };
    let (first, second) = (sure(&halves.first)?, sure(&halves.second)?);
    // Finding a home and moving there share their day; other things have days of their own.
    let dated = first.day.is_some() && second.day.is_some() && first.family != second.family;
    if first.name == second.name || dated || !is_joinable(first) || !is_joinable(second) {
        return None;
    }
    // What the other kind knows about is part of its plan: a raised bed belongs to the vegetables.
    let knows = |file: &Blueprint, text: &str| {
        let half = parse_half(text, goal);
        half.folded_words()
            .iter()
            .filter(|word| is_telling(word))
            .all(|word| is_match_word(word, file))
    };
    let small = first.small && second.small;
    if !small && (knows(first, &halves.second) || knows(second, &halves.first)) {
        return None;
    }
    Some(join_blueprints(goal, &halves, (first, second), library).to_pattern())
}

fn is_joinable(file: &Blueprint) -> bool {
    file.pattern == PatternType::MilestoneProject
        && file.sizing == BlueprintSizing::Tasks
        && file.weekly.is_none()
        && file.cycles.is_empty()
}

/// Returns the blueprint of a plan: the one it was drafted from, or two of them joined.
pub(crate) fn find_blueprint<'a>(
    spec: &PatternSpec,
    goal: &Goal,
    library: &'a TemplateLibrary,
) -> Option<Cow<'a, Blueprint>> {
    let names = spec.kind_name().and_then(|name| name.split_once(JOINT));
    let both = names.and_then(|(first, second)| {
        Some((library.named_blueprint(first)?, library.named_blueprint(second)?))
    });
    match (both, split_goal(goal)) {
        (Some(files), Some(halves)) => {
            Some(Cow::Owned(join_blueprints(goal, &halves, files, library)))
        }
        // A goal in other words since then may have lost its second half.
        (Some((first, _)), None) => Some(Cow::Borrowed(first)),
        (None, _) => library.find_blueprint(spec).map(Cow::Borrowed),
    }
}

/// Joins two kinds: each half is a part of the plan with the phases of its kind.
fn join_blueprints(
    goal: &Goal,
    halves: &GoalHalves,
    (first, second): (&Blueprint, &Blueprint),
    library: &TemplateLibrary,
) -> Blueprint {
    let name = format!("{}{JOINT}{}", first.name, second.name);
    let label = format!("{}, and {}", first.label.get_ref(), second.label.get_ref());
    let dated = if first.day.is_some() { first } else { second };
    let mut joined = first.clone();
    (joined.name, joined.label) = (name, unplaced(label));
    (joined.day, joined.day_question) = (dated.day.clone(), dated.day_question.clone());
    joined.usual_day.clone_from(&dated.usual_day);
    let (one, other) = (*first.weeks.get_ref(), *second.weeks.get_ref());
    joined.weeks = unplaced(if dated.day.is_some() { one.max(other) + 1 } else { one + other });
    joined.small = false;
    joined.noun = None;
    joined.needs = Vec::new();
    joined.why = unplaced("Both halves of the goal are planned, the first one first.".to_owned());
    joined.risks.extend(second.risks.iter().cloned());
    joined.notes.extend(second.notes.iter().cloned());
    for (name, count) in &second.counts {
        let known = joined.counts.entry(name.clone()).or_insert_with(|| count.clone());
        let new: Vec<String> =
            count.words.iter().filter(|word| !known.words.contains(word)).cloned().collect();
        known.words.extend(new);
    }
    for question in &second.questions {
        let asked = |known: &super::blueprint::BlueprintQuestion| {
            known.key.get_ref() == question.key.get_ref()
        };
        if !joined.questions.iter().any(asked) && joined.questions.len() < MOST_QUESTIONS {
            joined.questions.push(question.clone());
        }
    }
    joined.match_words.get_mut().extend(second.match_words.get_ref().clone());
    joined.finish = Some(FinishMilestone {
        title: unplaced("Both halves of the goal are done".to_owned()),
        done_when: "both parts of the plan are done".to_owned(),
    });
    let mut second = second.clone();
    if let (Some(one), Some(other)) = (&first.day, &second.day) {
        let (one, other) = (one.get_ref().clone(), other.get_ref().clone());
        rename_day(&mut second, &other, &one);
    }
    let second = &second;
    let parts = [(&halves.first, first, "a"), (&halves.second, second, "b")];
    let mut groups = parts.map(|(text, file, prefix)| {
        let half = HalfWording::new(text, goal, file, library);
        half.into_group(file, prefix, first.prefer)
    });
    // Without a day, one comes after the other: the plan is written before the bank is asked.
    if dated.day.is_some() {
        groups[1].stream = Some(SECOND_STREAM.to_owned());
    }
    if let (None, Some(day)) = (&first.day, &second.day) {
        groups[0].tasks.iter_mut().for_each(|task| finish_before(task, day.get_ref()));
        for group in &mut groups[0].phases {
            group.tasks.iter_mut().for_each(|task| finish_before(task, day.get_ref()));
        }
    }
    joined.phases = groups.into();
    joined.tasks = Vec::new();
    joined
}

/// Lets the dates of a file count from the day of another one.
fn rename_day(file: &mut Blueprint, from: &str, to: &str) {
    let rename = |task: &mut BlueprintTask| {
        let dates = [&mut task.at, &mut task.by, &mut task.from, &mut task.until];
        for date in dates.into_iter().flatten().filter(|date| date.get_ref().anchor == from) {
            to.clone_into(&mut date.get_mut().anchor);
        }
    };
    file.tasks.iter_mut().for_each(rename);
    file.phases.iter_mut().flat_map(|phase| &mut phase.tasks).for_each(rename);
}

/// What comes first in the goal is done before the day of what comes second: the house is clean before the guests come.
fn finish_before(task: &mut BlueprintTask, day: &str) {
    if task.at.is_none() && task.by.is_none() && task.every.is_none() {
        task.by = Some(unplaced(AnchorDate { anchor: day.to_owned(), days: -1 }));
    }
}

fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

/// The words of one half, for the texts of its kind.
struct HalfWording {
    title: String,
    wording: BlueprintWording,
    /// The values that the half itself states, or that do not depend on it.
    kept: Vec<&'static str>,
}

/// Placeholders that each half fills by itself.
const OWN_WORDS: [&str; 7] = ["it", "It", "subject", "goal", "thing", "project", "period"];
/// Placeholders of what the goal states for one half or for both.
const STATED: [&str; 7] = ["budget", "monthly", "place", "in place", "from", "to", "target"];

impl HalfWording {
    fn new(text: &str, goal: &Goal, file: &Blueprint, library: &TemplateLibrary) -> Self {
        let half = parse_half(text, goal);
        let context = PlanContext::new(text, goal.read_on, "UTC");
        let pack = library.find_pack(&half.subject.name);
        let wording = BlueprintWording::new(&half, &context, file, pack);
        let kept = STATED.into_iter().filter(|name| wording.knows(name)).collect();
        let title = wording.goal_words();
        Self { title: capitalize_first(&cut_at_word(&title, HALF_TITLE_CHARS)), wording, kept }
    }

    fn fill(&self, text: &str) -> String {
        let fills = |name: &str| {
            OWN_WORDS.contains(&name) || (STATED.contains(&name) && !self.kept.contains(&name))
        };
        self.wording.fill_some(text, fills)
    }

    /// Makes one part of the phases and tasks of a kind.
    fn into_group(
        self,
        file: &Blueprint,
        prefix: &str,
        prefer: BlueprintPreference,
    ) -> BlueprintGroup {
        let mut phases = file.phases.clone();
        let mut tasks = file.tasks.clone();
        let own = (file.prefer != prefer).then_some(file.prefer);
        for group in &mut phases {
            self.change_group(group, prefix, own);
        }
        for task in &mut tasks {
            self.change_task(task, prefix, own);
        }
        BlueprintGroup {
            key: None,
            title: unplaced(self.title),
            why: file.why.get_ref().clone(),
            done_when: String::new(),
            intensity: None,
            stream: None,
            after: None,
            every: None,
            at_time: None,
            on: super::blueprint::RepeatDays::default(),
            optional: false,
            when: Vec::new(),
            unless: Vec::new(),
            min_weeks: None,
            max_weeks: None,
            weeks_share: None,
            phases,
            sub_goals: Vec::new(),
            tasks,
        }
    }

    fn change_group(
        &self,
        group: &mut BlueprintGroup,
        prefix: &str,
        own: Option<BlueprintPreference>,
    ) {
        *group.title.get_mut() = self.fill(group.title.get_ref());
        group.why = self.fill(&group.why);
        group.done_when = self.fill(&group.done_when);
        rename_keys(&mut group.key, &mut group.after, prefix);
        for inner in group.phases.iter_mut().chain(&mut group.sub_goals) {
            self.change_group(inner, prefix, own);
        }
        for task in &mut group.tasks {
            self.change_task(task, prefix, own);
        }
    }

    fn change_task(
        &self,
        task: &mut BlueprintTask,
        prefix: &str,
        own: Option<BlueprintPreference>,
    ) {
        *task.title.get_mut() = self.fill(task.title.get_ref());
        task.why = self.fill(&task.why);
        task.done_when = self.fill(&task.done_when);
        task.prefer = task.prefer.or(own);
        rename_keys(&mut task.key, &mut task.after, prefix);
    }
}

/// Two files may use the same key.
fn rename_keys(
    key: &mut Option<Spanned<String>>,
    after: &mut Option<Vec<super::blueprint::BlueprintLink>>,
    prefix: &str,
) {
    if let Some(key) = key {
        *key.get_mut() = format!("{prefix}_{}", key.get_ref());
    }
    for link in after.iter_mut().flatten() {
        link.on = format!("{prefix}_{}", link.on);
    }
}

/// Says which half of a goal the plan leaves out.
pub(super) fn name_other_half(goal: &Goal, file: &Blueprint) -> Option<String> {
    if file.name.contains(JOINT) {
        return None;
    }
    let halves = split_goal(goal)?;
    let words = |text: &str| -> Vec<String> {
        let half = parse_half(text, goal);
        // A remark behind a comma belongs to neither.
        let end = (1..half.word_count()).find(|at| half.is_clause_start(*at));
        half.folded_words()[..end.unwrap_or(half.word_count())].to_vec()
    };
    let known = |half: &[String]| {
        half.iter().filter(|word| is_telling(word)).any(|word| is_match_word(word, file))
    };
    let (first, other) = (words(&halves.first), words(&halves.second));
    // Where only the second half leads to the kind, the first is the one that is left out.
    let left = match (known(&first), known(&other)) {
        (_, false) => other,
        (false, true) => first,
        (true, true) => return None,
    };
    let has_object = left.iter().skip(1).any(|word| is_telling(word));
    has_object.then(|| {
        format!(
            "Only one half of the goal is planned. Not planned: \"{}\". Make a plan of its own for it, or add its \
             steps.",
            left.join(" ")
        )
    })
}
