//! Reads what should be logged: a level for everything, and levels for single parts.

use std::fmt;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// The crates that log, by the name a person may use for them.
const PARTS: [&str; 6] = ["agents", "engine", "llm", "store", "tools", "tui"];

/// How much is logged. Own parsing, because the usual one takes a misspelled level for the name of a module and then
/// logs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogFilter {
    /// For every part that is not named.
    default_level: LevelFilter,
    /// Module path and level.
    part_levels: Vec<(String, LevelFilter)>,
}

/// A directive that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LogFilterError {
    #[error("`{0}` is not a log level")]
    UnknownLevel(String),
    #[error("`{0}` is not a part of Planwright that logs")]
    UnknownPart(String),
}

impl LogFilter {
    /// What can be written, for whoever got it wrong.
    pub(crate) const USAGE: &'static str = "use off, error, warn, info or debug, or levels for single parts such as \
        info,store=debug (agents, engine, llm, store, tools, tui, planwright)";

    /// Reads comma-separated directives: `LEVEL` or `PART=LEVEL`. Nothing at all is off.
    pub(crate) fn parse(text: &str) -> Result<Self, LogFilterError> {
        let mut filter = Self { default_level: LevelFilter::OFF, part_levels: Vec::new() };
        for directive in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match directive.split_once('=') {
                None => filter.default_level = parse_level(directive)?,
                Some((part, level)) => {
                    let part = module_path(part.trim())?;
                    filter.part_levels.push((part, parse_level(level.trim())?));
                }
            }
        }
        Ok(filter)
    }

    /// The same with at least this level for what is not named.
    pub(crate) fn raise_to(mut self, level: LevelFilter) -> Self {
        self.default_level = self.default_level.max(level);
        self
    }

    pub(crate) fn is_off(&self) -> bool {
        let off = LevelFilter::OFF;
        self.default_level == off && self.part_levels.iter().all(|(_, level)| *level == off)
    }

    /// As the subscriber wants it. Other people's crates stay silent: they log what they transport.
    pub(super) fn to_targets(&self) -> Targets {
        Targets::new()
            .with_default(LevelFilter::OFF)
            .with_target("planwright", self.default_level)
            .with_targets(self.part_levels.iter().cloned())
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.default_level)?;
        self.part_levels.iter().try_for_each(|(part, level)| write!(f, ",{part}={level}"))
    }
}

fn parse_level(text: &str) -> Result<LevelFilter, LogFilterError> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return Err(LogFilterError::UnknownLevel(text.to_owned())),
    })
}

/// `store` and `planwright_store::lease` both name a module path.
fn module_path(part: &str) -> Result<String, LogFilterError> {
    let (top, below) =
        part.split_once("::").map_or((part, None), |(top, below)| (top, Some(below)));
    let name = top.strip_prefix("planwright_").unwrap_or(top);
    let top = if PARTS.contains(&name) {
        format!("planwright_{name}")
    } else if top == "planwright" {
        top.to_owned()
    } else {
        return Err(LogFilterError::UnknownPart(part.to_owned()));
    };
    Ok(below.map_or(top.clone(), |below| format!("{top}::{below}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_level_covers_planwright_and_nobody_else() {
        let targets = LogFilter::parse("debug").unwrap().to_targets();
        assert!(targets.would_enable("planwright_store::lease", &Level::DEBUG));
        assert!(targets.would_enable("planwright::app", &Level::DEBUG));
        assert!(!targets.would_enable("planwright_store", &Level::TRACE));
        assert!(!targets.would_enable("hyper::client", &Level::ERROR));
    }

    #[test]
    fn single_parts_have_levels_of_their_own() {
        let filter = LogFilter::parse("warn, store=debug,planwright_llm::transport=off").unwrap();
        let targets = filter.to_targets();
        assert!(targets.would_enable("planwright_store::lease", &Level::DEBUG));
        assert!(!targets.would_enable("planwright_tools", &Level::INFO));
        assert!(!targets.would_enable("planwright_llm::transport::gate", &Level::ERROR));
        assert_eq!(filter.to_string(), "warn,planwright_store=debug,planwright_llm::transport=off");
    }

    #[test]
    fn nothing_and_off_are_off_and_flags_only_raise() {
        for off in ["", " , ", "off", "OFF", "store=off"] {
            assert!(LogFilter::parse(off).unwrap().is_off(), "{off}");
        }
        let debug = LogFilter::parse("debug").unwrap();
        assert_eq!(debug.clone().raise_to(LevelFilter::INFO), debug);
        assert!(!LogFilter::parse("").unwrap().raise_to(LevelFilter::INFO).is_off());
    }

    #[test]
    fn a_slip_is_named() {
        let error = |text: &str| LogFilter::parse(text).unwrap_err().to_string();
        assert_eq!(error("debgu"), "`debgu` is not a log level");
        assert_eq!(error("store=loud"), "`loud` is not a log level");
        assert_eq!(error("hyper=debug"), "`hyper` is not a part of Planwright that logs");
    }
}
