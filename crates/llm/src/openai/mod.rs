//! Chat completions in the dialect of `OpenAI`, and in the dialects of the many servers that nearly speak it.

mod decode;
mod dialect;
mod request;

use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use dialect::Dialect;

use super::names::NameMap;
use super::transport::{Adapter, Broken, Connection, Decoder, Endpoint, Framing, HttpModel, Wire};
use super::{GenerateRequest, LanguageModel, ModelError, ModelInfo};

/// Talks to one model of an server that speaks it.
#[derive(Debug)]
struct OpenAi {
    model: String,
    /// What this server was found to accept.
    dialect: Mutex<Dialect>,
}

/// Opens a model whose server is presumed to speak this dialect until it refuses something.
pub(crate) fn open(
    info: ModelInfo,
    endpoint: Endpoint,
    dialect: Dialect,
) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let adapter = OpenAi { model: info.model.clone(), dialect: Mutex::new(dialect) };
    Ok(Arc::new(HttpModel { info, adapter, connection: Connection::open(endpoint)? }))
}

impl OpenAi {
    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Adapter for OpenAi {
    fn wire(&self, request: &GenerateRequest) -> Wire {
        let dialect = self.dialect();
        let streamed = dialect.streams(request);
        let body = request::body(&self.model, request, &dialect);
        Wire { path: "/chat/completions", body, framing: streamed.then_some(Framing::Events) }
    }

    fn decoder(&self, request: &GenerateRequest) -> Box<dyn Decoder> {
        Box::new(decode::Answer::new(&self.model, NameMap::of(request)))
    }

    fn adjust(&self, broken: &Broken, request: &GenerateRequest) -> bool {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        dialect.adjust(broken, request)
    }

    fn succeeded(&self) {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner).settle();
    }
}
