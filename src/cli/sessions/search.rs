//! `planwright sessions search`: steps of all sessions by their words.

use clap::Args;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::app::{self, App};
use crate::cli::{CliExit, CliProblem, SharedArgs, StdoutWriter};
use planwright_model::MicroDollars;
use planwright_state::trace::TraceEntryKind;
use planwright_store::WordQuery;
use planwright_store::step_search::{StepOutcomeFilter, StepSearch};
use planwright_text as text;

#[derive(Debug, Args)]
pub(super) struct SessionSearchArgs {
    /// Words that a step must contain; the last may be the beginning of one
    words: Vec<String>,
    /// Only in this session: its id, a unique prefix, or `last`
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Steps of this task; `*` matches anything
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Steps of this kind: thought, action, observed, done, failed, plan and so on
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Calls of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Steps of this phase of an agent's work
    #[arg(long, value_name = "ROLE")]
    role: Option<RoleArg>,
    /// Only steps that succeeded, or that failed
    #[arg(long, value_name = "OUTCOME")]
    outcome: Option<OutcomeArg>,
    /// Not before this day, such as 2026-06-01
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    since: Option<Date>,
    /// Up to the end of this day
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    until: Option<Date>,
    /// Steps that cost at least so many dollars
    #[arg(long, value_name = "DOLLARS")]
    min_cost: Option<f64>,
    /// How many matches to print
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

fn parse_date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "not a valid date; write one such as 2026-06-01".to_owned())
}

impl SessionSearchArgs {
    /// Whether anything but words says what is looked for.
    fn has_filters(&self) -> bool {
        let named = [&self.session, &self.task, &self.kind, &self.tool];
        named.iter().any(|filter| filter.is_some())
            || self.role.is_some()
            || self.outcome.is_some()
            || self.since.or(self.until).is_some()
            || self.min_cost.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RoleArg {
    Plan,
    Research,
    Debate,
    Validate,
}

impl RoleArg {
    /// As steps have it in their metadata.
    fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Research => "research",
            Self::Debate => "debate",
            Self::Validate => "validate",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OutcomeArg {
    Ok,
    Failed,
}

pub(super) fn execute_search(
    shared: &SharedArgs,
    args: &SessionSearchArgs,
) -> anyhow::Result<CliExit> {
    let typed = args.words.join(" ");
    if typed.trim().is_empty() && !args.has_filters() {
        return Err(CliProblem::usage("there is nothing to search for")
            .with_remedy("name words, or narrow it down: planwright sessions search --kind failed")
            .into());
    }
    let app = App::settings_only(shared)?;
    let Some(store) = app.read_store()? else {
        if !shared.json {
            StdoutWriter::new().write_line("nothing found: there is no saved session yet")?;
        }
        return Ok(CliExit::Failed);
    };
    let mut words = WordQuery::parse(&typed);
    words.session =
        args.session.as_deref().map(|name| app::find_session(&store, name)).transpose()?;
    let zone = crate::config::time_zone();
    let search = StepSearch {
        words,
        task: args.task.clone(),
        kind: args.kind.as_deref().map(parse_kind).transpose()?,
        tool: args.tool.clone(),
        role: args.role.map(|role| role.as_str().to_owned()),
        outcome: args.outcome.map(|outcome| match outcome {
            OutcomeArg::Ok => StepOutcomeFilter::Succeeded,
            OutcomeArg::Failed => StepOutcomeFilter::Failed,
        }),
        since: args.since.map(|date| start_of_day(date, &zone)).transpose()?,
        until: args.until.map(|date| start_of_day(date.tomorrow()?, &zone)).transpose()?,
        min_cost: args.min_cost.map(MicroDollars::from_dollars),
        limit: args.limit.max(1),
    };
    let hits = search.run(&store.reader()?)?;
    let mut out = StdoutWriter::new();
    for hit in &hits {
        if shared.json {
            out.write_line(&serde_json::to_string(hit)?)?;
            continue;
        }
        let when = hit.at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S");
        let task = hit.task.as_ref().map(|task| format!("{} ", text::clean_line(task.as_str())));
        out.write_line(&format!(
            "{}  {:>6}  {when}  {}{:<8}  {}",
            hit.session.short_id(),
            hit.seq.to_string(),
            task.unwrap_or_default(),
            hit.kind,
            text::clean_line(&hit.text),
        ))?;
    }
    if hits.is_empty() && !shared.json {
        out.write_line("nothing found")?;
    }
    Ok(if hits.is_empty() { CliExit::Failed } else { CliExit::Success })
}

fn parse_kind(word: &str) -> anyhow::Result<TraceEntryKind> {
    TraceEntryKind::from_label(word).ok_or_else(|| {
        let near = text::nearest_name(word, TraceEntryKind::labels());
        let problem = CliProblem::usage(format!("there is no kind of step `{word}`"));
        let remedy = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("there are {}", TraceEntryKind::labels().collect::<Vec<_>>().join(", "))
            }
        };
        problem.with_remedy(remedy).into()
    })
}

fn start_of_day(date: Date, zone: &TimeZone) -> Result<Timestamp, jiff::Error> {
    Ok(date.to_zoned(zone.clone())?.timestamp())
}
