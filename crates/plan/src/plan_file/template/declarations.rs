//! Decodes `[vars]` and `[params]`, and takes the values of parameters from whoever runs the plan.

use std::collections::BTreeMap;

use super::expansion::{TemplateScope, expand_text};
use super::{PlanValue, has_template, is_reference_name};
use crate::plan_file::PlanFileInputs;
use crate::plan_file::decoder::{FieldNames, PlanFileDecoder};
use crate::plan_file::value_tree::{
    TreeEntry, TreeValue, ValuePath, ValueTree, escape_for_message,
};
use planwright_model::{Severity, Violation};
use planwright_text::nearest_name;

/// The fields of a parameter.
pub(in crate::plan_file) const PARAM_FIELDS: &[FieldNames] =
    &[("type", &[]), ("default", &[]), ("required", &[]), ("description", &[])];

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterType {
    Text,
    Integer,
    Boolean,
}

const TYPES: &[(&str, ParameterType)] = &[
    ("string", ParameterType::Text),
    ("integer", ParameterType::Integer),
    ("boolean", ParameterType::Boolean),
];

/// The values that a file declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::plan_file) struct PlanValues {
    pub(in crate::plan_file) variables: BTreeMap<String, PlanValue>,
    pub(in crate::plan_file) parameters: BTreeMap<String, PlanValue>,
    /// Whether the file declares anything that only templates use.
    pub(in crate::plan_file) is_declared: bool,
}

/// Decodes both tables, with the values that were given for parameters.
pub(in crate::plan_file) fn decode_declarations(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    inputs: &PlanFileInputs<'_>,
) -> PlanValues {
    let mut values = PlanValues::default();
    let find = |name: &str| match &tree.value {
        TreeValue::Table(entries) => entries.iter().find(|entry| entry.key == name),
        _ => None,
    };
    let (vars, params) = (find("vars"), find("params"));
    let is_new = find("version").is_some_and(|entry| entry.tree.value == TreeValue::Integer(2));
    values.is_declared = vars.is_some() || params.is_some() || is_new;
    let mut given = inputs.params.clone();
    if let Some(params) = params {
        values.parameters = decode_parameters(decoder, params, &mut given, inputs);
    }
    for name in given.keys() {
        report_unknown_parameter(decoder, name, params, &values);
    }
    if let Some(vars) = vars {
        let scope = TemplateScope::new(values.clone(), inputs);
        values.variables = decode_variables(decoder, vars, &scope);
    }
    values
}

/// Decodes text, a whole number, or true or false.
pub(in crate::plan_file) fn decode_value(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<PlanValue> {
    match &tree.value {
        TreeValue::Text(text) if text.contains('\0') => {
            decoder.report_bad_value(tree, path, "contains a zero byte", "Remove it.");
            None
        }
        TreeValue::Text(text) => Some(PlanValue::Text(text.clone())),
        TreeValue::Integer(number) => Some(PlanValue::Integer(*number)),
        TreeValue::Bool(value) => Some(PlanValue::Boolean(*value)),
        // 3.12 is meant as it is written, and a number forgets that.
        TreeValue::Float(_) => {
            let fix = "Write it in quotes, such as \"3.12\".";
            decoder.report_bad_value(tree, path, "is a number with a fraction", fix);
            None
        }
        _ => {
            let message =
                format!("must be text, a whole number or true or false, not {}", tree.kind());
            decoder.report_bad_value(tree, path, message, "Write one value.");
            None
        }
    }
}

fn decode_variables(
    decoder: &mut PlanFileDecoder<'_>,
    entry: &TreeEntry,
    scope: &TemplateScope<'_>,
) -> BTreeMap<String, PlanValue> {
    let path = ValuePath::Field(&ValuePath::Root, &entry.key);
    let mut values = BTreeMap::new();
    for entry in decoder.read_table(&entry.tree, path).unwrap_or_default() {
        let path = ValuePath::Field(&path, &entry.key);
        if !check_name(decoder, entry, path) {
            continue;
        }
        let mut tree = entry.tree.clone();
        expand_text(decoder, &mut tree, path, scope);
        if let Some(value) = decode_value(decoder, &tree, path) {
            values.insert(entry.key.clone(), value);
        }
    }
    values
}

fn decode_parameters(
    decoder: &mut PlanFileDecoder<'_>,
    entry: &TreeEntry,
    given: &mut BTreeMap<String, String>,
    inputs: &PlanFileInputs<'_>,
) -> BTreeMap<String, PlanValue> {
    let path = ValuePath::Field(&ValuePath::Root, &entry.key);
    let mut values = BTreeMap::new();
    for entry in decoder.read_table(&entry.tree, path).unwrap_or_default() {
        let path = ValuePath::Field(&path, &entry.key);
        let stated = given.remove(&entry.key);
        if !check_name(decoder, entry, path) {
            continue;
        }
        if let Some(value) = decode_parameter(decoder, entry, path, stated, inputs) {
            values.insert(entry.key.clone(), value);
        }
    }
    values
}

fn check_name(decoder: &mut PlanFileDecoder<'_>, entry: &TreeEntry, path: ValuePath<'_>) -> bool {
    let is_usable = is_reference_name(&entry.key);
    if !is_usable {
        let fix = "Write a name of letters, digits, `_` and `-`.";
        decoder.report_bad_value(&entry.tree, path, "cannot be referred to by that name", fix);
    }
    is_usable
}

/// Decodes a parameter: its default alone, or a table.
fn decode_parameter(
    decoder: &mut PlanFileDecoder<'_>,
    entry: &TreeEntry,
    path: ValuePath<'_>,
    given: Option<String>,
    inputs: &PlanFileInputs<'_>,
) -> Option<PlanValue> {
    let tree = &entry.tree;
    let (kind, default, purpose) = if matches!(tree.value, TreeValue::Table(_)) {
        decode_parameter_table(decoder, tree, path)?
    } else {
        let default = decode_value(decoder, tree, path)?;
        (type_of(&default), Some(default), String::new())
    };
    if let Some(text) = given {
        let value = read_given(decoder, entry, path, kind, &text);
        return Some(value.unwrap_or_else(|| placeholder(kind, &entry.key)));
    }
    if default.is_none() && inputs.needs_all {
        let message = "is required and has no value";
        let purpose = if purpose.is_empty() { purpose } else { format!(" ({purpose})") };
        let fix = format!("Give it on the command line: {}=VALUE{purpose}.", entry.key);
        decoder.report_bad_value(tree, path, message, fix);
    }
    Some(default.unwrap_or_else(|| placeholder(kind, &entry.key)))
}

/// Stands in for a value that is not there, so that nothing else is reported because of it.
fn placeholder(kind: ParameterType, name: &str) -> PlanValue {
    match kind {
        ParameterType::Text => PlanValue::Text(format!("<{name}>")),
        ParameterType::Integer => PlanValue::Integer(0),
        ParameterType::Boolean => PlanValue::Boolean(false),
    }
}

/// Decodes the table of a parameter: its type, its default, and what it is for.
fn decode_parameter_table(
    decoder: &mut PlanFileDecoder<'_>,
    tree: &ValueTree,
    path: ValuePath<'_>,
) -> Option<(ParameterType, Option<PlanValue>, String)> {
    let fields = decoder.read_fields(tree, path, PARAM_FIELDS)?;
    let at = |name: &str| fields.get(name).map(|entry| &entry.tree);
    let own = |name: &'static str| ValuePath::Field(&path, name);
    let kind = match at("type") {
        Some(tree) => Some(decoder.read_choice(tree, own("type"), TYPES)?),
        None => None,
    };
    let default = match at("default") {
        Some(tree) => Some(decode_value(decoder, tree, own("default"))?),
        None => None,
    };
    let required = match at("required") {
        Some(tree) => decoder.read_boolean(tree, own("required"))?,
        None => default.is_none(),
    };
    let purpose = match at("description") {
        Some(tree) => decoder.read_text(tree, own("description"))?.trim().to_owned(),
        None => String::new(),
    };
    if required == default.is_some() {
        let (message, fix) = if required {
            ("is required and has a default", "Keep one of `required` and `default`.")
        } else {
            ("is not required and has no default", "Add a `default`.")
        };
        decoder.report_bad_value(tree, path, message, fix);
        return None;
    }
    let own_type = default.as_ref().map(type_of);
    if let (Some(stated), Some(found), Some(default)) = (kind, own_type, at("default"))
        && stated != found
    {
        let message = format!("is {}, not {}", default.kind(), type_name(stated));
        decoder.report_bad_value(default, own("default"), message, "Change it or the `type`.");
        return None;
    }
    Some((kind.or(own_type).unwrap_or(ParameterType::Text), default, purpose))
}

fn type_of(value: &PlanValue) -> ParameterType {
    match value {
        PlanValue::Text(_) => ParameterType::Text,
        PlanValue::Integer(_) => ParameterType::Integer,
        PlanValue::Boolean(_) => ParameterType::Boolean,
    }
}

fn type_name(kind: ParameterType) -> &'static str {
    match kind {
        ParameterType::Text => "text",
        ParameterType::Integer => "a whole number",
        ParameterType::Boolean => "true or false",
    }
}

/// Reads a value that was given on the command line.
fn read_given(
    decoder: &mut PlanFileDecoder<'_>,
    entry: &TreeEntry,
    path: ValuePath<'_>,
    kind: ParameterType,
    text: &str,
) -> Option<PlanValue> {
    let value = match kind {
        ParameterType::Text if has_template(text) || text.contains('\0') => None,
        ParameterType::Text => Some(PlanValue::Text(text.to_owned())),
        ParameterType::Integer => text.parse().ok().map(PlanValue::Integer),
        ParameterType::Boolean => text.parse().ok().map(PlanValue::Boolean),
    };
    if value.is_none() {
        let name = &entry.key;
        let message = match kind {
            ParameterType::Text => format!("was given as text with {}", "${{"),
            _ => format!("was given as \"{}\"", escape_for_message(text)),
        };
        let fix = format!("Give {} on the command line: {name}=VALUE.", type_name(kind));
        decoder.report_bad_value(&entry.tree, path, message, fix);
    }
    value
}

fn report_unknown_parameter(
    decoder: &mut PlanFileDecoder<'_>,
    name: &str,
    params: Option<&TreeEntry>,
    values: &PlanValues,
) {
    // A parameter whose declaration is wrong was reported already.
    let declared: Vec<&str> = match params.map(|entry| &entry.tree.value) {
        Some(TreeValue::Table(entries)) => entries.iter().map(|entry| entry.key.as_str()).collect(),
        _ => values.parameters.keys().map(String::as_str).collect(),
    };
    let fix = match nearest_name(name, declared.iter().copied()) {
        Some(near) => format!("Did you mean {near}=VALUE?"),
        None if declared.is_empty() => "Declare it under [params], or leave it out.".to_owned(),
        None => format!("The parameters of the plan are {}.", declared.join(", ")),
    };
    let message = format!("the plan has no parameter `{}`", escape_for_message(name));
    let at = params.map_or(0, |entry| entry.key_span.start);
    let violation = Violation::new("bad_value", Severity::Fatal, message, fix);
    decoder.report_violation(violation, at);
}
