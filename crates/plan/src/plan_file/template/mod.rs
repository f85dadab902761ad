//! Templates in the texts of a plan file: `${{ vars.x }}`, `${{ params.v }}`, `${{ env.X }}`, `${{ matrix.os }}` and
//! `${{ tasks.build.outputs.path }}`.
//!
//! All but outputs of tasks are replaced while the file is read, so that what is approved is what runs. Outputs are
//! given to commands as variables, never as text of the command.

mod declarations;
mod expansion;
mod outputs;
mod shell_quoting;

#[cfg(test)]
pub(super) use declarations::PARAM_FIELDS;
pub(super) use declarations::{PlanValues, decode_declarations, decode_value};
pub(super) use expansion::{TemplateScope, default_shell, expand_plan, expand_task, has_condition};
pub(super) use outputs::{bind_outputs, check_output_reference};

pub(crate) use crate::condition::PlanValue;
use planwright_model::TaskId;

const OPEN: &str = "${{";
const CLOSE: &str = "}}";

/// What a template refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplateReference {
    Variable(String),
    Parameter(String),
    Environment(String),
    Matrix(String),
    Output { task: TaskId, name: String },
}

impl TemplateReference {
    /// Reads what stands between the braces; `None` if it is nothing that a plan file knows.
    pub(crate) fn parse(body: &str) -> Option<Self> {
        let body = body.trim();
        if let Some(rest) = body.strip_prefix("tasks.") {
            let (task, name) = rest.rsplit_once(".outputs.")?;
            let is_usable = !task.is_empty() && is_reference_name(name);
            return is_usable.then(|| Self::Output { task: task.into(), name: name.to_owned() });
        }
        let (space, name) = body.split_once('.')?;
        if !is_reference_name(name) {
            return None;
        }
        let name = name.to_owned();
        match space {
            "vars" => Some(Self::Variable(name)),
            "params" => Some(Self::Parameter(name)),
            "env" => Some(Self::Environment(name)),
            "matrix" => Some(Self::Matrix(name)),
            _ => None,
        }
    }
}

/// Whether a name can be referred to: letters, digits, `_` and `-`, beginning with a letter or `_`.
pub(crate) fn is_reference_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePiece<'t> {
    Text(&'t str),
    /// `$${{`, which stands for `${{`.
    Escape,
    /// What stands between the braces.
    Reference(&'t str),
    /// Braces that are not closed, and all behind them.
    Unclosed(&'t str),
}

/// Whether a text may contain templates.
pub(super) fn has_template(text: &str) -> bool {
    text.contains(OPEN)
}

/// Splits a text into what is written and what is referred to.
pub(super) fn split_template(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        let before = &rest[..at];
        let behind = &rest[at + OPEN.len()..];
        if let Some(before) = before.strip_suffix('$') {
            pieces.extend((!before.is_empty()).then_some(TemplatePiece::Text(before)));
            pieces.push(TemplatePiece::Escape);
            rest = behind;
            continue;
        }
        pieces.extend((!before.is_empty()).then_some(TemplatePiece::Text(before)));
        let Some(end) = behind.find(CLOSE) else {
            pieces.push(TemplatePiece::Unclosed(&rest[at..]));
            return pieces;
        };
        pieces.push(TemplatePiece::Reference(&behind[..end]));
        rest = &behind[end + CLOSE.len()..];
    }
    pieces.extend((!rest.is_empty()).then_some(TemplatePiece::Text(rest)));
    pieces
}

/// Writes text so that nothing in it is read as a template.
pub(super) fn escape_template(text: &str) -> String {
    text.replace(OPEN, "$${{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_from_other_text() {
        let output = TemplateReference::Output { task: "test[a,1]".into(), name: "path".into() };
        for (body, expected) in [
            (" vars.x ", Some(TemplateReference::Variable("x".into()))),
            ("params.my-v", Some(TemplateReference::Parameter("my-v".into()))),
            ("env.HOME", Some(TemplateReference::Environment("HOME".into()))),
            ("tasks.test[a,1].outputs.path", Some(output)),
            ("secrets.X", None),
            ("vars.", None),
            ("tasks.a.outputs.", None),
            ("x", None),
        ] {
            assert_eq!(TemplateReference::parse(body), expected, "{body}");
        }
    }

    #[test]
    fn a_text_is_split_and_a_doubled_dollar_is_no_template() {
        use TemplatePiece::{Escape, Reference, Text, Unclosed};
        let pieces = split_template("a ${{ x }}b $${{ y }} ${{ z");
        let expected =
            [Text("a "), Reference(" x "), Text("b "), Escape, Text(" y }} "), Unclosed("${{ z")];
        assert_eq!(pieces, expected);
        assert_eq!(split_template(&escape_template("${{ x }}")), [Escape, Text(" x }}")]);
    }
}
