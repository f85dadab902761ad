//! What the person's answers to questions change in the context of a plan.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use planwright_drafting::change_requests::{apply_context_change, parse_working_times};
use planwright_drafting::offline::goal::{Goal, GoalParseContext};
use planwright_model::{Assumption, AssumptionOrigin, PlanContext};

/// Checks whether an answer to a question can be read, as of a moment.
pub(crate) fn check_answer(
    context: &PlanContext,
    key: &str,
    answer: &str,
    now: Timestamp,
) -> Result<(), String> {
    let zone = TimeZone::get(&context.calendar.tz).unwrap_or(TimeZone::UTC);
    let today = GoalParseContext::new(now.to_zoned(zone).date(), 5);
    apply_answer(&mut context.clone(), key, answer, today)
}

/// Takes an answer into the context. `Err` says in words why it could not be read.
pub(super) fn apply_answer(
    context: &mut PlanContext,
    key: &str,
    answer: &str,
    today: GoalParseContext,
) -> Result<(), String> {
    let answer = answer.trim();
    let value = match key {
        "weekly_minutes" => {
            let minutes = parse_weekly_minutes(answer, today)
                .or_else(|| take_working_times(context, answer, today))
                .ok_or("Not a number of hours. Try \"6 h\" or \"Tue and Thu evening\".")?;
            context.constraints.weekly_minutes = Some(minutes);
            minutes.to_string()
        }
        "horizon_weeks" => {
            let said = parse_horizon(answer, today)
                .ok_or("Not a date or a number of weeks. Try \"8 weeks\" or \"20 March\".")?;
            match said {
                HorizonAnswer::Weeks(weeks) => {
                    context.constraints.horizon_weeks = Some(weeks);
                    weeks.to_string()
                }
                // The goal's own words settle dates, so the date joins them.
                HorizonAnswer::Words => {
                    append_to_goal(context, answer, "by");
                    answer.to_owned()
                }
            }
        }
        "cadence" => {
            if Goal::parse(&format!("x {answer}"), today).cadence.is_none() {
                return Err("Not a rhythm. Try \"every week\" or \"3 times a week\".".to_owned());
            }
            append_to_goal(context, answer, "");
            answer.to_owned()
        }
        "at_local" => {
            let bare = answer.strip_prefix("at ").unwrap_or(answer);
            if Goal::parse(&format!("x at {bare}"), today).at_local.is_none() {
                return Err("Not a time of day. Try \"7:30\" or \"18:00\".".to_owned());
            }
            append_to_goal(context, answer, "at");
            answer.to_owned()
        }
        "occurrence_minutes" => {
            let words = if answer.parse::<u32>().is_ok() {
                format!("{answer} minutes each")
            } else {
                format!("{answer} each")
            };
            if Goal::parse(&format!("x {words}"), today).occurrence_minutes.is_none() {
                return Err("Not a number of minutes. Try \"20 min\".".to_owned());
            }
            append_to_goal(context, &words, "");
            answer.to_owned()
        }
        "day" => parse_day(answer, today)
            .ok_or("Not a day. Try \"12 June\", \"next Saturday\" or \"2027-06-12\".")?
            .to_string(),
        // A number was assumed, so a number is the answer.
        _ if is_counted(context, key) => {
            let digits: String = answer.chars().filter(char::is_ascii_digit).take(7).collect();
            let number: u32 = digits.parse().map_err(|_| "Not a number. Try \"60\".")?;
            number.max(1).to_string()
        }
        _ => answer.to_owned(),
    };
    context.assumptions.retain(|known| known.key != key);
    context.assumptions.push(Assumption {
        key: key.to_owned(),
        value,
        origin: AssumptionOrigin::User,
        question: None,
    });
    Ok(())
}

fn is_counted(context: &PlanContext, key: &str) -> bool {
    context.find_assumption(key).is_some_and(|found| {
        found.origin == AssumptionOrigin::Template && found.value.parse::<u32>().is_ok()
    })
}

/// Reads a day that has not passed.
fn parse_day(answer: &str, today: GoalParseContext) -> Option<Date> {
    let read = |text: String| Goal::parse(&text, today).last_day();
    let day = read(format!("x on {answer}")).or_else(|| read(format!("x {answer}")));
    day.filter(|day| *day >= today.date)
}

/// Times of the week in place of hours: they become the working hours, and all of them can be used.
fn take_working_times(
    context: &mut PlanContext,
    answer: &str,
    today: GoalParseContext,
) -> Option<u32> {
    let lower = answer.to_lowercase();
    if !matches!(lower.as_str(), "full time" | "full-time" | "fulltime") {
        let changes = parse_working_times(answer, today.date)?;
        for change in &changes {
            apply_context_change(context, change);
        }
    }
    let most = context.constraints.max_daily_minutes;
    let day = |hours: &Vec<planwright_model::LocalTimeInterval>| {
        hours.iter().map(|span| span.duration_minutes()).sum::<u32>().min(most)
    };
    let minutes: u32 = context.calendar.working.values().map(day).sum();
    (minutes > 0).then_some(minutes)
}

fn append_to_goal(context: &mut PlanContext, words: &str, link: &str) {
    let words = if link.is_empty() || words.to_lowercase().starts_with(link) {
        words.to_owned()
    } else {
        format!("{link} {words}")
    };
    if !context.goal_text.contains(&words) {
        context.goal_text = format!("{}, {words}", context.goal_text.trim_end_matches('.'));
    }
}

fn parse_weekly_minutes(answer: &str, today: GoalParseContext) -> Option<u32> {
    if let Ok(hours) = answer.replace(',', ".").parse::<f64>() {
        return (hours > 0.0 && hours <= 168.0).then(|| (hours * 60.0).round() as u32);
    }
    let read = |text: &str| Goal::parse(text, today).weekly_minutes;
    read(answer).or_else(|| read(&format!("{answer} a week"))).or_else(|| {
        let lower = answer.to_lowercase();
        let number: String =
            lower.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        let count: f64 = number.replace(',', ".").parse().ok()?;
        let unit = lower[number.len()..].trim();
        let minutes = match unit.split_whitespace().next()? {
            unit if unit.starts_with('h') => count * 60.0,
            unit if unit.starts_with("min") => count,
            _ => return None,
        };
        (1.0..=168.0 * 60.0).contains(&minutes).then(|| minutes.round() as u32)
    })
}

enum HorizonAnswer {
    Weeks(u16),
    Words,
}

fn parse_horizon(answer: &str, today: GoalParseContext) -> Option<HorizonAnswer> {
    if let Ok(weeks) = answer.parse::<u16>() {
        return (1..=520).contains(&weeks).then_some(HorizonAnswer::Weeks(weeks));
    }
    for text in [format!("x in {answer}"), format!("x for {answer}"), format!("x {answer}")] {
        if let Some(weeks) = Goal::parse(&text, today).horizon_weeks {
            return Some(HorizonAnswer::Weeks(weeks));
        }
    }
    let dated = Goal::parse(&format!("x by {answer}"), today).deadline.is_some()
        || Goal::parse(&format!("x {answer}"), today).last_day().is_some();
    dated.then_some(HorizonAnswer::Words)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    const TODAY: GoalParseContext = GoalParseContext::new(date(2026, 6, 7), 5);

    fn context() -> PlanContext {
        PlanContext::new("learn to draw", date(2026, 6, 8), "Europe/Berlin")
    }

    #[test]
    fn hours_are_read_in_the_ways_people_write_them() {
        for (answer, minutes) in [
            ("5", 300),
            ("2.5", 150),
            ("5 hours", 300),
            ("90 minutes", 90),
            ("6 hours a week", 360),
        ] {
            let mut context = context();
            apply_answer(&mut context, "weekly_minutes", answer, TODAY).unwrap();
            assert_eq!(context.constraints.weekly_minutes, Some(minutes), "{answer}");
            assert_eq!(
                context.find_assumption("weekly_minutes").unwrap().origin,
                AssumptionOrigin::User
            );
        }
        assert!(apply_answer(&mut context(), "weekly_minutes", "lots", TODAY).is_err());
        assert!(apply_answer(&mut context(), "weekly_minutes", "900", TODAY).is_err());
        let mut evenings = context();
        apply_answer(&mut evenings, "weekly_minutes", "evenings, but never on Fridays", TODAY)
            .unwrap();
        assert_eq!(evenings.calendar.working.len(), 4, "{:?}", evenings.calendar.working);
        let why = apply_answer(&mut context(), "weekly_minutes", "lots", TODAY).unwrap_err();
        assert_eq!(why, "Not a number of hours. Try \"6 h\" or \"Tue and Thu evening\".");
    }

    #[test]
    fn every_choice_of_a_question_can_be_read_and_changes_what_it_says() {
        let library = planwright_drafting::offline::TemplateLibrary::fixture();
        let mut seen = std::collections::BTreeSet::new();
        for goal in [
            "learn to draw",
            "launch a newsletter",
            "water the plants",
            "a weekly review",
            "go for a run every saturday",
            "publish a blog with monthly posts",
        ] {
            let context = PlanContext::new(goal, date(2026, 6, 8), "Europe/Berlin");
            let plan = |context| {
                planwright_drafting::offline::draft_outline(
                    context,
                    &library,
                    TODAY.date,
                    planwright_drafting::offline::SubtypeProposals::Allowed,
                )
                .unwrap()
            };
            for question in plan(context.clone()).questions {
                seen.insert(question.key.clone());
                assert!(question.choices.len() > 1, "{question:?}");
                for choice in &question.choices {
                    let mut context = context.clone();
                    apply_answer(&mut context, &question.key, &choice.answer, TODAY)
                        .unwrap_or_else(|why| panic!("{goal}, {}: {why}", question.key));
                    let asked = plan(context).questions;
                    let again = asked.iter().any(|other| other.key == question.key);
                    assert!(
                        !again,
                        "{goal}: {} says nothing about {}",
                        choice.answer, question.key
                    );
                }
            }
        }
        assert!(seen.contains("weekly_minutes") && seen.contains("horizon_weeks"), "{seen:?}");
    }

    #[test]
    fn an_end_is_a_number_of_weeks_or_a_date() {
        let mut context = context();
        apply_answer(&mut context, "horizon_weeks", "8 weeks", TODAY).unwrap();
        assert_eq!(context.constraints.horizon_weeks, Some(8));
        apply_answer(&mut context, "horizon_weeks", "2026-09-30", TODAY).unwrap();
        assert!(context.goal_text.contains("2026-09-30"), "{}", context.goal_text);
        assert!(apply_answer(&mut context, "horizon_weeks", "someday", TODAY).is_err());
    }
}
