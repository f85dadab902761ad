//! All available blueprints and topic packs: the built-in ones and the person's own, which take precedence.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use planwright_model::{PatternSpec, PatternType};

use super::checks::{self, TemplateFault};
use super::{Blueprint, TopicPack, built_in};

/// The text of a blueprint or pack and the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateSource<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Why a blueprint or topic pack was skipped; the others are still used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}; {remedy}")]
pub struct TemplateError {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// How to fix it.
    pub remedy: String,
}

/// The blueprints and topic packs for drafting plans.
#[derive(Clone, Debug)]
pub struct TemplateLibrary {
    /// The person's own; they take precedence.
    own: Arc<[Blueprint]>,
    built_in: Arc<[Blueprint]>,
    packs: Arc<[TopicPack]>,
}

/// The built-in files are parsed once in a process: they are about a hundred.
static BUILT_IN: LazyLock<(Arc<[Blueprint]>, Vec<TemplateError>)> = LazyLock::new(|| {
    let mut errors = Vec::new();
    let mut list = Vec::new();
    for (family, source) in built_in::blueprint_files() {
        match read_blueprint(&source) {
            Ok(file) => list.push(Blueprint { family: family.to_owned(), ..file }),
            Err(error) => errors.push(error),
        }
    }
    (list.into(), errors)
});

impl TemplateLibrary {
    /// Returns the built-in blueprints and packs.
    pub fn built_in() -> Self {
        let (library, errors) = Self::with_own(&[], &[]);
        debug_assert!(errors.is_empty(), "{errors:?}");
        library
    }

    /// Returns the built-in ones preceded by a launch whose tasks and figures never change, for tests of everything that
    /// works on a plan.
    #[cfg(any(test, feature = "fixtures"))]
    pub fn fixture() -> Self {
        let text = include_str!("../../../fixtures/launch.toml");
        let (library, errors) =
            Self::with_own(&[TemplateSource { name: "launch.toml", text }], &[]);
        debug_assert!(errors.is_empty(), "{errors:?}");
        library
    }

    /// Returns the built-in ones preceded by the person's own. A file with an error is skipped and reported.
    pub fn with_own(
        blueprints: &[TemplateSource<'_>],
        packs: &[TemplateSource<'_>],
    ) -> (Self, Vec<TemplateError>) {
        let mut errors = BUILT_IN.1.clone();
        let own = read_all(blueprints, read_blueprint, &mut errors);
        let mut all_packs = read_all(packs, read_pack, &mut errors);
        all_packs.extend(read_all(&built_in::PACKS, read_pack, &mut errors));
        let built_in = BUILT_IN.0.clone();
        (Self { own: own.into(), built_in, packs: all_packs.into() }, errors)
    }

    /// Returns every blueprint, the person's own first; a built-in one of the same name as theirs is left out.
    pub fn all_blueprints(&self) -> impl Iterator<Item = &Blueprint> {
        let replaced = |file: &&Blueprint| !self.own.iter().any(|own| own.name == file.name);
        self.own.iter().chain(self.built_in.iter().filter(replaced))
    }

    /// Returns the person's own blueprints.
    pub fn own_blueprints(&self) -> &[Blueprint] {
        &self.own
    }

    /// Returns the blueprint with exactly this name.
    pub fn named_blueprint(&self, name: &str) -> Option<&Blueprint> {
        self.all_blueprints().find(|file| file.name == name)
    }

    /// Returns the blueprint of a plan: the one it was drafted from. A plan that names none follows the first of its
    /// subtype, or else of its pattern.
    pub fn find_blueprint(&self, spec: &PatternSpec) -> Option<&Blueprint> {
        let named = spec.kind.as_ref().and_then(|kind| self.named_blueprint(&kind.name));
        let of = |pattern: PatternType, subtype: Option<&str>| {
            self.all_blueprints().find(|file| {
                file.pattern == pattern && subtype.is_none_or(|name| file.subtype.get_ref() == name)
            })
        };
        named
            .or_else(|| of(spec.pattern_type, Some(spec.subtype.as_deref()?)))
            .or_else(|| of(spec.pattern_type, Some(spec.source_pattern.as_deref()?)))
            .or_else(|| of(spec.pattern_type, None))
    }

    /// Returns the names nearest to one that does not exist: spelled alike, or with the same word in the label.
    pub fn similar_names(&self, name: &str) -> Vec<&str> {
        let wanted = name.to_lowercase().replace([' ', '-'], "_");
        let near = planwright_text::nearest_name(
            &wanted,
            self.all_blueprints().map(|file| file.name.as_str()),
        );
        let words: Vec<&str> = wanted.split('_').filter(|word| word.len() > 2).collect();
        let shares = |file: &&Blueprint| {
            let label = file.label.get_ref().to_lowercase();
            words
                .iter()
                .any(|word| file.name.split('_').any(|part| part == *word) || label.contains(word))
        };
        let alike = self.all_blueprints().filter(shares).map(|file| file.name.as_str());
        let mut names: Vec<&str> = Vec::new();
        for name in near.into_iter().chain(alike) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.truncate(5);
        names
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

/// Reads and checks one file. Its name without the ending is the name of the kind.
fn read_blueprint(source: &TemplateSource<'_>) -> Result<Blueprint, TemplateError> {
    let mut file: Blueprint =
        toml::from_str(source.text).map_err(|error| syntax_error(source, &error))?;
    let stem = Path::new(source.name).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or_default().clone_into(&mut file.name);
    checks::check_blueprint(&file).map_err(|fault| error_from_fault(source, fault))?;
    Ok(file)
}

fn read_pack(source: &TemplateSource<'_>) -> Result<TopicPack, TemplateError> {
    let pack: TopicPack =
        toml::from_str(source.text).map_err(|error| syntax_error(source, &error))?;
    checks::check_pack(&pack).map_err(|fault| error_from_fault(source, fault))?;
    Ok(pack)
}

fn syntax_error(source: &TemplateSource<'_>, error: &toml::de::Error) -> TemplateError {
    let at = error.span().map_or(0, |span| span.start);
    let message = error.message().split('\n').next().unwrap_or_default().to_owned();
    let (message, remedy) = match (unknown_field(&message), message.split_once("; ")) {
        (Some((field, Some(near))), _) => {
            (format!("there is no field \"{field}\""), format!("did you mean \"{near}\"?"))
        }
        (Some((field, None)), _) => {
            (format!("there is no field \"{field}\""), "remove the line".to_owned())
        }
        // Our own messages end in what to write instead.
        (None, Some((what, remedy))) => (what.to_owned(), remedy.to_owned()),
        (None, None) => (
            message.replace('`', "\""),
            "correct the line; docs/blueprints.md lists the fields".to_owned(),
        ),
    };
    error_from_fault(source, TemplateFault { at, message, remedy })
}

/// Returns the unknown field name, and the nearest known one. The parser reports all of them in backticks.
fn unknown_field(message: &str) -> Option<(&str, Option<&str>)> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let field = quoted.next()?;
    Some((field, planwright_text::nearest_name(field, quoted)))
}

fn error_from_fault(source: &TemplateSource<'_>, fault: TemplateFault) -> TemplateError {
    let before = source.text.get(..fault.at).unwrap_or(source.text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    TemplateError {
        file: source.name.to_owned(),
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: fault.message,
        remedy: fault.remedy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURDOUGH: &str = r#"label = "a loaf of sourdough"
pattern = "milestone_project"
subtype = "build"
match = { "sourdough" = 10 }
weeks = 2
why = "A starter needs days, so it comes first."
day = "bake"
day_question = "On which day do you bake?"

[count.loaves]
words = ["loaf"]
default = 2

[[phase]]
key = "feed"
title = "Feed the starter"
[[phase.task]]
key = "starter"
title = "Feed the starter for {loaves} loaves"
why = "It has to be strong enough to raise the dough."
done_when = "it doubles within six hours"
effort = [10, 15, 20]

[[phase]]
title = "Bake"
[[phase.task]]
title = "Bake {the|one} loaf"
why = "Bread is baked."
done_when = "it is eaten"
effort = [60, 90, 120]
at = "bake"
after = ["starter"]
"#;

    fn text() -> String {
        SOURDOUGH.replace("{the|one}", "one")
    }

    fn error(text: &str) -> TemplateError {
        let (library, errors) =
            TemplateLibrary::with_own(&[TemplateSource { name: "dir/sourdough.toml", text }], &[]);
        assert!(library.own_blueprints().is_empty() && library.all_blueprints().count() > 0);
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.into_iter().next().unwrap()
    }

    #[track_caller]
    fn expect(change: (&str, &str), shown: &str) {
        let changed = text().replace(change.0, change.1);
        assert_ne!(changed, text(), "{change:?}");
        assert_eq!(error(&changed).to_string(), format!("dir/sourdough.toml:{shown}"));
    }

    #[test]
    fn no_built_in_file_has_an_error_and_every_subtype_has_one() {
        let (library, errors) = TemplateLibrary::with_own(&[], &[]);
        assert_eq!(errors, []);
        for pattern in PatternType::ALL {
            assert!(library.find_blueprint(&PatternSpec::new(pattern)).is_some(), "{pattern}");
        }
    }

    #[test]
    fn a_persons_own_file_is_read_and_replaces_the_built_in_one_of_its_name() {
        let text = text();
        let sources = [TemplateSource { name: "wedding.toml", text: &text }];
        let (library, errors) = TemplateLibrary::with_own(&sources, &[]);
        assert_eq!(errors, []);
        let weddings: Vec<&str> = library
            .all_blueprints()
            .filter(|file| file.name == "wedding")
            .map(|file| file.label.get_ref().as_str())
            .collect();
        assert_eq!(weddings, ["a loaf of sourdough"]);
    }

    #[test]
    fn mistakes_are_named_with_their_place_and_remedy() {
        expect(
            ("weeks = 2", "weeks = \"two\""),
            "5:9: invalid type: string \"two\", expected u16; correct the line; docs/blueprints.md lists the fields",
        );
        expect(
            ("done_when = \"it is eaten\"", "done_wen = \"eaten\""),
            "29:1: there is no field \"done_wen\"; did you mean \"done_when\"?",
        );
        expect(
            ("after = [\"starter\"]", "after = [\"startr\"]"),
            "27:9: \"Bake one loaf\" comes after \"startr\", which no part has as its key; did you mean \"starter\"?",
        );
        expect(
            ("effort = [60, 90, 120]", "effort = [60, 30, 120]"),
            "30:10: an effort of [60, 30, 120] does not rise; write the least, the likely and the most minutes, the \
             least above 0",
        );
        expect(
            ("effort = [60, 90, 120]", "effort = [60, 90]"),
            "30:10: effort has 2 numbers; write three, the least, the likely and the most minutes, as in [30, 60, 90]",
        );
        expect(
            ("at = \"bake\"", "at = \"party\""),
            "31:6: \"party\" is no day of this file; write at = \"bake\", as after day =",
        );
        expect(
            ("at = \"bake\"", "at = \"bake - soon\""),
            "31:6: \"bake - soon\" is not a day; write \"event\", \"event - 12w\" or \"event + 1d\" with the name after \
             day =",
        );
        expect(("{loaves}", "{loavs}"), "19:9: {loavs} stands for nothing; did you mean {loaves}?");
        expect(
            ("why = \"Bread is baked.\"\n", ""),
            "27:9: nothing says why \"Bake one loaf\" is in the plan; add why = \"one sentence\"",
        );
        expect(
            ("done_when = \"it doubles within six hours\"\n", ""),
            "19:9: nothing says when \"Feed the starter for {loaves} loaves\" is done; add a done_when that somebody \
             else could check",
        );
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_named() {
        let looped = text()
            .replace("key = \"starter\"", "key = \"starter\"\nafter = [\"bread\"]")
            .replace("title = \"Bake one loaf\"", "key = \"bread\"\ntitle = \"Bake one loaf\"");
        let found = error(&looped);
        assert_eq!(
            found.message,
            "these tasks wait for each other: \"Feed the starter for {loaves} loaves\", \"Bake one loaf\""
        );
        assert_eq!(found.remedy, "remove one of their names from after");
    }

    #[test]
    fn a_plan_that_names_no_kind_follows_its_subtype() {
        let library = TemplateLibrary::built_in();
        let mut spec = PatternSpec::with_subtype(PatternType::RecurringCycle, "of_my_own");
        assert!(library.find_blueprint(&spec).is_some());
        spec.source_pattern = Some("protocol_routine".to_owned());
        let found = library.find_blueprint(&spec).unwrap();
        assert_eq!(found.subtype.get_ref(), "protocol_routine");
    }

    #[test]
    fn a_name_that_does_not_exist_has_similar_ones() {
        let library = TemplateLibrary::built_in();
        assert_eq!(library.similar_names("weding").first(), Some(&"wedding"));
        assert!(library.similar_names("qqqqqq").is_empty());
    }
}
