//! The native part of the package `epitome-context` for Node and Bun: [`epitome_binding::Calls`] as a class of JavaScript.
//!
//! What a call means is in `epitome-binding`, what JavaScript sees of it in `packages/epitome-context`. Here text and bytes go
//! over, and a call that is waited for is carried out on one of Node's worker threads.

#![allow(missing_docs)] // napi-derive writes public items without documentation

use std::sync::Arc;

use epitome_binding::{Answer, Calls};
use napi::bindgen_prelude::{AsyncTask, Buffer, Either};
use napi::{Env, Result, Task};
use napi_derive::napi;

/// What a call works on: text, or bytes.
type Data = Option<Either<String, Buffer>>;

/// The engines, fitters and results of one JavaScript realm; they go when it goes.
#[napi]
#[derive(Debug, Default)]
pub struct NativeCalls {
    calls: Arc<Calls>,
}

/// What a call gives back.
#[napi(object)]
#[allow(missing_debug_implementations)] // a buffer of Node has none
pub struct Reply {
    pub is_failure: bool,
    pub json: String,
    pub bytes: Option<Buffer>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { is_failure: answer.is_failure, json: answer.json, bytes: answer.bytes.map(Buffer::from) }
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
        self.calls.answer(&name, &words, bytes_of(data)).into()
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
    calls: Arc<Calls>,
    name: String,
    words: String,
    data: Vec<u8>,
}

impl Task for CallTask {
    type Output = Answer;
    type JsValue = Reply;

    fn compute(&mut self) -> Result<Answer> {
        Ok(self.calls.answer(&self.name, &self.words, std::mem::take(&mut self.data)))
    }

    fn resolve(&mut self, _: Env, answer: Answer) -> Result<Reply> {
        Ok(answer.into())
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
