//! Waiting for the person on behalf of a hook: a plan becomes a ticket or its next revision, a permission a question.

use std::fmt::Write as _;

use super::{HookDecision, HookInput, HookRequest, HookedAgent};
use crate::decision_report::CommentReport;
use crate::{DecisionReport, DeskError, InquiryOutcome, MAX_WAIT, SubmitRequest, TicketDesk};
use planwright_model::{DeskChannel, DeskInquiry, SessionId, SubmissionFormat, SubmittingAgent};

/// How a hook ended, with what the person should know about it.
#[derive(Debug)]
pub struct HookOutcome {
    pub decision: HookDecision,
    /// Why there is no decision.
    pub trouble: Option<DeskError>,
}

impl TicketDesk {
    /// Has the person decide what an agent asks through its hook. It waits as long as the agent lets it: an agent that
    /// gives up ends the process, and what it asked stays open until it is answered or asked again.
    pub async fn decide_hook(&self, agent: HookedAgent, input: &HookInput) -> HookOutcome {
        // An agent that Planwright started asks over its own connection, and nobody is asked twice.
        if planwright_tools::process::enclosing_call().is_some() {
            return HookOutcome { decision: HookDecision::Undecided, trouble: None };
        }
        match input.request(agent) {
            Ok(HookRequest::Plan { markdown }) => {
                settle_plan(self.decide_plan(agent, input, markdown).await)
            }
            Ok(HookRequest::Permission { tool, action, is_command, reason }) => {
                let directory = input.cwd.to_string_lossy().into_owned();
                let asked = DeskInquiry::Permission { tool, action, is_command, directory, reason };
                match self.decide_permission(agent, input, asked).await {
                    Ok(decision) => HookOutcome { decision, trouble: None },
                    Err(error) => {
                        let decision = HookDecision::Undecided;
                        HookOutcome { decision, trouble: Some(error) }
                    }
                }
            }
            Ok(HookRequest::Other) => {
                HookOutcome { decision: HookDecision::Undecided, trouble: None }
            }
            Err(error) => settle_plan(Err(DeskError::BadArgument(error.to_string()))),
        }
    }

    async fn decide_plan(
        &self,
        agent: HookedAgent,
        input: &HookInput,
        markdown: String,
    ) -> Result<DecisionReport, DeskError> {
        let who = hook_agent(agent, input);
        let known = self.find_conversation(&who.name, &who.conversation)?;
        let report = if let Some(id) = known {
            let given = (SubmissionFormat::Markdown, markdown);
            self.revise(id.as_str(), given, Vec::new()).await?
        } else {
            let request = SubmitRequest {
                agent: who,
                title: String::new(),
                format: SubmissionFormat::Markdown,
                text: markdown,
                workspace: input.cwd.to_string_lossy().into_owned(),
            };
            self.submit(request).await?
        };
        let ticket = report.ticket;
        loop {
            let report = self.wait_for_decision(&ticket, MAX_WAIT).await?;
            if report.is_decided() {
                return Ok(report);
            }
        }
    }

    async fn decide_permission(
        &self,
        agent: HookedAgent,
        input: &HookInput,
        asked: DeskInquiry,
    ) -> Result<HookDecision, DeskError> {
        let id = self.conversation_ticket(agent, input).await?;
        let request = self.put_question(&id, asked).await?;
        loop {
            match self.wait_for_answer(&id, request, MAX_WAIT).await? {
                InquiryOutcome::Pending { .. } => {}
                InquiryOutcome::Allowed { .. } => {
                    return Ok(HookDecision::Allow { edited_plan: None });
                }
                InquiryOutcome::Declined { reason, .. } if reason.trim().is_empty() => {
                    return Ok(HookDecision::deny("The person denied this in Planwright."));
                }
                InquiryOutcome::Declined { reason, .. } => {
                    let said = format!("The person denied this in Planwright: {reason}");
                    return Ok(HookDecision::deny(said));
                }
                InquiryOutcome::Answered { .. } => return Ok(HookDecision::Undecided),
            }
        }
    }

    /// The ticket of a conversation; a new one without a plan if there is none.
    async fn conversation_ticket(
        &self,
        agent: HookedAgent,
        input: &HookInput,
    ) -> Result<SessionId, DeskError> {
        let who = hook_agent(agent, input);
        if let Some(known) = self.find_conversation(&who.name, &who.conversation)? {
            return Ok(known);
        }
        let place = input.cwd.file_name().map(|name| name.to_string_lossy().into_owned());
        let title = match place {
            Some(place) => format!("{} in {place}", agent.product()),
            None => agent.product().to_owned(),
        };
        self.open_without_plan(&who, &title, &input.cwd.to_string_lossy()).await
    }
}

fn hook_agent(agent: HookedAgent, input: &HookInput) -> SubmittingAgent {
    SubmittingAgent {
        name: agent.product().to_owned(),
        version: String::new(),
        channel: DeskChannel::Hook,
        conversation: input.session_id.clone(),
    }
}

/// A plan that nobody decided on is denied: without an approval the agent does not start.
fn settle_plan(decided: Result<DecisionReport, DeskError>) -> HookOutcome {
    match decided {
        Ok(report) => HookOutcome { decision: plan_decision(report), trouble: None },
        Err(error) => {
            let mut reason = format!("The plan could not be submitted to Planwright: {error}.");
            let hint = error.hint();
            if !hint.is_empty() {
                let _ = write!(reason, " {hint}.");
            }
            HookOutcome { decision: HookDecision::deny(reason), trouble: Some(error) }
        }
    }
}

fn plan_decision(report: DecisionReport) -> HookDecision {
    match report {
        DecisionReport::Approved { carried_out_by: "planwright", next, .. } => {
            HookDecision::deny(format!("The plan is approved. {next}"))
        }
        DecisionReport::Approved { edited_plan, .. } => HookDecision::Allow { edited_plan },
        DecisionReport::Changes { text, comments, .. } => {
            HookDecision::deny(changes_in_words(&text, &comments))
        }
        DecisionReport::Rejected { reason, next, .. } => {
            let reason =
                if reason.trim().is_empty() { String::new() } else { format!(": {reason}") };
            HookDecision::deny(format!(
                "The person rejected the plan in Planwright{reason}. {next}"
            ))
        }
        DecisionReport::Pending { .. } => HookDecision::Undecided,
    }
}

/// What should be different, as a text that an agent can act on.
fn changes_in_words(text: &str, comments: &[CommentReport]) -> String {
    let mut words =
        "The person wants changes to the plan. Change it and present it again.".to_owned();
    if !text.trim().is_empty() {
        let _ = write!(words, "\n\n{}", text.trim());
    }
    if !comments.is_empty() {
        words.push_str("\n\nComments:");
    }
    for comment in comments {
        let about = match (comment.title.as_str(), comment.line, comment.quote.as_str()) {
            (_, Some(line), quote) if !quote.is_empty() => {
                format!("line {line}, \"{}\"", quote.trim())
            }
            (title, ..) if !title.is_empty() => format!("\"{title}\""),
            _ => "the plan".to_owned(),
        };
        let _ = write!(words, "\n- On {about}: {}", comment.text);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_name_what_each_comment_is_about() {
        let comment = |title: &str, line, quote: &str, text: &str| CommentReport {
            id: 1,
            node: None,
            title: title.to_owned(),
            line,
            quote: quote.to_owned(),
            text: text.to_owned(),
        };
        let comments = [
            comment("Write tests", Some(3), "", "first of all"),
            comment("", Some(7), "  - deploy", "not on a Friday"),
        ];
        assert_eq!(
            changes_in_words("smaller steps ", &comments),
            "The person wants changes to the plan. Change it and present it again.\n\nsmaller steps\n\n\
             Comments:\n- On \"Write tests\": first of all\n- On line 7, \"- deploy\": not on a Friday"
        );
    }

    #[test]
    fn only_an_approval_allows() {
        let approved = |by| DecisionReport::Approved {
            revision: 1,
            hash: String::new(),
            carried_out_by: by,
            edited_plan: None,
            next: "Stop.",
        };
        assert_eq!(plan_decision(approved("you")), HookDecision::Allow { edited_plan: None });
        assert_eq!(
            plan_decision(approved("planwright")),
            HookDecision::deny("The plan is approved. Stop.")
        );
        let rejected =
            DecisionReport::Rejected { revision: 1, reason: "too big".to_owned(), next: "Stop." };
        assert_eq!(
            plan_decision(rejected),
            HookDecision::deny("The person rejected the plan in Planwright: too big. Stop.")
        );
    }
}
