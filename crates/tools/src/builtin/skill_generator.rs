//! `skill.generator`: writes a skill as Markdown with front matter.

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::file_write::{execute_write, plan_write};
use super::{parse_args, run_blocking};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};

#[derive(Deserialize, JsonSchema)]
struct SkillGeneratorArgs {
    /// Name of the skill: lowercase letters, digits and `-`
    #[schemars(length(min = 1, max = 64))]
    name: String,
    /// What it is for and when to use it, in a sentence or two
    #[schemars(length(min = 1, max = 1000))]
    description: String,
    /// The instructions in Markdown
    #[schemars(length(min = 1, max = 200_000))]
    source: String,
}

pub(super) struct SkillGeneratorTool(ToolMeta);

impl SkillGeneratorTool {
    pub(super) fn new() -> Self {
        let about = "Write a skill file: Markdown with name and description in its front matter, at skills/NAME/SKILL.md.";
        Self(
            ToolMeta::built_in::<SkillGeneratorArgs>("skill.generator", ToolEffect::Write, about)
                .with_products(&["skill"]),
        )
    }
}

impl Tool for SkillGeneratorTool {
    fn meta(&self) -> &ToolMeta {
        &self.0
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let parsed: SkillGeneratorArgs = parse_args(args)?;
        let (path, content) = render_skill(&parsed)?;
        plan_write(context.toolbox.workspace(), args, &path, &content)
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let workspace = std::sync::Arc::clone(context.toolbox.workspace());
            let resolved = resolved.clone();
            run_blocking(move || {
                match parse_args::<SkillGeneratorArgs>(&resolved.args)
                    .and_then(|parsed| render_skill(&parsed))
                {
                    Ok((path, content)) => {
                        let mut answer = execute_write(&workspace, &resolved, &path, &content);
                        if answer.result.ok {
                            answer.result.data.insert(
                                "verified".to_owned(),
                                json!(check_skill(&content).is_ok()),
                            );
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

fn render_skill(parsed: &SkillGeneratorArgs) -> Result<(String, String), ToolError> {
    let bad = |message: String| ToolError::new(ToolErrorCode::BadArgs, message);
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !parsed.name.chars().all(fits) || parsed.name.starts_with('-') {
        return Err(bad("`name` may contain lowercase letters, digits and `-`".to_owned()));
    }
    // A JSON string is also a YAML string on one line, whatever it contains.
    let description = serde_json::to_string(parsed.description.trim()).unwrap_or_default();
    let content = format!(
        "---\nname: {}\ndescription: {description}\n---\n\n{}\n",
        parsed.name,
        parsed.source.trim()
    );
    check_skill(&content).map_err(bad)?;
    Ok((format!("skills/{}/SKILL.md", parsed.name), content))
}

/// Whether a text is a skill: front matter with a name and a description, and content after it.
pub fn check_skill(content: &str) -> Result<(), String> {
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
        assert!(check_skill("---\nname: a\ndescription: \"b\"\n---\n\nDo it.\n").is_ok());
        assert!(check_skill("name: a").unwrap_err().contains("begin"));
        assert!(check_skill("---\nname: a\n---\n\nx").unwrap_err().contains("description"));
        assert!(
            check_skill("---\nname: a\ndescription: b\n---\n \n").unwrap_err().contains("nothing")
        );
    }

    #[test]
    fn a_description_cannot_break_out_of_the_front_matter() {
        let parsed = SkillGeneratorArgs {
            name: "x".into(),
            description: "one\n---\nname: evil".into(),
            source: "Body".into(),
        };
        let (path, content) = render_skill(&parsed).unwrap();
        assert_eq!(path, "skills/x/SKILL.md");
        assert_eq!(content.matches("\n---\n").count(), 1);
    }
}
