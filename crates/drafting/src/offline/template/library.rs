//! All available templates and topic packs: the built-in ones and the person's own, which take precedence.

use planwright_model::{PatternSpec, PatternType};

use super::check::{self, TemplateFault};
use super::{Template, TopicPack};

/// A template or pack text and the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateSource<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Why a template or topic pack was skipped; the others are still used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct TemplateError {
    pub file: String,
    pub line: usize,
    pub message: String,
    /// How to fix it.
    pub remedy: String,
}

/// The templates and topic packs for drafting plans.
#[derive(Clone, Debug)]
pub struct TemplateLibrary {
    own: usize,
    templates: Vec<Template>,
    packs: Vec<TopicPack>,
}

macro_rules! asset {
    ($folder:literal, $($name:literal),+ $(,)?) => {
        [$(TemplateSource {
            name: concat!($name, ".toml"),
            text: include_str!(concat!("../../../../../assets/", $folder, "/", $name, ".toml")),
        }),+]
    };
}

/// In the order in which their cues are tried within a pattern; the last of a pattern is its default.
const TEMPLATES: [TemplateSource<'static>; 24] = asset!(
    "templates",
    "migration",
    "launch",
    "event",
    "writing",
    "purchase",
    "build",
    "quick",
    "generic",
    "protocol_routine",
    "review_routine",
    "maintenance",
    "habit",
    "training_arc",
    "creative_arc",
    "career_arc",
    "therapeutic_arc",
    "financial_arc",
    "learning_arc",
    "content_series",
    "sprint_cadence",
    "project_per_period",
    "platform_change",
    "organisation_change",
    "role_change",
);

const PACKS: [TemplateSource<'static>; 4] = asset!("topics", "rust", "python", "sql", "language");

impl TemplateLibrary {
    /// Returns the built-in templates and packs.
    pub fn built_in() -> Self {
        let (library, errors) = Self::with_own(&[], &[]);
        debug_assert!(errors.is_empty(), "{errors:?}");
        library
    }

    /// Returns the built-in ones preceded by the person's own. A file with an error is skipped and reported.
    pub fn with_own(
        templates: &[TemplateSource<'_>],
        packs: &[TemplateSource<'_>],
    ) -> (Self, Vec<TemplateError>) {
        let mut errors = Vec::new();
        let own_templates = read_all(templates, read_template, &mut errors);
        let own = own_templates.len();
        let templates = own_templates
            .into_iter()
            .chain(read_all(&TEMPLATES, read_template, &mut errors))
            .collect();
        let mut all_packs = read_all(packs, read_pack, &mut errors);
        all_packs.extend(read_all(&PACKS, read_pack, &mut errors));
        (Self { own, templates, packs: all_packs }, errors)
    }

    /// Returns every template, the person's own first.
    pub fn all_templates(&self) -> &[Template] {
        &self.templates
    }

    /// Returns the person's own templates.
    pub fn own_templates(&self) -> &[Template] {
        &self.templates[..self.own]
    }

    /// Returns the templates of a pattern, in the order in which their cues are tried.
    pub fn pattern_templates(
        &self,
        pattern: PatternType,
    ) -> impl DoubleEndedIterator<Item = &Template> {
        self.templates.iter().filter(move |template| template.pattern == pattern)
    }

    /// Returns the template of a subtype; a proposed or unknown one uses that of its source, or else the default.
    pub fn find_template(&self, spec: &PatternSpec) -> Option<&Template> {
        let named = |name: &str| {
            self.pattern_templates(spec.pattern_type).find(|template| template.subtype == name)
        };
        let subtype = spec.subtype.as_deref().unwrap_or_default();
        named(subtype)
            .or_else(|| named(spec.source_pattern.as_deref()?))
            .or_else(|| self.default_template(spec.pattern_type))
    }

    /// Returns the default template of a pattern.
    pub fn default_template(&self, pattern: PatternType) -> Option<&Template> {
        self.pattern_templates(pattern).next_back()
    }

    /// Returns the topic pack for a subject.
    pub fn find_pack(&self, subject: &str) -> Option<&TopicPack> {
        self.packs.iter().find(|pack| pack.covers_subject(subject))
    }
}

fn read_all<T>(
    sources: &[TemplateSource<'_>],
    read: impl Fn(&TemplateSource<'_>) -> Result<T, TemplateError>,
    errors: &mut Vec<TemplateError>,
) -> Vec<T> {
    let mut list = Vec::new();
    for source in sources {
        match read(source) {
            Ok(item) => list.push(item),
            Err(error) => errors.push(error),
        }
    }
    list
}

fn read_template(source: &TemplateSource<'_>) -> Result<Template, TemplateError> {
    let template: Template =
        toml::from_str(source.text).map_err(|error| syntax_error(source, &error))?;
    check::check_template(&template).map_err(|fault| error_from_fault(source, fault))?;
    Ok(template)
}

fn read_pack(source: &TemplateSource<'_>) -> Result<TopicPack, TemplateError> {
    let pack: TopicPack =
        toml::from_str(source.text).map_err(|error| syntax_error(source, &error))?;
    check::check_pack(&pack).map_err(|fault| error_from_fault(source, fault))?;
    Ok(pack)
}

fn syntax_error(source: &TemplateSource<'_>, error: &toml::de::Error) -> TemplateError {
    let at = error.span().map_or(0, |span| span.start);
    let message = error.message().split('\n').next().unwrap_or_default().to_owned();
    let (message, remedy) = match unknown_field(&message) {
        Some((field, Some(near))) => {
            (format!("there is no field \"{field}\""), format!("did you mean \"{near}\"?"))
        }
        Some((field, None)) => {
            (format!("there is no field \"{field}\""), "remove the line".to_owned())
        }
        None => (
            message,
            "correct the line, or remove the file to use the built-in template".to_owned(),
        ),
    };
    TemplateError {
        file: source.name.to_owned(),
        line: line_number(source.text, at),
        message,
        remedy,
    }
}

/// Returns the unknown field name, and the nearest known one. The parser reports all of them in backticks.
fn unknown_field(message: &str) -> Option<(&str, Option<&str>)> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let field = quoted.next()?;
    Some((field, planwright_text::nearest_name(field, quoted)))
}

fn error_from_fault(source: &TemplateSource<'_>, fault: TemplateFault) -> TemplateError {
    let line = line_number(source.text, fault.at);
    TemplateError {
        file: source.name.to_owned(),
        line,
        message: fault.message,
        remedy: fault.remedy,
    }
}

fn line_number(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURDOUGH: &str = r#"
pattern = "milestone_project"
subtype = "sourdough"
cues = ["sourdough"]
weeks = 2
weekly_minutes = 120

[[phase]]
title = "Feed"
share = 60
[[phase.task]]
title = "Feed the starter for {the subject}"
done_when = "it doubles within six hours"

[[phase]]
title = "Bake"
share = 40
[[phase.task]]
title = "Bake one loaf"
done_when = "it is eaten"
"#;

    fn error(text: &str) -> TemplateError {
        let (library, errors) =
            TemplateLibrary::with_own(&[TemplateSource { name: "mine.toml", text }], &[]);
        assert!(
            library.own_templates().is_empty()
                && library.default_template(PatternType::MilestoneProject).is_some()
        );
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.into_iter().next().unwrap()
    }

    #[test]
    fn every_built_in_subtype_has_a_template_and_none_has_an_error() {
        let (library, errors) = TemplateLibrary::with_own(&[], &[]);
        assert_eq!(errors, []);
        for pattern in PatternType::ALL {
            for subtype in pattern.subtypes() {
                let spec = PatternSpec::with_subtype(pattern, *subtype);
                assert_eq!(library.find_template(&spec).unwrap().subtype, *subtype);
            }
        }
    }

    #[test]
    fn the_persons_templates_take_precedence() {
        let (library, errors) = TemplateLibrary::with_own(
            &[TemplateSource { name: "sourdough.toml", text: SOURDOUGH }],
            &[],
        );
        assert_eq!(errors, []);
        assert_eq!(library.own_templates()[0].subtype, "sourdough");
    }

    #[test]
    fn an_invalid_template_is_reported_with_its_line_and_the_others_are_used() {
        let found = error(&SOURDOUGH.replace("share = 60", "share = 50"));
        assert_eq!(
            found.to_string(),
            "mine.toml:9: the shares of the phases add up to 90, not to 100"
        );
        assert_eq!(found.remedy, "change the shares");
        let found = error(&SOURDOUGH.replace("weeks = 2", "weeks = \"two\""));
        assert_eq!((found.line, found.message.contains("invalid type")), (5, true), "{found}");
        let found = error(&SOURDOUGH.replace("{the subject}", "{subjekt}"));
        assert_eq!(found.to_string(), "mine.toml:12: \"{subjekt}\" stands for nothing");
        let found =
            error(&SOURDOUGH.replace("done_when = \"it is eaten\"", "done_wen = \"eaten\""));
        assert_eq!(found.to_string(), "mine.toml:20: there is no field \"done_wen\"");
        assert_eq!(found.remedy, "did you mean \"done_when\"?");
        let found = error("pattern = ");
        assert_eq!(found.line, 1);
    }

    #[test]
    fn an_unknown_subtype_uses_the_template_of_its_source() {
        let library = TemplateLibrary::built_in();
        let mut spec =
            PatternSpec::with_subtype(PatternType::RecurringCycle, "daily_health_protocol_v2");
        assert_eq!(library.find_template(&spec).unwrap().subtype, "habit");
        spec.source_pattern = Some("protocol_routine".to_owned());
        assert_eq!(library.find_template(&spec).unwrap().subtype, "protocol_routine");
    }
}
