//! The condition of a task, `when = { if = "…" }`: a small typed language that is checked before a run and evaluated when
//! all that the task depends on has ended.
//!
//! Values are text, whole numbers, and true or false. `==` and `!=` compare values of one type; `and`, `or` and `not`
//! take truths. There are no other operators.

mod parse;

use std::fmt;

use planwright_model::TaskId;

pub use parse::ConditionError;

/// A value of a plan file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanValue {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

impl fmt::Display for PlanValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
        }
    }
}

impl PlanValue {
    /// Its type, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Integer(_) => "a whole number",
            Self::Boolean(_) => "true or false",
        }
    }
}

/// What is known about a task when a condition is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskFact {
    /// How its command exited.
    ExitCode,
    /// `done`, `failed` or `skipped`.
    Status,
    Output(String),
}

/// What a condition refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionReference {
    Task {
        task: TaskId,
        fact: TaskFact,
    },
    /// A value that is known when the file is read, as it is written: `params.v`.
    Stated(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ConditionNode {
    Value(PlanValue),
    Reference(ConditionReference),
    Not(Box<ConditionNode>),
    And(Box<ConditionNode>, Box<ConditionNode>),
    Or(Box<ConditionNode>, Box<ConditionNode>),
    Compare { left: Box<ConditionNode>, right: Box<ConditionNode>, equal: bool },
}

/// A condition that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunExpression(ConditionNode);

impl RunExpression {
    /// Reads a condition. What it refers to is for [`Self::replace_stated`] and [`Self::check_types`].
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        parse::parse_condition(text).map(Self)
    }

    /// Replaces what is known when a file is read by its value.
    pub fn replace_stated<E>(
        &mut self,
        mut resolve: impl FnMut(&str) -> Result<PlanValue, E>,
    ) -> Result<(), E> {
        replace_in(&mut self.0, &mut resolve)
    }

    /// Checks that everything has the type that is needed, and that the whole is true or false.
    pub fn check_types(&self) -> Result<(), String> {
        match type_of(&self.0)? {
            "true or false" => Ok(()),
            kind => Err(format!("is {kind}, not true or false")),
        }
    }

    /// Everything that it refers to.
    pub fn references(&self) -> Vec<&ConditionReference> {
        let mut found = Vec::new();
        collect_references(&self.0, &mut found);
        found
    }

    /// Whether it is true. What `lookup` does not know is equal to nothing, and not true.
    pub fn is_met(&self, lookup: &dyn Fn(&ConditionReference) -> Option<PlanValue>) -> bool {
        evaluate(&self.0, lookup) == Some(PlanValue::Boolean(true))
    }
}

impl fmt::Display for RunExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_node(&self.0, f, true)
    }
}

fn replace_in<E>(
    node: &mut ConditionNode,
    resolve: &mut impl FnMut(&str) -> Result<PlanValue, E>,
) -> Result<(), E> {
    match node {
        ConditionNode::Reference(ConditionReference::Stated(name)) => {
            *node = ConditionNode::Value(resolve(name)?);
        }
        ConditionNode::Value(_) | ConditionNode::Reference(_) => {}
        ConditionNode::Not(inner) => replace_in(inner, resolve)?,
        ConditionNode::And(left, right)
        | ConditionNode::Or(left, right)
        | ConditionNode::Compare { left, right, .. } => {
            replace_in(left, resolve)?;
            replace_in(right, resolve)?;
        }
    }
    Ok(())
}

fn collect_references<'n>(node: &'n ConditionNode, found: &mut Vec<&'n ConditionReference>) {
    match node {
        ConditionNode::Value(_) => {}
        ConditionNode::Reference(reference) => found.push(reference),
        ConditionNode::Not(inner) => collect_references(inner, found),
        ConditionNode::And(left, right)
        | ConditionNode::Or(left, right)
        | ConditionNode::Compare { left, right, .. } => {
            collect_references(left, found);
            collect_references(right, found);
        }
    }
}

fn type_of(node: &ConditionNode) -> Result<&'static str, String> {
    const TRUTH: &str = "true or false";
    match node {
        ConditionNode::Value(value) => Ok(value.kind()),
        ConditionNode::Reference(ConditionReference::Task { fact, .. }) => Ok(match fact {
            TaskFact::ExitCode => "a whole number",
            TaskFact::Status | TaskFact::Output(_) => "text",
        }),
        ConditionNode::Reference(ConditionReference::Stated(name)) => {
            Err(format!("refers to `{name}`, which has no value"))
        }
        ConditionNode::Not(inner) => match type_of(inner)? {
            TRUTH => Ok(TRUTH),
            kind => Err(format!("negates {kind}")),
        },
        ConditionNode::And(left, right) | ConditionNode::Or(left, right) => {
            for side in [left, right] {
                let kind = type_of(side)?;
                if kind != TRUTH {
                    return Err(format!("combines {kind} with `and` or `or`"));
                }
            }
            Ok(TRUTH)
        }
        ConditionNode::Compare { left, right, .. } => {
            let (left, right) = (type_of(left)?, type_of(right)?);
            if left == right { Ok(TRUTH) } else { Err(format!("compares {left} with {right}")) }
        }
    }
}

fn evaluate(
    node: &ConditionNode,
    lookup: &dyn Fn(&ConditionReference) -> Option<PlanValue>,
) -> Option<PlanValue> {
    let is_true = |node: &ConditionNode| evaluate(node, lookup) == Some(PlanValue::Boolean(true));
    Some(PlanValue::Boolean(match node {
        ConditionNode::Value(value) => return Some(value.clone()),
        ConditionNode::Reference(reference) => return lookup(reference),
        ConditionNode::Not(inner) => !is_true(inner),
        ConditionNode::And(left, right) => is_true(left) && is_true(right),
        ConditionNode::Or(left, right) => is_true(left) || is_true(right),
        ConditionNode::Compare { left, right, equal } => {
            let (left, right) = (evaluate(left, lookup), evaluate(right, lookup));
            (left.is_some() && left == right) == *equal
        }
    }))
}

fn write_node(node: &ConditionNode, f: &mut fmt::Formatter<'_>, outside: bool) -> fmt::Result {
    let mut pair = |left: &ConditionNode, word: &str, right: &ConditionNode| {
        if !outside {
            f.write_str("(")?;
        }
        write_node(left, f, false)?;
        write!(f, " {word} ")?;
        write_node(right, f, false)?;
        f.write_str(if outside { "" } else { ")" })
    };
    match node {
        ConditionNode::Value(PlanValue::Text(text)) => {
            write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
        }
        ConditionNode::Value(value) => write!(f, "{value}"),
        ConditionNode::Reference(ConditionReference::Stated(name)) => f.write_str(name),
        ConditionNode::Reference(ConditionReference::Task { task, fact }) => match fact {
            TaskFact::ExitCode => write!(f, "tasks.{task}.exit_code"),
            TaskFact::Status => write!(f, "tasks.{task}.status"),
            TaskFact::Output(name) => write!(f, "tasks.{task}.outputs.{name}"),
        },
        ConditionNode::Not(inner) => {
            f.write_str("not ")?;
            write_node(inner, f, false)
        }
        ConditionNode::And(left, right) => pair(left, "and", right),
        ConditionNode::Or(left, right) => pair(left, "or", right),
        ConditionNode::Compare { left, right, equal } => {
            pair(left, if *equal { "==" } else { "!=" }, right)
        }
    }
}

#[cfg(test)]
mod tests;
