//! `skill.generator`: writes a skill as Markdown with front matter.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::file_write::{carry_out, plan_write};
use super::{blocking, read};
use crate::context::ToolContext;
use crate::meta::{Effect, Resolved, ToolMeta};
use crate::tool::{Answer, Code, Tool, ToolError};

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Name of the skill: small letters, digits and `-`
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// What it is for and when to use it, in a sentence or two
    #[schemars(length(min = 1, max = 1000))]
    description: String,
    /// The instructions in Markdown
    #[schemars(length(min = 1, max = 200_000))]
    source: String,
}

pub(super) struct SkillGenerator(ToolMeta);

impl SkillGenerator {
    pub(super) fn new() -> Self {
        let about = "Write a skill file: Markdown with name and description in its front matter, at skills/NAME/SKILL.md.";
        Self(ToolMeta::built_in::<Args>("skill.generator", Effect::Write, about).makes(&["skill"]))
    }
}

impl Tool for SkillGenerator {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<Resolved, ToolError> {
        let wanted: Args = read(args)?;
        let (path, content) = written(&wanted)?;
        plan_write(context.toolbox.workspace(), args, &path, &content)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a Resolved,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let resolved = resolved.clone();
            blocking(move || {
                match read::<Args>(&resolved.args).and_then(|wanted| written(&wanted)) {
                    Ok((path, content)) => {
                        let mut answer = carry_out(&workspace, &resolved, &path, &content);
                        if answer.result.ok {
                            answer
                                .result
                                .data
                                .insert("verified".to_owned(), json!(check(&content).is_ok()));
                        }
                        answer
                    }
                    Err(error) => error.into(),
                }
            })
            .await
        })
    }
}

fn written(wanted: &Args) -> Result<(String, String), ToolError> {
    let bad = |message: String| ToolError::new(Code::BadArgs, message);
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !wanted.name.chars().all(fits) || wanted.name.starts_with('-') {
        return Err(bad("`name` may hold small letters, digits and `-`".to_owned()));
    }
    // A JSON text is a YAML text on one line, whatever it holds.
    let description = serde_json::to_string(wanted.description.trim()).unwrap_or_default();
    let content = format!(
        "---\nname: {}\ndescription: {description}\n---\n\n{}\n",
        wanted.name,
        wanted.source.trim()
    );
    check(&content).map_err(bad)?;
    Ok((format!("skills/{}/SKILL.md", wanted.name), content))
}

/// Whether a text is a skill: front matter with a name and a description, and something after it.
pub fn check(content: &str) -> Result<(), String> {
    let rest = content.strip_prefix("---\n").ok_or("it does not begin with front matter")?;
    let (front, body) = rest.split_once("\n---\n").ok_or("the front matter has no end")?;
    let field = |name: &str| {
        front.lines().find_map(|line| {
            let value = line.strip_prefix(name)?.strip_prefix(':')?.trim();
            let value = value.trim_matches(['"', '\'']).trim();
            (!value.is_empty()).then(|| value.to_owned())
        })
    };
    for name in ["name", "description"] {
        field(name).ok_or_else(|| format!("the front matter has no {name}"))?;
    }
    if body.trim().is_empty() {
        return Err("there is nothing after the front matter".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_has_a_name_a_description_and_a_body() {
        assert!(check("---\nname: a\ndescription: \"b\"\n---\n\nDo it.\n").is_ok());
        assert!(check("name: a").unwrap_err().contains("begin"));
        assert!(check("---\nname: a\n---\n\nx").unwrap_err().contains("description"));
        assert!(check("---\nname: a\ndescription: b\n---\n \n").unwrap_err().contains("nothing"));
    }

    #[test]
    fn a_description_cannot_break_out_of_the_front_matter() {
        let wanted = Args {
            name: "x".into(),
            description: "one\n---\nname: evil".into(),
            source: "Body".into(),
        };
        let (path, content) = written(&wanted).unwrap();
        assert_eq!(path, "skills/x/SKILL.md");
        assert_eq!(content.matches("\n---\n").count(), 1);
    }
}
