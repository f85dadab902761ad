//! Comparing the plan that is to be approved with the person's other plans, which may have changed since it was drafted.

use super::Driver;
use crate::controller::planning;
use planwright_model::event::{ApprovalEvent, Command, PlanningEvent};
use planwright_model::{
    Actor, ApprovalTarget, ChoiceAction, FixedEvent, OverlapReport, PlanState, Request, RequestId,
    RequestKind, ScheduledBlock, SessionId,
};
use planwright_schedule::portfolio::OverlapRequest;
use planwright_text::units::format_counted;

impl Driver {
    /// Looks at the other plans before a person's yes to this one counts. What overlaps and was not on the card is put
    /// there first, and the person is asked again.
    pub(super) fn is_approval_overtaken(&mut self, command: &Command) -> bool {
        let Command::Answer { id, answer, by } = command else { return false };
        let approves = matches!(
            answer.action,
            ChoiceAction::ApproveAndRun
                | ChoiceAction::ApproveAndStop
                | ChoiceAction::ApproveFromToday
                | ChoiceAction::ApproveFromTask
        );
        if !approves || !self.asks_for_plan(*id) || !self.refresh_overlaps() {
            return false;
        }
        // A flag has answered already; what overlaps is said, and stays to be moved.
        if *by != Actor::Person {
            return false;
        }
        self.name_overlaps(*id);
        true
    }

    fn asks_for_plan(&self, id: RequestId) -> bool {
        let open = self.state.requests.open.get(&id);
        open.is_some_and(|open| matches!(open.request.kind, RequestKind::FinalPlan { .. }))
    }

    /// Puts what overlaps on the card of a plan that has come to its approval.
    pub(super) fn show_overlaps(&mut self) {
        let place = self.state.planning.place;
        if place.state == PlanState::SeekApproval && place.target == Some(ApprovalTarget::Final) {
            self.refresh_overlaps();
        }
    }

    /// Compares the plan with the others as they are now. Returns whether something overlaps that the person did not see.
    fn refresh_overlaps(&mut self) -> bool {
        let Some(report) = self.find_overlaps() else { return false };
        let known = self.state.planning.overlaps.as_deref();
        let is_known = known.map_or(report.overlaps.is_empty(), |known| {
            known.overlaps == report.overlaps && known.shifts == report.shifts
        });
        if is_known {
            return false;
        }
        let freed = &self.state.planning.freed_blocks;
        let asks = report.overlaps.iter().any(|overlap| !freed.contains(&overlap.other_key()));
        self.record(PlanningEvent::OverlapsFound { report: Box::new(report) });
        for event in planning::amend_with_overlaps(&self.state) {
            self.record(event);
        }
        asks
    }

    fn find_overlaps(&self) -> Option<OverlapReport> {
        let others = self.options.other_plans.as_ref()?.current_blocks()?;
        let talk = &self.state.planning;
        let planner = self.options.planner.as_deref();
        let events = planner.map(|planner| planner.calendar.current_events());
        let request = OverlapRequest {
            schedule: talk.schedule.as_deref()?,
            context: talk.context.as_deref()?,
            roadmap: talk.roadmap.as_deref(),
            others: &others,
            freed: &talk.freed_blocks,
            events: events.as_deref().unwrap_or_default(),
            now: (self.options.clock)(),
        };
        let found = request.find_overlaps();
        found.inspect_err(|error| tracing::warn!(%error, "overlaps cannot be looked for")).ok()
    }

    /// Has another plan decide on a command. One that moves blocks is told what time is taken.
    pub(super) fn command_other_plan(&self, session: &SessionId, mut command: Command) {
        let Some(others) = &self.options.other_plans else { return };
        if let Command::ShiftBlocks { busy, .. } = &mut command {
            *busy = self.taken_time(session);
        }
        others.send(session, command);
    }

    /// The time of this plan, of appointments and of all other plans but one.
    fn taken_time(&self, but: &SessionId) -> Vec<FixedEvent> {
        let talk = &self.state.planning;
        let is_mine = |block: &ScheduledBlock| {
            let node = talk.roadmap.as_deref().and_then(|plan| plan.find_node(&block.plan_node_id));
            node.is_none_or(|node| node.other_owner().is_none())
        };
        let own = talk.schedule.iter().flat_map(|schedule| schedule.blocks.clone()).filter(is_mine);
        let others = self.options.other_plans.iter().filter_map(|others| others.current_blocks());
        let is_third = |block: &ScheduledBlock| {
            block.id.split_once('/').is_none_or(|(session, _)| session != but.as_str())
        };
        let others = others.flatten().map(|other| other.block).filter(is_third);
        let taken = own.chain(others).map(|block| FixedEvent {
            title: block.title,
            start: block.start,
            end: block.end,
        });
        let planner = self.options.planner.as_deref();
        let events = planner.map(|planner| planner.calendar.current_events().to_vec());
        taken.chain(events.unwrap_or_default()).collect()
    }

    /// Says on the open request why the yes did not count.
    fn name_overlaps(&mut self, id: RequestId) {
        let Some(open) = self.state.requests.open.get(&id) else { return };
        let Some(report) = self.state.planning.overlaps.as_deref() else { return };
        let others = report.other_plans().join("\", \"");
        let count = format_counted(report.overlaps.len(), "overlap");
        let why = format!(
            "{count} with \"{others}\" since you saw the plan. Approve again to keep both, or move what overlaps."
        );
        let amended: Request = open.request.with_unread_answer("approve", why);
        self.record(ApprovalEvent::Amended { request: std::sync::Arc::new(amended) });
    }
}
