//! Services: commands that run while other tasks need them. They are ready once their check passes.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{AttemptEvent, AttemptEventSink, AttemptOutcome};
use crate::process::{self, ProcessSpec};
use planwright_model::event::CallOutcome;
use planwright_model::{CallId, ServiceCheck, TaskService};

/// How long after a check that did not pass the next one is made.
const CHECK_EVERY: Duration = Duration::from_millis(200);
/// How long one check may take.
const CHECK_LIMIT: Duration = Duration::from_secs(10);

/// Runs a service to its end, and reports when it is ready.
pub(super) async fn run_service(
    service: &TaskService,
    spec: ProcessSpec,
    call: CallId,
    events: &AttemptEventSink,
    cancel: CancellationToken,
) -> AttemptOutcome {
    // The output of the service has a spool; that of its checks is not kept.
    let check =
        ProcessSpec { time_limit: CHECK_LIMIT, output_limit: 0, spool: None, ..spec.clone() };
    let running = process::run_command(spec, cancel.clone(), events.clone());
    tokio::pin!(running);
    tokio::select! {
        outcome = &mut running => return outcome,
        () = wait_until_ready(&service.ready, check, call, cancel) => {}
    }
    // The session is over if nobody listens any more.
    let _ = events.send(AttemptEvent::Ready).await;
    running.await
}

async fn wait_until_ready(
    ready: &ServiceCheck,
    spec: ProcessSpec,
    call: CallId,
    cancel: CancellationToken,
) {
    for round in 1_u64.. {
        let passed = match ready {
            ServiceCheck::Port(port) => {
                tokio::net::TcpStream::connect(("127.0.0.1", *port)).await.is_ok()
            }
            ServiceCheck::Command(command) => {
                // It runs while the service does, which has a name of its own where it is.
                let launcher = spec.launcher.as_ref();
                let launcher = launcher.map(|one| one.for_part(format!("ready {round}")));
                let spec = ProcessSpec { command: command.clone(), launcher, ..spec.clone() };
                let ended =
                    process::run_and_collect(spec, cancel.clone(), call.clone(), |_| {}).await;
                ended.outcome == (CallOutcome::Exited { code: 0 })
            }
        };
        if passed {
            return;
        }
        tokio::time::sleep(CHECK_EVERY).await;
    }
}
