//! Which kind of plan is drafted: the one the person named, or the one that fits the goal best and was not turned down.

use jiff::Timestamp;

use super::Planner;
use planwright_drafting::kind_words;
use planwright_drafting::offline::{self, KindCandidate, KindPick, kind};
use planwright_model::requests::{KIND_QUESTION, OfferedKind, SOMETHING_ELSE};
use planwright_model::{PatternChoice, PatternSpec};
use planwright_state::PlanningSlice;

impl Planner {
    /// The kinds that fit the goal.
    pub(super) fn pick_kind(&self, talk: &PlanningSlice, now: Timestamp) -> KindPick {
        let context = self.plan_context(talk, now);
        let goal = offline::Goal::parse(&context.goal_text, self.goal_parse_context(now));
        let mut pick = offline::select_kind(&goal, &self.library, self.proposal_mode());
        let turned_down = |candidate: &KindCandidate| {
            talk.excluded_options.contains(&candidate.pattern.exclusion_key())
        };
        if pick.candidates.iter().any(|candidate| !turned_down(candidate)) {
            pick.candidates.retain(|candidate| !turned_down(candidate));
        }
        pick
    }

    /// The kind that the person answered with: a name, a label, or words for it.
    pub(super) fn answered_kind(&self, talk: &PlanningSlice) -> Option<PatternSpec> {
        let answer = talk.answers.get(KIND_QUESTION)?.trim();
        if answer.eq_ignore_ascii_case(SOMETHING_ELSE) {
            return Some(kind::own_steps_pattern());
        }
        let named = self.library.all_blueprints().find(|file| {
            let known = file.to_kind();
            [known.name.as_str(), known.label.as_str(), known.noun()]
                .iter()
                .any(|name| name.eq_ignore_ascii_case(answer))
        });
        let found = named.map(planwright_drafting::offline::blueprint::Blueprint::to_pattern);
        found.or_else(|| kind_words::find_kind(answer, &talk.goal))
    }

    /// The choice of a kind with what else may be meant.
    pub(super) fn choose_kind(&self, talk: &PlanningSlice, now: Timestamp) -> PatternChoice {
        let pick = self.pick_kind(talk, now);
        let (score, margin) = (pick.score(), pick.margin());
        let second = pick.candidates.get(1).filter(|next| next.score > 0.0);
        let second = second.map(|next| plain_pattern(&next.pattern));
        let best = pick.best().map(|best| plain_pattern(&best.pattern));
        let others = offered(&pick);
        match self.answered_kind(talk) {
            Some(pattern) => PatternChoice {
                second: best.filter(|best| !best.is_same_pattern(&pattern)),
                pattern,
                confidence: 1.0,
                margin: 1.0,
                explanations: vec!["you said which kind it is".to_owned()],
                others,
                proposed_pattern: None,
            },
            None => PatternChoice {
                pattern: best.unwrap_or_else(kind::own_steps_pattern),
                confidence: score,
                margin,
                second,
                explanations: pick.explanations,
                others,
                proposed_pattern: None,
            },
        }
    }
}

/// How sure the selector was belongs to the log, not to the plan.
fn plain_pattern(pattern: &PatternSpec) -> PatternSpec {
    PatternSpec { confidence: None, ..pattern.clone() }
}

/// The candidates as kinds to choose from, and the person's own steps as the last resort.
pub(super) fn offered(pick: &KindPick) -> Vec<OfferedKind> {
    let kinds = pick.candidates.iter().map(|candidate| OfferedKind {
        pattern: plain_pattern(&candidate.pattern),
        content: candidate.content.clone(),
    });
    let own_steps = OfferedKind {
        pattern: kind::own_steps_pattern(),
        content: "you write the steps, and they get dates".to_owned(),
    };
    kinds.chain([own_steps]).collect()
}
