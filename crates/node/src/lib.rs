//! The native part of the package `epitome-context` for Node and Bun: [`epitome_binding::Dispatcher`] as a class of JavaScript.
//!
//! What a call means is in `epitome-binding`, what JavaScript sees of it in `packages/epitome-context`. Here text and bytes go
//! over, and a call that is waited for is carried out on one of Node's worker threads.

#![allow(missing_docs)] // napi-derive writes public items without documentation

use std::sync::Arc;

use epitome_binding::Dispatcher;
use napi::bindgen_prelude::{AsyncTask, Buffer, Either};
use napi::{Env, Result, Task};
use napi_derive::napi;

/// What a call works on: text, or bytes.
type Data = Option<Either<String, Buffer>>;

/// The engines, fitters and results of one JavaScript realm; they go when it goes.
#[napi]
#[derive(Debug, Default)]
pub struct NativeCalls {
    calls: Arc<Dispatcher>,
}

/// What a call gives back.
#[napi(object)]
#[allow(missing_debug_implementations)] // a buffer of Node has none
pub struct Reply {
    pub is_failure: bool,
    pub json: String,
    pub bytes: Option<Buffer>,
}

impl From<epitome_binding::Reply> for Reply {
    fn from(reply: epitome_binding::Reply) -> Self {
        Self { is_failure: reply.is_failure, json: reply.json, bytes: reply.bytes.map(Buffer::from) }
    }
}

#[napi]
impl NativeCalls {
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Carries out a call.
    #[napi]
    pub fn call(&self, name: String, words: String, data: Data) -> Reply {
        self.calls.call(&name, &words, bytes_of(data)).into()
    }

    /// Carries out a call on a worker thread.
    #[napi(ts_return_type = "Promise<Reply>")]
    pub fn call_async(&self, name: String, words: String, data: Data) -> AsyncTask<CallTask> {
        AsyncTask::new(CallTask { calls: Arc::clone(&self.calls), name, words, data: bytes_of(data) })
    }
}

/// A call that is carried out on a worker thread.
#[derive(Debug)]
pub struct CallTask {
    calls: Arc<Dispatcher>,
    name: String,
    words: String,
    data: Vec<u8>,
}

impl Task for CallTask {
    type Output = epitome_binding::Reply;
    type JsValue = Reply;

    fn compute(&mut self) -> Result<epitome_binding::Reply> {
        Ok(self.calls.call(&self.name, &self.words, std::mem::take(&mut self.data)))
    }

    fn resolve(&mut self, _: Env, reply: epitome_binding::Reply) -> Result<Reply> {
        Ok(reply.into())
    }
}

/// The bytes, copied: JavaScript may change its own while a worker thread reads them.
fn bytes_of(data: Data) -> Vec<u8> {
    match data {
        None => Vec::new(),
        Some(Either::A(text)) => text.into_bytes(),
        Some(Either::B(buffer)) => buffer.to_vec(),
    }
}
