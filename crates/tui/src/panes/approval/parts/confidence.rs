//! How sure a stage is, as a bar of its parts with the threshold under it.

use crate::panes::approval::content::CardLine;
use crate::theme::ThemeRole;
use crate::widgets::format_counted;
use planwright_model::{Confidence, ConfidenceVerdict, Severity, StageAssessment};
use planwright_plan::confidence::{ConfidenceSettings, ConfidenceWeights};
use planwright_text::{clean_line, units, wrap_words};

/// What the first line begins with.
pub(in super::super) const HEADING: &str = "Confidence ";
/// The cells of a full bar.
const BAR: usize = 60;

/// How sure the stage is in a sentence, then what is wrong with it, unless the card lists that itself. The figures are
/// among the details.
pub(in super::super) fn confidence_words(
    judgement: &StageAssessment,
    listed: bool,
    width: usize,
) -> Vec<CardLine> {
    let count = |warning: bool| {
        let found = judgement.violations.iter();
        found.filter(|found| (found.severity == Severity::Warning) == warning).count()
    };
    let (errors, warnings) = (count(false), count(true));
    let (word, role) = match judgement.confidence.verdict {
        _ if errors > 0 => ("Unsure", ThemeRole::Failed),
        ConfidenceVerdict::Continue => ("Sure", ThemeRole::Text),
        ConfidenceVerdict::Retry => ("Fairly sure", ThemeRole::Warn),
        ConfidenceVerdict::Escalate => ("Unsure", ThemeRole::Warn),
    };
    let counts = [(errors, "error"), (warnings, "warning")];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format_counted(count, noun))
        .collect();
    let why = match (&counts[..], judgement.confidence.verdict) {
        ([], ConfidenceVerdict::Continue) => "no rule is broken".to_owned(),
        ([], _) => "much of it is assumed".to_owned(),
        (counts, _) => counts.join(", "),
    };
    let mut lines = vec![
        Vec::new(),
        vec![(HEADING.to_owned(), ThemeRole::Dim), (format!("  {word}: {why}."), role)],
    ];
    if !listed {
        lines.extend(violation_lines(judgement, false, width));
    }
    lines
}

/// Figures, bar, threshold and parts; below them what the parts are made of and the rules that are broken.
pub(in super::super) fn confidence_lines(
    judgement: &StageAssessment,
    width: usize,
) -> Vec<CardLine> {
    let confidence = &judgement.confidence;
    let settings = ConfidenceSettings::default();
    let mut lines = vec![Vec::new(), confidence_headline(judgement, settings.confidence_continue)];
    let cells = BAR.min(width.saturating_sub(3)).max(10);
    let parts = confidence_parts(confidence, &settings.confidence_weights);
    lines.push(confidence_bar(&parts, cells));
    let mark = (settings.confidence_continue * cells as f64).round() as usize;
    let needed = units::format_confidence(settings.confidence_continue, 2);
    lines.push(vec![(format!("   {}^ {needed}", " ".repeat(mark)), ThemeRole::Dim)]);
    let mut legend: CardLine = vec![("   ".to_owned(), ThemeRole::Dim)];
    for part in &parts {
        let figures = format!(
            "{} {} {} × {}   ",
            part.glyph,
            part.name,
            units::format_confidence(part.value, 2),
            units::format_confidence(part.weight, 2)
        );
        legend.push((figures, part.role));
    }
    lines.push(legend);
    lines.extend(parts.iter().flat_map(|part| part_terms(part, judgement)));
    lines.extend(violation_lines(judgement, true, width));
    lines
}

/// The rules that are broken; their codes are among the details.
fn violation_lines(judgement: &StageAssessment, codes: bool, width: usize) -> Vec<CardLine> {
    let mut lines = Vec::new();
    for found in &judgement.violations {
        let role =
            if found.severity == Severity::Warning { ThemeRole::Dim } else { ThemeRole::Failed };
        let text = if codes {
            format!("{} ({}, {})", found.message, found.rule, found.severity.as_str())
        } else {
            found.message.clone()
        };
        let text = clean_line(&text);
        let parts = wrap_words(&text, width.saturating_sub(3).max(8), 2);
        for (index, part) in parts.into_iter().enumerate() {
            let lead = if index == 0 { "   " } else { "     " };
            lines.push(vec![(format!("{lead}{}", part.trim_start()), role)]);
        }
    }
    lines
}

/// One part of the bar.
struct ConfidencePart {
    glyph: char,
    name: &'static str,
    weight: f64,
    value: f64,
    role: ThemeRole,
}

fn confidence_parts(confidence: &Confidence, weights: &ConfidenceWeights) -> Vec<ConfidencePart> {
    let part =
        |glyph, name, weight, value, role| ConfidencePart { glyph, name, weight, value, role };
    let (rules, checks) = (confidence.rules, confidence.heuristics);
    match confidence.self_score {
        Some(score) => vec![
            part('█', "model", weights.self_score, score, ThemeRole::PartModel),
            part('▓', "rules", weights.rules, rules, ThemeRole::PartRules),
            part('▒', "checks", weights.heuristics, checks, ThemeRole::PartChecks),
        ],
        None => vec![
            part('▓', "rules", weights.offline_rules, rules, ThemeRole::PartRules),
            part('▒', "checks", weights.offline_heuristics, checks, ThemeRole::PartChecks),
        ],
    }
}

/// What a part is made of: its share of the whole, then the terms that give its value.
fn part_terms(part: &ConfidencePart, judgement: &StageAssessment) -> Vec<CardLine> {
    let figure = |value: f64| units::format_confidence(value, 2);
    let share = units::format_confidence(part.weight * part.value, 3);
    let mut lines = vec![vec![
        (format!("   {} {:<34}", part.glyph, part.name), part.role),
        (format!("{} × {} = {share}", figure(part.value), figure(part.weight)), ThemeRole::Text),
    ]];
    let mut row = |name: &str, text: String| {
        let name = planwright_text::fit_width(&clean_line(name), 34).into_owned();
        lines.push(vec![(format!("     {name}"), ThemeRole::Dim), (text, ThemeRole::Text)]);
    };
    match part.role {
        ThemeRole::PartModel => row("how sure the model says it is", figure(part.value)),
        ThemeRole::PartRules => {
            let count = |severity| {
                let found = judgement.violations.iter().filter(|found| found.severity == severity);
                found.count()
            };
            row("rules broken for good, 0 in all", count(Severity::Fatal).to_string());
            row("rules broken, less .15 each", count(Severity::Repairable).to_string());
            row("warnings, less .03, at most .15", count(Severity::Warning).to_string());
        }
        _ => {
            for term in &judgement.confidence.terms {
                let share = units::format_confidence(term.weight * term.value, 3);
                let text = format!("{} × {} = {share}", figure(term.value), figure(term.weight));
                row(&term.name, text);
            }
        }
    }
    lines
}

fn confidence_bar(parts: &[ConfidencePart], cells: usize) -> CardLine {
    let mut line: CardLine = vec![("   ".to_owned(), ThemeRole::Dim)];
    let (mut sum, mut drawn) = (0.0, 0);
    for part in parts {
        sum += part.weight * part.value;
        let to = ((sum * cells as f64).round() as usize).min(cells);
        line.push((part.glyph.to_string().repeat(to.saturating_sub(drawn)), part.role));
        drawn = drawn.max(to);
    }
    line.push(("░".repeat(cells - drawn), ThemeRole::Rule));
    line
}

fn confidence_headline(judgement: &StageAssessment, needed: f64) -> CardLine {
    let confidence = &judgement.confidence;
    let (word, role) = match confidence.verdict {
        ConfidenceVerdict::Continue => ("continue", ThemeRole::Text),
        ConfidenceVerdict::Retry => ("retry", ThemeRole::Warn),
        ConfidenceVerdict::Escalate => ("escalate", ThemeRole::Warn),
    };
    let warnings =
        judgement.violations.iter().filter(|found| found.severity == Severity::Warning).count();
    let broken = judgement.violations.len() - warnings;
    vec![
        (format!("{HEADING}{}", units::format_confidence(confidence.value, 3)), ThemeRole::Text),
        (format!("   {word}"), role),
        (format!(", {} needed   ", units::format_confidence(needed, 2)), ThemeRole::Dim),
        (
            format!(
                "{}, {}",
                format_counted(broken, "violation"),
                format_counted(warnings, "warning")
            ),
            if broken > 0 { ThemeRole::Failed } else { ThemeRole::Dim },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::{ConfidenceTerm, Stage};

    fn judged(self_score: Option<f64>, rules: f64, heuristics: f64, value: f64) -> Vec<String> {
        let confidence = Confidence {
            stage: Stage::Schedule,
            value,
            self_score,
            rules,
            heuristics,
            terms: vec![],
            verdict: ConfidenceVerdict::Continue,
            may_advance: true,
        };
        let judgement = StageAssessment { confidence, violations: vec![] };
        confidence_lines(&judgement, 76)
            .iter()
            .map(|line| line.iter().map(|(text, _)| text.as_str()).collect())
            .collect()
    }

    #[test]
    fn the_bar_is_as_long_as_its_parts() {
        let lines = judged(Some(0.80), 0.94, 0.78, 0.838);
        let count = |glyph: char| lines[2].chars().filter(|letter| *letter == glyph).count();
        assert_eq!((count('█'), count('▓'), count('▒'), count('░')), (24, 17, 9, 10));
        assert_eq!(lines[3].find('^'), Some(3 + 42));
        assert!(lines[4].contains("█ model .80 × .50"), "{}", lines[4]);
    }

    #[test]
    fn without_details_there_is_a_sentence_and_no_figure() {
        let confidence = Confidence {
            stage: Stage::Schedule,
            value: 0.347,
            self_score: None,
            rules: 0.7,
            heuristics: 0.68,
            terms: vec![],
            verdict: ConfidenceVerdict::Escalate,
            may_advance: false,
        };
        let judgement = StageAssessment { confidence, violations: vec![] };
        let text: String = confidence_words(&judgement, false, 76)
            .iter()
            .flatten()
            .map(|(text, _)| text.as_str())
            .collect();
        assert_eq!(text, "Confidence   Unsure: much of it is assumed.");
    }

    #[test]
    fn the_terms_add_up_to_their_part() {
        let term = |name: &str, weight, value| ConfidenceTerm { name: name.into(), weight, value };
        let confidence = Confidence {
            stage: Stage::Schedule,
            value: 0.838,
            self_score: Some(0.8),
            rules: 0.94,
            heuristics: 0.78,
            terms: vec![term("slack", 0.6, 0.9), term("spread", 0.4, 0.6)],
            verdict: ConfidenceVerdict::Continue,
            may_advance: true,
        };
        let judgement = StageAssessment { confidence, violations: vec![] };
        let text: Vec<String> = confidence_lines(&judgement, 76)
            .iter()
            .map(|line| line.iter().map(|(text, _)| text.as_str()).collect())
            .collect();
        let shows = |name: &str, figures: &str| {
            let found = |line: &&String| line.trim_start().starts_with(name);
            assert!(text.iter().filter(found).any(|line| line.ends_with(figures)), "{text:#?}");
        };
        shows("█ model", ".80 × .50 = .400");
        shows("▒ checks", ".78 × .20 = .156");
        shows("slack", ".90 × .60 = .540");
        shows("spread", ".60 × .40 = .240");
    }

    #[test]
    fn without_a_model_there_are_two_parts() {
        let lines = judged(None, 1.0, 0.6, 0.84);
        assert!(!lines[2].contains('█'));
        assert_eq!(lines[2].chars().filter(|letter| *letter == '░').count(), 10);
    }
}
