//! HTTP to model servers: time limits at every step, retries with jitter, one gate per provider, errors with a next
//! step.
//!
//! Redirects are never followed, so that a key cannot reach another host. Proxy variables are respected, except for
//! servers on this machine. Nothing here depends on a provider's format; the adapters do.

mod answer_draft;
mod body;
mod decode;
mod gate;
mod http_model;
mod provider_errors;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::Timestamp;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use serde_json::Value;

pub(crate) use answer_draft::{AnswerDraft, call_arguments, text_field};
pub(crate) use body::{StreamFraming, WireEvent};
pub(crate) use decode::{
    AnswerDecoder, DecodeFault, DecodeProgress, find_server_error, parse_json,
};
pub use gate::ProviderGate;
pub(crate) use http_model::HttpModel;
pub(crate) use provider_errors::{FailedAttempt, ProviderErrors};

pub use super::exchange_limits::{ExchangeLimits, RetryPolicy, parse_retry_after};

use super::api_keys::Secret;
use super::{DeltaSink, GenerateRequest, GeneratedAnswer, ModelError};
use planwright_model::Category;
use planwright_text::Redactor;

/// How often a silent connection is checked.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// How long a server may take to describe itself or its models.
const METADATA_LIMIT: Duration = Duration::from_secs(30);

/// A request in the format of one provider.
#[derive(Clone, Debug)]
pub(crate) struct WireRequest {
    /// Appended to the base URL.
    pub(crate) path: String,
    pub(crate) body: Value,
    /// How the answer is streamed; `None` means a single response.
    pub(crate) framing: Option<StreamFraming>,
}

/// What differs between wire formats.
pub(crate) trait ProviderAdapter: Send + Sync + fmt::Debug {
    fn build_request(&self, request: &GenerateRequest) -> WireRequest;

    fn new_decoder(&self, request: &GenerateRequest) -> Box<dyn AnswerDecoder>;

    /// Adjusts to a refusal. Returns `true` if the next attempt will differ.
    fn adjust_to_failure(&self, broken: &FailedAttempt, request: &GenerateRequest) -> bool;

    /// An attempt was answered; an adjustment that was being tried may stay.
    fn note_success(&self) {}
}

/// The address of a provider and how to connect to it.
#[derive(Clone, Debug)]
pub struct ProviderEndpoint {
    pub provider: String,
    pub base_url: String,
    pub headers: Vec<(String, Secret)>,
    pub limits: ExchangeLimits,
    pub retry: RetryPolicy,
    pub gate: Arc<ProviderGate>,
    pub redactor: Redactor,
}

/// A client for requests to one provider.
#[derive(Clone, Debug)]
pub(crate) struct ProviderConnection {
    client: Client,
    base: String,
    headers: HeaderMap,
    limits: ExchangeLimits,
    retry: RetryPolicy,
    gate: Arc<ProviderGate>,
    faults: ProviderErrors,
}

impl ProviderConnection {
    pub(crate) fn open(endpoint: ProviderEndpoint) -> Result<Self, ModelError> {
        let ProviderEndpoint { provider, base_url, headers, limits, retry, gate, redactor } =
            endpoint;
        let setting_error = |message: String, next: &str| {
            ModelError::new(&provider, "bad_setting", Category::Critical, message, next)
        };
        let url = Url::parse(&base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                let message = format!("the base_url of {provider} is not an http or https address");
                setting_error(message, "write it as https://host/path in the config")
            })?;
        let local = is_local(&url);
        if url.scheme() == "http" && !local && !headers.is_empty() {
            let message = format!("the base_url of {provider} would send its key unencrypted");
            return Err(setting_error(message, "use https, or a server on the local network"));
        }
        let mut client = Client::builder()
            .user_agent(concat!("planwright/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits.connect)
            // A model may be silent for minutes while it thinks; whether the other end is still there shows below that.
            .tcp_keepalive(KEEP_ALIVE)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .http2_keep_alive_timeout(KEEP_ALIVE);
        if is_loopback(&url) {
            // A new local connection is cheap, and small servers drop pooled ones after a failed stream.
            client = client.no_proxy().pool_max_idle_per_host(0);
        }
        let client = client.build().map_err(|error| {
            let message = format!("could not prepare the connection to {provider}: {error}");
            setting_error(message, "check that the system's certificates are installed")
        })?;
        let mut map = HeaderMap::new();
        for (name, value) in &headers {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| {
                setting_error(
                    format!("`{name}` is not the name of a header"),
                    "see [providers] in the config",
                )
            })?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| {
                let message =
                    format!("the value of the header {name} for {provider} cannot be sent");
                setting_error(message, "check the key for spaces and line ends")
            })?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let host = url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        Ok(Self {
            client,
            base: base_url.trim_end_matches('/').to_owned(),
            headers: map,
            limits,
            retry,
            gate,
            faults: ProviderErrors { provider, host, redactor },
        })
    }

    /// Fetches a small JSON document, for requests other than to the model itself.
    pub(crate) async fn fetch_json(
        &self,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ModelError> {
        let url = format!("{}{path}", self.base);
        let request = match body {
            Some(body) => self.client.post(url).json(body),
            None => self.client.get(url),
        };
        let limit = self.limits.call.min(METADATA_LIMIT);
        let asking = async {
            let response = self.send_for_model(request, "").await?;
            self.read_body(response).await
        };
        let text = match tokio::time::timeout(limit, asking).await {
            Ok(answered) => answered.map_err(|broken| broken.error)?,
            Err(_) => return Err(self.faults.metadata_timeout(limit)),
        };
        parse_json(&text).map_err(|fault| self.faults.decode_failure(&fault).error)
    }

    /// One attempt, within the time that one call may take.
    async fn attempt_request(
        &self,
        adapter: &dyn ProviderAdapter,
        request: &GenerateRequest,
        model: &str,
        deltas: DeltaSink<'_>,
    ) -> Result<GeneratedAnswer, FailedAttempt> {
        let exchange = self.exchange(adapter, request, model, deltas);
        match tokio::time::timeout(self.limits.call, exchange).await {
            Ok(answered) => answered,
            Err(_) => Err(self.faults.call_timeout(&self.limits)),
        }
    }

    /// Sends the request and reads the entire answer.
    async fn exchange(
        &self,
        adapter: &dyn ProviderAdapter,
        request: &GenerateRequest,
        model: &str,
        deltas: DeltaSink<'_>,
    ) -> Result<GeneratedAnswer, FailedAttempt> {
        let wire = adapter.build_request(request);
        let mut post = self.client.post(format!("{}{}", self.base, wire.path)).json(&wire.body);
        if wire.framing == Some(StreamFraming::Events) {
            post = post.header(ACCEPT, "text/event-stream");
        }
        let response = self.send_for_model(post, model).await?;
        let mut decoder = adapter.new_decoder(request);
        if let Some(framing) = self.detect_framing(&response, wire.framing)? {
            self.read_stream(response, framing, decoder.as_mut(), deltas).await?;
        } else {
            let text = self.read_body(response).await?;
            let decoded = if text.trim().is_empty() {
                Err(DecodeFault::Empty)
            } else {
                parse_json(&text).and_then(|answer| decoder.decode_complete(&answer))
            };
            decoded.map_err(|fault| self.faults.decode_failure(&fault))?;
        }
        decoder.finish().map_err(|fault| self.faults.decode_failure(&fault))
    }

    async fn send_for_model(
        &self,
        request: reqwest::RequestBuilder,
        model: &str,
    ) -> Result<Response, FailedAttempt> {
        let sending = request.headers(self.headers.clone()).send();
        let response = sending.await.map_err(|error| self.faults.unreachable_failure(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            let to = header_text(&response, &LOCATION);
            return Err(self.faults.redirect_failure(status.as_u16(), &to));
        }
        let wait = requested_wait(&response);
        // An error page is only read for its message; if reading fails, the status is enough.
        let body = self.read_body(response).await.unwrap_or_default();
        Err(self.faults.status_failure(status.as_u16(), &body, wait, model))
    }

    /// The actual framing of the response, which is not always the requested one.
    fn detect_framing(
        &self,
        response: &Response,
        requested: Option<StreamFraming>,
    ) -> Result<Option<StreamFraming>, FailedAttempt> {
        let kind = header_text(response, &CONTENT_TYPE);
        let media_type = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media_type.as_str() {
            "text/event-stream" => Ok(Some(StreamFraming::Events)),
            "application/x-ndjson" | "application/jsonl" | "application/json-lines" => {
                Ok(Some(StreamFraming::Lines))
            }
            "application/json" => Ok(None),
            "" | "text/plain" | "application/octet-stream" => Ok(requested),
            _ => Err(self.faults.content_type_failure(&kind)),
        }
    }

    async fn read_stream(
        &self,
        response: Response,
        framing: StreamFraming,
        decoder: &mut dyn AnswerDecoder,
        deltas: DeltaSink<'_>,
    ) -> Result<(), FailedAttempt> {
        let mut events = body::wire_events(response.bytes_stream(), framing, &self.limits);
        while let Some(event) = events.next().await {
            let event = event.map_err(|fault| self.faults.body_failure(&fault, &self.limits))?;
            let decoded = decoder.decode_event(&event, deltas);
            if decoded.map_err(|fault| self.faults.decode_failure(&fault))? == DecodeProgress::Done
            {
                break;
            }
        }
        Ok(())
    }

    async fn read_body(&self, response: Response) -> Result<String, FailedAttempt> {
        let text = body::read_whole_body(response.bytes_stream(), self.limits.answer_bytes).await;
        text.map_err(|fault| self.faults.body_failure(&fault, &self.limits))
    }
}

fn header_text(response: &Response, name: &HeaderName) -> String {
    let value = response.headers().get(name);
    value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

fn requested_wait(response: &Response) -> Option<std::time::Duration> {
    let read = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
    if let Some(millis) = read("retry-after-ms").and_then(|value| value.trim().parse::<u64>().ok())
    {
        return Some(std::time::Duration::from_millis(millis));
    }
    parse_retry_after(&read("retry-after")?, Timestamp::now())
}

/// Whether an address is this machine or the local network: models there cost nothing and may be reached over plain
/// HTTP.
pub fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_matches(['[', ']']);
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(std::net::IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => is_localhost(host) || host.rsplit('.').next() == Some("local"),
    }
}

/// The host is already in lower case after URL parsing.
fn is_localhost(host: &str) -> bool {
    host.rsplit('.').next() == Some("localhost")
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    is_localhost(host) || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str) -> ProviderEndpoint {
        ProviderEndpoint {
            provider: "acme".into(),
            base_url: base_url.into(),
            headers: vec![("authorization".into(), Secret::new("Bearer topsecretkey123"))],
            limits: ExchangeLimits::default(),
            retry: RetryPolicy::default(),
            gate: ProviderGate::new(1, planwright_model::breaker::BreakerSettings::default()),
            redactor: Redactor::default(),
        }
    }

    #[test]
    fn only_this_machine_and_the_local_network_are_local() {
        let local = |url: &str| is_local(&Url::parse(url).unwrap());
        for url in [
            "http://localhost:11434",
            "http://127.0.0.1:1",
            "http://[::1]:1",
            "http://10.0.0.7",
            "http://box.local",
        ] {
            assert!(local(url), "{url}");
        }
        for url in ["https://api.openai.com/v1", "http://8.8.8.8", "http://localhost.example.com"] {
            assert!(!local(url), "{url}");
        }
    }

    #[test]
    fn a_key_is_never_sent_unencrypted_to_a_remote_host() {
        assert_eq!(
            ProviderConnection::open(endpoint("http://example.com/v1")).unwrap_err().code,
            "bad_setting"
        );
        assert!(ProviderConnection::open(endpoint("http://127.0.0.1:1/v1")).is_ok());
        for invalid in ["", "file:///etc/passwd", "example.com/v1", "https://"] {
            assert_eq!(
                ProviderConnection::open(endpoint(invalid)).unwrap_err().code,
                "bad_setting",
                "{invalid}"
            );
        }
    }

    #[test]
    fn debug_output_shows_no_key() {
        let connection = ProviderConnection::open(endpoint("https://example.com/v1")).unwrap();
        assert!(!format!("{connection:?}").contains("topsecret"));
        assert!(!format!("{:?}", endpoint("https://example.com")).contains("topsecret"));
    }
}
